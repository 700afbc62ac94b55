"""Validation of configuration files, and the messages for invalid ones."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sample import write

from rootle import open_app
from rootle.config.fields import Config
from rootle.config.precedence import load_config
from rootle.config.unused import unused_settings
from rootle.config.weights import RerankerWeights, TrustRule
from rootle.errors import ConfigError


def _load(tmp_path: Path, text: str | bytes) -> tuple[Config, tuple[str, ...]]:
    return load_config(write(tmp_path, "config.json", text))


def _section(*lines: str) -> str:
    """Return the text of a configuration file whose keys begin on line 3."""
    return "\n".join(["{", '"searchAgent": {', *lines, "}", "}"])


def test_missing_keys_have_their_defaults(tmp_path: Path) -> None:
    assert _load(tmp_path, "{}") == (Config(), ())
    assert _load(tmp_path, '{"searchAgent": {}, "other": 1}') == (Config(), ())


def test_a_whole_number_is_accepted_for_a_float(tmp_path: Path) -> None:
    config, _ = _load(tmp_path, _section('"staleCheckSeconds": 3'))
    assert config.stale_check_seconds == 3.0


def test_missing_weights_keep_their_defaults(tmp_path: Path) -> None:
    config, _ = _load(tmp_path, _section('"rerankerWeights": {"denseScore": 1}'))
    assert config.reranker_weights == RerankerWeights(dense_score=1.0)


def test_trust_rules_are_read_with_the_defaults_of_a_rule(tmp_path: Path) -> None:
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
        ('"embeddingModelID": 3', "expected a string"),
        ('"staleCheckSeconds": "x"', "expected a number"),
        ('"staleCheckSeconds": NaN', "expected 0.0 to 86400.0"),
        (f'"staleCheckSeconds": 1{"0" * 400}', "expected 0.0 to 86400.0"),
        (f'"defaultLimit": {"1" * 9_999}', "the number is too long"),
        ('"trust": {"author": "a"}', "expected a list of objects"),
        ('"trust": ["a"]', 'trust[0] is "a", expected an object with "author", "path", "weight"'),
        ('"trust": [{"auther": "a"}]', 'key searchAgent.trust[0].auther; did you mean "author"'),
        ('"trust": [{"path": "a", "weight": -1}]', "trust[0].weight is -1, expected 0.0 to"),
        ('"trust": [{"path": "a"}, {}]', 'trust[1] needs an "author", a "path" or both'),
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
        ('"maxLimit": 5', "is greater than maxLimit, 5 ("),
        ('"chunkOverlapTokens": 600', "is greater than maxChunkSizeTokens, 512 (default)"),
        ('"maxLimit" 5', 'expected ":" after the key "maxLimit"'),
        ('"maxLimit": ', "Expecting value"),
        ('"maxLimit": 5 "defaultLimit": 4', 'expected "," or "}"'),
        ("maxLimit: 5", "expected a key in double quotes"),
    ],
)
def test_an_invalid_key_is_refused_with_file_line_and_remedy(
    line: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, "// another line\n" + _section(line))
    assert message in str(caught.value)
    assert "config.json, line 4" in str(caught.value).replace("line 5", "line 4")


@pytest.mark.parametrize(
    ("old", "new"),
    [("memoryBesideCode", "includeMemories"), ("refreshSeconds", "staleCheckSeconds")],
)
def test_a_renamed_key_is_refused_with_its_new_name(old: str, new: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, _section(f'"{old}": true'))
    assert "line 3" in str(caught.value)
    assert f"searchAgent.{old} was renamed; use searchAgent.{new}" in str(caught.value)


def test_a_duplicate_key_is_refused_with_both_lines(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"json, line 5: .*maxLimit is already set in line 3"):
        _load(tmp_path, _section('"maxLimit": 50,', '"defaultLimit": 4,', '"maxLimit": 60'))
    with pytest.raises(ConfigError, match=r'line 2: "searchAgent" is already in line 1'):
        _load(tmp_path, '{"searchAgent": {},\n"searchAgent": {}}')


def test_sections_of_other_programs_are_ignored(tmp_path: Path) -> None:
    others = '{"coder": {"maxLimit": "x", "maxLimit": 1}, "coder": [], "searchAgent": {}}'
    assert _load(tmp_path, others) == (Config(), ())


def test_a_misspelled_section_name_gives_a_warning(tmp_path: Path) -> None:
    _, warnings = _load(tmp_path, '{\n"search_agent": {"maxLimit": 5}}')
    assert 'line 2: "search_agent" is not used; did you mean "searchAgent"?' in warnings[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"searchAgent": 5}', 'line 1: "searchAgent" is not an object'),
        ("[]", 'expected an object with a member "searchAgent"'),
        ('{\n"a": }', "line 2"),
        ("", "line 1"),
        ('{"a": 1} 2', "expected the end of the file"),
        ("[" * 100_000, "brackets are nested too deeply"),
        ("/* never closed", "line 1"),
        (f'["{"x" * 1_000_001}"]', "too long for a configuration file"),
        (b"\xff\xfe\x00", "cannot read the configuration"),
    ],
)
def test_an_invalid_configuration_file_is_refused(
    text: str | bytes, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, text)
    assert message in str(caught.value)
    assert "config.json" in str(caught.value)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.json"):
        load_config(tmp_path / "nowhere.json")


def test_an_api_key_appears_in_no_error_and_no_printed_configuration(tmp_path: Path) -> None:
    config, warnings = _load(tmp_path, _section('"embeddingApiKey": "sk-1234"'))
    assert config.embedding_api_key == "sk-1234"
    assert "sk-1234" not in f"{config!r} {config} {warnings}"
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, _section('"embeddingApiKey": ["sk-1234"]'))
    assert "sk-1234" not in str(caught.value)


def test_an_endpoint_without_its_backend_is_reported_as_unused() -> None:
    assert unused_settings(Config()) == ()
    (message,) = unused_settings(Config(sparse_endpoint="http://localhost:8080"))
    assert message == "sparseEndpoint is not used: sparseBackend names no server"
    assert unused_settings(Config(dense_endpoint="http://x", dense_backend="chroma")) == ()
    both = Config(embedding_endpoint="http://x", reranker_endpoint="http://x")
    assert [message.split()[0] for message in unused_settings(both)] == [
        "rerankerEndpoint",
        "embeddingEndpoint",
    ]
    folder = Config(embedding_model_id="/model", embedding_endpoint="http://x")
    assert unused_settings(folder) == (
        "embeddingEndpoint is not used: embeddingModelID is a folder",
    )
    assert unused_settings(replace(folder, embedding_fallback="a-model-on-a-server")) == ()
    (message,) = unused_settings(Config(memory_store="", memory_timeout_ms=5_000))
    assert message == "memoryTimeoutMs is not used: memoryStore is empty"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"secret_exceptions": "tests/*.pem"}, "secret_exceptions is 'tests/"),
        ({"default_limit": "5"}, "default_limit is '5', expected a whole number"),
        ({"default_limit": True}, "default_limit is True, expected a whole number"),
        ({"search_log": 1}, "search_log is 1, expected true or false"),
        ({"ocr": "bogus"}, "ocr is 'bogus', expected one of \"off\""),
        ({"web_engines": ["google"]}, "web_engines is ('google',), expected some of duckduckgo"),
        ({"embedding_endpoint": "http://[::1"}, "expected a URL"),
        ({"max_limit": 2_000}, "max_limit is 2000, expected 1 to 1000"),
        ({"dense_top_k": 0}, "dense_top_k is 0, expected 1 to"),
        ({"stale_check_seconds": -1}, "stale_check_seconds is -1, expected 0"),
        ({"stale_check_seconds": float("nan")}, "stale_check_seconds is nan, expected 0"),
        (
            {"reranker_weights": RerankerWeights(dense_score=-1.0)},
            "reranker_weights.dense_score is -1.0, expected 0.0 to 1000.0",
        ),
        (
            {"trust": [TrustRule(path="src"), TrustRule(path="a", weight=2e9)]},
            "trust[1].weight is 2000000000.0, expected 0.0 to 1000.0",
        ),
        (
            {"chunk_overlap_tokens": 200, "max_chunk_size_tokens": 100},
            "chunk_overlap_tokens, 200, is greater than max_chunk_size_tokens, 100; change one",
        ),
    ],
)
def test_a_program_cannot_pass_values_that_a_file_may_not_have(
    settings: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        open_app(tmp_path, config=Config(**settings))


def test_a_program_may_pass_lists_for_tuples(tmp_path: Path) -> None:
    settings: Any = {"secret_exceptions": ["tests/*"]}
    app = open_app(tmp_path, config=Config(**settings))
    assert app.config.secret_exceptions == ("tests/*",)


def test_an_invalid_address_is_reported_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"line \d+: searchAgent.rerankerEndpoint is .*URL"):
        _load(tmp_path, _section('"rerankerEndpoint": "http://[::1"'))
