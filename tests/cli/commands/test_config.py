"""The configuration file of the specification, `rootle config show` and `rootle config init`."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest
from command import rootle
from sample import write
from specification_sample import SAMPLE

from rootle.config.fields import SECTION, Config, make_key
from rootle.config.precedence import load_config
from rootle.config.template import template

pytestmark = pytest.mark.slow


@pytest.fixture
def sample(home: Path) -> Path:
    return write(home, ".nootropic/config.json", SAMPLE)


def test_the_sample_file_of_the_specification_needs_no_key_or_server(
    sample: Path, repository: Path
) -> None:
    outcome = rootle("search", "retry backoff", "--json", cwd=repository)
    assert outcome.code == 0
    assert outcome.paths[0] == "src/net/retry.py"
    assert outcome.data["degraded"] == ["embedding"]
    assert 'embeddingModelID is "openai-embeddings-001"' in outcome.err
    assert 'using "static-code-v2" instead' in outcome.err


def test_seven_defaults_differ_from_the_specification(sample: Path) -> None:
    """The reasons are in docs/decisions/0009-defaults-that-differ-from-the-specification.md."""
    specified, _ = load_config(sample)
    different = {
        make_key(field.name)
        for field in fields(Config)
        if getattr(specified, field.name) != getattr(Config(), field.name)
    }
    assert different == {
        *("denseTopK", "sparseTopK", "maxMergedCandidates", "chunkOverlapTokens"),
        *("embeddingModelID", "sparseEndpoint", "noResultsSuggestion"),
    }


@pytest.mark.usefixtures("sample")
def test_status_names_the_keys_of_the_sample_that_are_not_used(repository: Path) -> None:
    assert rootle("index", repository).code == 0
    data = rootle("status", repository, "--json").data
    reason = "sparseEndpoint is not used: sparseBackend names no server"
    assert data["unusedSettings"] == [
        reason,
        "rerankerModelID is not used: rerankerProvider names no server",
        "rerankerBatchSize is not used: rerankerProvider names no server",
        "rerankerWeights is not used: useLearnedReranker is true",
    ]
    assert data["model"] == "static-code-v2"
    assert f"unused      {reason}" in rootle("status", repository).out


def test_show_prints_each_value_with_its_origin(sample: Path, repository: Path) -> None:
    write(repository, ".rootle.json", '{"searchAgent": {\n"maxLimit": 40}}')
    rows = rootle("config", "show", repository, "--set", "denseTopK=30").out.splitlines()
    shown = {row.split()[0]: row for row in rows if row}
    assert set(shown) >= {make_key(field.name) for field in fields(Config)}
    assert shown["denseTopK"].split(maxsplit=2)[1:] == ["30", "command line"]
    assert shown["sparseTopK"].split(maxsplit=2)[1:] == ["10", f"{sample}, line 14"]
    assert shown["maxLimit"].endswith(f"{repository / '.rootle.json'}, line 2")
    assert shown["staleCheckSeconds"].split()[1:] == ["0.0", "default"]
    assert f"  {sample}" in rows


def test_show_prints_the_same_as_json(sample: Path, repository: Path) -> None:
    data = rootle("config", "show", repository, "--json").data
    assert data["settings"]["sparseTopK"] == {"value": 10, "source": str(sample), "line": 14}
    assert data["settings"]["maxFileBytes"] == {
        "value": 5_000_000,
        "source": "default",
        "line": None,
    }
    assert data["settings"]["rerankerWeights"]["value"]["recencyBoost"] == 0.1
    assert [file["exists"] for file in data["files"]] == [False, False, True]


def test_show_hides_keys_and_passwords(home: Path, repository: Path) -> None:
    config = {
        "embeddingApiKey": "sk-1234",
        "embeddingEndpoint": "https://me:pass-word@host.example/v1",
    }
    path = write(home, "c.json", json.dumps({SECTION: config}))
    for outcome in (
        rootle("config", "show", repository, "--config", path),
        rootle("config", "show", repository, "--config", path, "--json"),
    ):
        assert "sk-1234" not in outcome.out + outcome.err
        assert "pass-word" not in outcome.out + outcome.err
        assert '"(set)"' in outcome.out
        assert "https://(set)@host.example/v1" in outcome.out


def test_init_writes_a_file_that_changes_nothing_until_it_is_edited(
    home: Path, repository: Path
) -> None:
    outcome = rootle("config", "init")
    path = home / "config/rootle/config.json"
    assert (outcome.code, outcome.out) == (0, f"wrote {path}\n")
    assert path.stat().st_mode & 0o777 == 0o600
    assert load_config(path) == (Config(), ())
    text = path.read_text()
    for field in fields(Config):
        assert f'// "{make_key(field.name)}": ' in text
    path.write_text(text.replace('// "maxLimit": 50,', '"maxLimit": 60,'))
    assert load_config(path)[0] == Config(max_limit=60)


def test_init_overwrites_an_existing_file_only_with_force(home: Path) -> None:
    path = write(home, "mine.json", "mine")
    refused = rootle("config", "init", path)
    assert refused.code == 2
    assert "mine.json already exists; pass --force to overwrite it" in refused.err
    assert path.read_text() == "mine"
    assert rootle("config", "init", path, "--force").code == 0
    assert path.read_text() == template()
    assert rootle("config", "init", home).code == 2
    for options in ((), ("--force",)):
        folder = rootle("config", "init", ".", *options, cwd=home)
        assert (folder.code, folder.err) == (2, "rootle: cannot write .: Is a directory\n")


def test_every_line_of_the_new_file_can_be_uncommented(tmp_path: Path) -> None:
    text = template().replace('// "', '"')
    config, _ = load_config(write(tmp_path, "config.json", text))
    assert config == Config()


def test_a_new_project_file_has_only_keys_that_a_project_may_set(repository: Path) -> None:
    assert rootle("config", "init", ".rootle.json", cwd=repository).code == 0
    path = repository / ".rootle.json"
    path.write_text(path.read_text().replace('// "', '"'))
    outcome = rootle("search", "retry", "--json", cwd=repository)
    assert (outcome.code, outcome.err) == (0, "")
    assert '"defaultLimit"' in path.read_text()


def test_set_changes_a_value_for_one_command(repository: Path) -> None:
    answers = rootle("search", "retry", "--set", "defaultLimit=1", "--json", cwd=repository)
    assert len(answers.paths) == 1
    wrong = rootle("search", "retry", "--set", "defaultLimit=0", cwd=repository)
    assert wrong.code == 2
    assert "command line: searchAgent.defaultLimit is 0, expected 1 to 1000" in wrong.err


def test_a_cloned_repository_cannot_change_endpoints(repository: Path) -> None:
    write(
        repository, ".rootle.json", '{"searchAgent": {"embeddingEndpoint": "http://evil.example"}}'
    )
    outcome = rootle("search", "retry backoff", "--json", cwd=repository)
    assert outcome.data["degraded"] == []
    assert ".rootle.json, line 1: searchAgent.embeddingEndpoint is ignored" in outcome.err
