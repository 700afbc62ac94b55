"""What a settings file may say, and what a user reads where it says something else."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample import write

from rootle.config.fields import Config
from rootle.config.loading import load_config
from rootle.config.unused import unused_settings
from rootle.config.weights import RerankerWeights, TrustRule
from rootle.errors import ConfigError


def _load(tmp_path: Path, text: str | bytes) -> tuple[Config, tuple[str, ...]]:
    return load_config(write(tmp_path, "config.json", text))


def _section(*lines: str) -> str:
    """A file whose settings begin in line 3."""
    return "\n".join(["{", '"searchAgent": {', *lines, "}", "}"])


def test_what_is_not_given_has_its_default(tmp_path: Path) -> None:
    assert _load(tmp_path, "{}") == (Config(), ())
    assert _load(tmp_path, '{"searchAgent": {}, "other": 1}') == (Config(), ())


def test_a_whole_number_is_good_enough_for_a_number(tmp_path: Path) -> None:
    config, _ = _load(tmp_path, _section('"staleCheckSeconds": 3'))
    assert config.stale_check_seconds == 3.0


def test_weights_that_are_not_given_keep_their_default(tmp_path: Path) -> None:
    config, _ = _load(tmp_path, _section('"rerankerWeights": {"denseScore": 1}'))
    assert config.reranker_weights == RerankerWeights(dense_score=1.0)


def test_a_list_of_rules_is_read_with_the_defaults_of_a_rule(tmp_path: Path) -> None:
    rules = '"trust": [{"author": "Ada"}, {"path": "vendor/**", "weight": 0.5}]'
    config, _ = _load(tmp_path, _section(rules))
    assert config.trust == (TrustRule("Ada", "", 1.5), TrustRule("", "vendor/**", 0.5))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            '"defaultLimmit": 5',
            'unknown key searchAgent.defaultLimmit; did you mean "defaultLimit"',
        ),
        ('"densetopk": 5', 'did you mean "denseTopK"?'),
        ('"cacheTtlSeconds": 5', 'did you mean "cacheTTLSeconds"?'),
        ('"xyzzy": 5', "unknown key searchAgent.xyzzy; `rootle config show` lists"),
        ('"defaultLimit": "5"', 'searchAgent.defaultLimit is "5", expected a whole number'),
        ('"defaultLimit": true', "is true, expected a whole number"),
        ('"defaultLimit": 2.5', "is 2.5, expected a whole number"),
        ('"defaultLimit": null', "is null, expected a whole number"),
        ('"defaultLimit": [1]', "is [1], expected a whole number"),
        ('"embeddingModelID": 3', "expected a text"),
        ('"staleCheckSeconds": "x"', "expected a number"),
        ('"staleCheckSeconds": NaN', "expected 0.0 to 86400.0"),
        (f'"staleCheckSeconds": 1{"0" * 400}', "expected 0.0 to 86400.0"),
        (f'"defaultLimit": {"1" * 9_999}', "the number is too long"),
        ('"trust": {"author": "a"}', "expected a list of objects"),
        ('"trust": ["a"]', 'trust[0] is "a", expected an object with "author", "path", "weight"'),
        ('"trust": [{"auther": "a"}]', 'key searchAgent.trust[0].auther; did you mean "author"'),
        ('"trust": [{"path": "a", "weight": -1}]', "trust[0].weight is -1, expected 0.0 to"),
        ('"trust": [{"path": "a"}, {}]', 'trust[1] names neither an "author" nor a "path"'),
        ('"defaultLimit": 0', "is 0, expected 1 to 1000"),
        ('"maxChunkSizeTokens": 1', "expected 64 to 8192"),
        ('"enableCache": 1', "is 1, expected true or false"),
        ('"enableCache": "yes"', 'is "yes", expected true or false'),
        ('"rerankerWeights": 3', 'expected an object with "denseScore", "sparseScore"'),
        (
            '"rerankerWeights": {"dense": 1}',
            'searchAgent.rerankerWeights.dense; did you mean "d',
        ),
        ('"rerankerWeights": {"denseScore": "1"}', "rerankerWeights.denseScore is"),
        ('"sparseEndpoint": "localhost:8080"', 'is "localhost:8080", expected a URL'),
        ('"defaultLimit": 60', "defaultLimit, 60 ("),
        ('"maxLimit": 5', "is more than maxLimit, 5 ("),
        ('"chunkOverlapTokens": 600', "is more than maxChunkSizeTokens, 512 (default)"),
        ('"maxLimit" 5', 'expected ":" after the key "maxLimit"'),
        ('"maxLimit": ', "Expecting value"),
        ('"maxLimit": 5 "defaultLimit": 4', 'expected "," or "}"'),
        ("maxLimit: 5", "expected a key in double quotes"),
    ],
)
def test_a_wrong_setting_is_refused_with_file_line_and_cure(
    line: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, "// one line more\n" + _section(line))
    assert message in str(caught.value)
    assert "config.json, line 4" in str(caught.value).replace("line 5", "line 4")


def test_a_key_that_stands_twice_is_refused_with_both_lines(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"json, line 5: .*maxLimit was set in line 3 already"):
        _load(tmp_path, _section('"maxLimit": 50,', '"defaultLimit": 4,', '"maxLimit": 60'))
    with pytest.raises(ConfigError, match=r'line 2: "searchAgent" stands in line 1 already'):
        _load(tmp_path, '{"searchAgent": {},\n"searchAgent": {}}')


def test_what_other_programs_keep_in_the_file_is_left_alone(tmp_path: Path) -> None:
    others = '{"coder": {"maxLimit": "x", "maxLimit": 1}, "coder": [], "searchAgent": {}}'
    assert _load(tmp_path, others) == (Config(), ())


def test_a_section_that_is_ours_by_its_looks_is_remarked(tmp_path: Path) -> None:
    _, remarks = _load(tmp_path, '{\n"search_agent": {"maxLimit": 5}}')
    assert 'line 2: "search_agent" is not used; did you mean "searchAgent"?' in remarks[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"searchAgent": 5}', 'line 1: "searchAgent" is no object'),
        ("[]", 'expected an object with a "searchAgent" object'),
        ('{\n"a": }', "line 2"),
        ("", "line 1"),
        ('{"a": 1} 2', "expected the end of the file"),
        ("[" * 100_000, "brackets stand too deep"),
        ("/* never closed", "line 1"),
        (f'["{"x" * 1_000_001}"]', "too long for settings"),
        (b"\xff\xfe\x00", "cannot read the configuration"),
    ],
)
def test_a_file_that_is_no_settings_file_is_refused(
    text: str | bytes, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, text)
    assert message in str(caught.value)
    assert "config.json" in str(caught.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.json"):
        load_config(tmp_path / "nowhere.json")


def test_a_key_is_in_no_error_and_in_no_printed_configuration(tmp_path: Path) -> None:
    config, remarks = _load(tmp_path, _section('"embeddingApiKey": "sk-1234"'))
    assert config.embedding_api_key == "sk-1234"
    assert "sk-1234" not in f"{config!r} {config} {remarks}"
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, _section('"embeddingApiKey": ["sk-1234"]'))
    assert "sk-1234" not in str(caught.value)


def test_an_endpoint_alone_switches_nothing() -> None:
    assert unused_settings(Config()) == ()
    (said,) = unused_settings(Config(sparse_endpoint="http://localhost:8080"))
    assert said == "sparseEndpoint: sparseBackend names nobody who would be asked there"
    assert unused_settings(Config(dense_endpoint="http://x", dense_backend="chroma")) == ()
    both = Config(embedding_endpoint="http://x", reranker_endpoint="http://x")
    assert [said.split(":")[0] for said in unused_settings(both)] == [
        "rerankerEndpoint",
        "embeddingEndpoint",
    ]
