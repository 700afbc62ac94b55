"""Settings from a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample import write

from rootle.config import Config
from rootle.errors import ConfigError
from rootle.settings.sources import load_config


def _load(tmp_path: Path, text: str | bytes) -> tuple[Config, tuple[str, ...]]:
    return load_config(write(tmp_path, "config.json", text))


def test_comments_and_trailing_commas_are_no_trouble(tmp_path: Path) -> None:
    text = """
    // what people write
    {
        "searchAgent": {
            "defaultLimit": 5, // five
            /* "maxLimit": 7, */
            "embeddingModelID": "a//b/*c*/", /* not a comment
            inside the text */
        }, // the last
    }
    """
    config, remarks = _load(tmp_path, text)
    assert (config.default_limit, config.max_limit) == (5, 50)
    assert config.embedding_model_id == "a//b/*c*/"
    assert remarks == ()


def test_what_is_not_given_has_its_default(tmp_path: Path) -> None:
    assert _load(tmp_path, "{}") == (Config(), ())
    assert _load(tmp_path, '{"searchAgent": {}, "other": 1}') == (Config(), ())


def test_a_key_of_a_later_release_is_remarked(tmp_path: Path) -> None:
    config, remarks = _load(tmp_path, '{"searchAgent": {"useLearnedReranker": false}}')
    assert config.use_learned_reranker is False
    assert "useLearnedReranker is not used by this version" in remarks[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"searchAgent": {"defaultLimmit": 5}}', 'did you mean "defaultLimit"?'),
        ('{"searchAgent": {"xyzzy": 5}}', "unknown key searchAgent.xyzzy"),
        ('{"searchAgent": {"defaultLimit": "5"}}', "expected a whole number"),
        ('{"searchAgent": {"defaultLimit": true}}', "expected a whole number"),
        ('{"searchAgent": {"defaultLimit": 2.5}}', "expected a whole number"),
        ('{"searchAgent": {"embeddingModelID": 3}}', "expected a text"),
        ('{"searchAgent": {"refreshSeconds": "x"}}', "expected a number"),
        ('{"searchAgent": {"refreshSeconds": NaN}}', "expected 0.0 to 86400.0"),
        ('{"searchAgent": {"defaultLimit": 0}}', "expected 1 to 1000"),
        ('{"searchAgent": {"maxChunkSizeTokens": 1}}', "expected 64 to 8192"),
        ('{"searchAgent": 5}', 'an object as the "searchAgent"'),
        ("[]", '"searchAgent" object'),
        ('{\n"a": }', "line 2"),
        ("", "line 1"),
        (b"\xff\xfe\x00", "cannot read the configuration"),
    ],
)
def test_a_bad_file_is_refused_with_its_name_and_the_cure(
    text: str | bytes, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, text)
    assert message in str(caught.value)
    assert "config.json" in str(caught.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.json"):
        load_config(tmp_path / "nowhere.json")


def test_a_whole_number_is_good_enough_for_a_number(tmp_path: Path) -> None:
    config, _ = _load(tmp_path, '{"searchAgent": {"refreshSeconds": 3}}')
    assert config.refresh_seconds == 3.0
