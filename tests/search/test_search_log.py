"""The search log: one complete line per search."""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from command import rootle

from rootle.storage.paths import search_log_path

QUESTION = "how long to wait before the next attempt"

# The fields of the specification, and the events.
FIELDS = (
    "query numDenseHits numSparseHits numMerged rerankLatencyMs totalLatencyMs usedEmbeddingModel "
    "usedRerankerModel timestamp events"
).split()


@pytest.mark.slow
def test_each_search_is_one_line(repository: Path) -> None:
    rootle("search", QUESTION, "--root", repository)
    rootle("search", "any", "--path", "nowhere", "--root", repository)
    rootle(
        "search", "any", "--cursor", "bad", "--root", repository
    )  # an invalid query is not logged
    found, empty = read_lines(search_log_path())
    assert list(found) == FIELDS
    assert found["query"] == QUESTION
    assert min(found["numDenseHits"], found["numSparseHits"], found["numMerged"]) > 0
    assert 0 < found["rerankLatencyMs"] < found["totalLatencyMs"]
    assert found["usedEmbeddingModel"] == "static-code-v1"
    assert datetime.fromisoformat(found["timestamp"]).utcoffset() is not None
    assert (found["events"], empty["events"]) == ([], ["noRecall"])


@pytest.mark.slow
def test_a_cached_answer_is_logged(repository: Path) -> None:
    question = json.dumps({"textQuery": QUESTION}) + "\n"
    rootle("search", "--batch", "--root", repository, stdin=2 * question)
    found, again = read_lines(search_log_path())
    assert (found["usedRerankerModel"], again["usedRerankerModel"]) == ("learned", "")
    assert again["numMerged"] == 0
    assert 0 < again["totalLatencyMs"] < found["totalLatencyMs"]


@pytest.mark.slow
def test_the_log_names_the_embedding_model_in_use(repository: Path, tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text('{"searchAgent": {"embeddingModelID": "openai-embeddings-001"}}')
    rootle("search", QUESTION, "--root", repository, "--config", config)
    (line,) = read_lines(search_log_path())
    assert line["usedEmbeddingModel"] == "static-code-v1"


@pytest.mark.slow
@pytest.mark.parametrize(("key", "queries"), [("searchLog", []), ("searchLogQueryText", [""])])
def test_logging_and_question_texts_can_be_switched_off(
    key: str, queries: list[str], repository: Path, tmp_path: Path
) -> None:
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"searchAgent": {key: False}}))
    assert rootle("search", QUESTION, "--root", repository, "--config", config).code == 0
    logged = read_lines(search_log_path()) if search_log_path().exists() else []
    assert [line["query"] for line in logged] == queries
    folder = search_log_path().parent
    assert all(QUESTION not in file.read_text() for file in folder.glob("*"))


@pytest.mark.slow
def test_an_unwritable_log_causes_one_warning_and_no_failure(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", os.fspath(tmp_path / "file"))
    question = json.dumps({"textQuery": QUESTION}) + "\n"
    outcome = rootle("search", "--batch", "--root", repository, stdin=3 * question)
    assert outcome.code == 0
    assert len(outcome.out.splitlines()) == 3
    assert outcome.err.count("cannot write the search log") == 1
    assert "searchLog" in outcome.err


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]
