"""Section 8.3 of the specification, except for the times, which benchmarks measure."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from json_server import Reply, serving
from sample import MakeApp, make_repository, many_files

from rootle.types import SearchQuery, SearchResponse

pytestmark = pytest.mark.slow


def test_8_3_1_large_codebase_simulation(tmp_path: Path, make_app: MakeApp) -> None:
    files = many_files(500, functions=4)
    app = make_app(make_repository(tmp_path / "large", files))
    report = app.index()
    assert (report.files_total, report.files_indexed) == (500, 500)
    assert report.chunks_embedded == report.chunks_total >= 500
    for path in list(files)[::100]:
        name = files[path].partition("def ")[2].partition("(")[0]
        assert app.search(name).results[0].file_path == path


def test_8_3_2_high_concurrency_queries(tmp_path: Path, make_app: MakeApp) -> None:
    files = many_files(60, functions=3)
    app = make_app(make_repository(tmp_path / "busy", files), stale_check_seconds=3_600)
    app.index()
    questions = [
        part.partition("(")[0] for text in files.values() for part in text.split("def ")[1:]
    ][:100]
    assert len(set(questions)) == 100
    gate, answers = threading.Barrier(len(questions)), dict[str, SearchResponse]()

    def ask(question: str) -> None:
        gate.wait()
        answers[question] = app.search(question)

    for _ in ("cold", "warm"):
        answers.clear()
        threads = [threading.Thread(target=ask, args=(question,)) for question in questions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for question in questions:
            answer = answers[question]
            assert answer.degraded == ()
            assert f"def {question}(" in answer.results[0].snippet
    alone = make_app(app.root, stale_check_seconds=3_600, enable_cache=False)
    for question in questions[::10]:
        assert alone.search(question).results == answers[question].results


def test_8_3_3_failure_mode_stress_test(repository: Path, make_app: MakeApp) -> None:
    make_app(repository).index()
    with serving(lambda _: Reply({})) as server:
        invalid = server.url  # nothing listens at this URL after the block
    app = make_app(repository, dense_backend="chroma", dense_endpoint=invalid, enable_cache=False)
    started = time.monotonic()
    for number in range(50):
        answer = app.search(SearchQuery(f"how long to wait before the next attempt {number}"))
        assert answer.degraded == ("dense",)
        assert answer.results[0].file_path == "src/net/retry.py"
        assert {result.source for result in answer.results} == {"sparse"}
    # If each query had waited for its deadline of two seconds, this would take 100 s.
    assert time.monotonic() - started < 60
