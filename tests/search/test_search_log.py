"""The search log: one complete line per search, limited in size and private."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest
from command import rootle, start_rootle
from sample import MakeApp, many_files, write_tree

from rootle.search.search_log import SearchLog, SearchLogFile
from rootle.storage.paths import search_log_path
from rootle.types import SearchQuery

QUESTION = "how long to wait before the next attempt"
LINE = SearchLog("question", 3, 4, 5, 1.5, 6.5, "static", "heuristic", "2026-01-01T00:00:00Z")

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


def test_only_the_owner_can_read_the_log(tmp_path: Path) -> None:
    path = tmp_path / "state" / "rootle" / "log.jsonl"
    SearchLogFile(path, with_query_text=True).write(LINE)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(path.parent).st_mode) == 0o700


def test_a_folder_that_another_process_creates_meanwhile_is_used(tmp_path: Path) -> None:
    path = tmp_path / "rootle" / "log.jsonl"

    class Delayed(SearchLogFile):
        def _open(self) -> int:
            try:
                return super()._open()
            finally:
                path.parent.mkdir(exist_ok=True)

    Delayed(path, with_query_text=True).write(LINE)
    assert [line["query"] for line in read_lines(path)] == ["question"]


def test_the_log_is_limited_and_keeps_the_newest_lines(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    log = SearchLogFile(path, with_query_text=True, max_bytes=10_000)
    for number in range(1_000):
        log.write(SearchLog(f"q{number}", 3, 4, 5, 1.5, 6.5, "static", "heuristic", "2026"))
    files = sorted(tmp_path.iterdir())
    assert sum(file.stat().st_size for file in files) < 3 * 10_000
    kept = [line["query"] for file in files for line in read_lines(file)]
    assert kept == [f"q{number}" for number in range(1_000 - len(kept), 1_000)]
    assert len(kept) * 180 > 10_000


@pytest.mark.slow
def test_concurrent_processes_lose_no_line(tmp_path: Path) -> None:
    path, count, each = tmp_path / "log.jsonl", 4, 500
    run_writers(path, count, each, max_bytes=60_000)  # rotated about six times
    files = list(tmp_path.iterdir())
    assert len(files) >= 2
    kept = [line["query"] for file in files for line in read_lines(file)]
    assert len(kept) == len(set(kept)) > 200
    assert sum(file.stat().st_size for file in files) < 4 * 60_000
    for file in files:
        file.unlink()
    run_writers(path, count, each, max_bytes=1 << 30)
    assert len(read_lines(path)) == count * each


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


def run_writers(path: Path, count: int, each: int, *, max_bytes: int) -> None:
    arguments = (str(path), str(each), str(max_bytes))
    writers: list[Popen[bytes]] = [
        start_rootle(*arguments, str(number), program=_WRITER) for number in range(count)
    ]
    for writer in writers:
        _, err = writer.communicate(timeout=60)
        assert (writer.returncode, err) == (0, b"")


_WRITER = """
import sys
from pathlib import Path
from rootle.search.search_log import SearchLog, SearchLogFile
path, each, max_bytes, name = sys.argv[1:]
log = SearchLogFile(Path(path), with_query_text=True, max_bytes=int(max_bytes))
for number in range(int(each)):
    log.write(SearchLog(f"{name}/{number}", 3, 4, 5, 1.5, 6.5, "static", "heuristic", "2026"))
"""
