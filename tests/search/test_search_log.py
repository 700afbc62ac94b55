"""The search log: one complete line per search."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from command import rootle
from commit_repository import commit_all
from sample import MakeApp, many_files, write_tree

from rootle.storage.paths import search_log_path
from rootle.types import SearchQuery

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
    assert found["usedEmbeddingModel"] == "static-code-v2"
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


def test_a_later_page_is_logged_with_all_its_candidates(tmp_path: Path, make_app: MakeApp) -> None:
    app = make_app(write_tree(tmp_path / "repo", many_files(100, functions=3)), enable_cache=False)
    query = SearchQuery("ledger", limit=50)
    cursor = app.search(query).next_cursor
    app.search(replace(query, cursor=cursor))
    first, second = read_lines(search_log_path())
    for key in ("numDenseHits", "numSparseHits"):
        assert second[key] == first[key] > 0
    assert second["numMerged"] > first["numMerged"] > 0
    assert second["usedRerankerModel"] == "learned"


@pytest.mark.slow
def test_the_log_names_the_embedding_model_in_use(repository: Path, tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text('{"searchAgent": {"embeddingModelID": "openai-embeddings-001"}}')
    rootle("search", QUESTION, "--root", repository, "--config", config)
    (line,) = read_lines(search_log_path())
    assert line["usedEmbeddingModel"] == "static-code-v2"


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


@pytest.mark.slow
def test_a_search_of_commits_is_one_line(repository: Path) -> None:
    commit_all(repository, "Explain the teardown", day=1)
    rootle("search", "--in", "history", "why teardown", "--root", repository)
    rootle("search", "why was the teardown explained", "--root", repository)
    rootle("search", "in:history path:nowhere any", "--root", repository)
    commits, both, empty = read_lines(search_log_path())
    assert commits["query"] == "in:history why teardown"
    assert min(commits["numDenseHits"], commits["numSparseHits"], commits["numMerged"]) > 0
    assert both["query"] == "why was the teardown explained"
    assert (commits["events"], both["events"], empty["events"]) == ([], [], ["noRecall"])


@pytest.mark.slow
def test_searches_that_the_user_did_not_make_are_not_logged(repository: Path) -> None:
    rootle("index", repository)
    assert rootle("why", "src/net/retry.py#retry_backoff", "--root", repository).code == 0
    assert (
        rootle("show", "src/net/retry.py#retry_backoff", "--links", "--root", repository).code == 0
    )
    assert not search_log_path().exists()
    assert rootle("search", "retry_backoff", "--links", "--root", repository).code == 0
    assert [line["query"] for line in read_lines(search_log_path())] == ["retry_backoff"]


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]
