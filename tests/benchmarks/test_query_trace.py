"""The trace of a query: its calls between modules, and the stations that it enters.

A station is one module of `search`, or another package as a whole.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.trace_query import (
    Call,
    find_station,
    find_stations,
    summarize,
    trace_calls,
    trace_search,
)
from sample import MakeApp

from rootle.protocols import NO_HITS
from rootle.rank.question.parsed import parse_question


def _calls(*pairs: str) -> list[Call]:
    return [Call(*pair.split(" -> ")) for pair in pairs]


def test_search_is_divided_into_modules_and_other_packages_are_not() -> None:
    assert find_station("index.local.snapshot") == find_station("index.reader") == "index"
    assert find_station("search.query.parse") == "search.query.parse"


def test_a_station_is_entered_again_when_the_caller_changes() -> None:
    stations = find_stations(
        _calls(
            "app -> search.agent",
            "search.agent -> index.local.snapshot",
            "search.agent -> index.local.vector_matrix.reader",
            "index.local.snapshot -> index.local.database",
            "search.results.page -> index.local.snapshot",
            "search.agent -> index.local.snapshot",
            "search.agent -> text.terms",
        )
    )
    found = {one.name: (one.calls, one.again, one.modules) for one in stations}
    assert found == {"search.agent": (1, 0, 1), "index": (4, 2, 3), "text": (1, 0, 1)}
    assert summarize(stations) == {
        "stations": 2,
        "modules of search": 1,
        "modules of search entered again at most": 0,
        "entered again at most": 2,
        "foundations": 1,
        "modules that ran": 5,
    }


def test_calls_between_modules_are_recorded_without_properties() -> None:
    calls = trace_calls(lambda: parse_question("where is retry_backoff", str.split))
    assert Call("rank.question.parsed", "text.terms") in calls
    assert all(call.caller != call.module for call in calls)
    question = parse_question("retry", str.split)
    assert trace_calls(lambda: (question.detail, NO_HITS.is_behind(1))) == []


def test_a_plain_query_enters_few_modules_of_search(repository: Path, make_app: MakeApp) -> None:
    app = make_app(repository, include_memories=False, stale_check_seconds=3_600.0)
    app.search("warm up")
    stations = find_stations(trace_search(app, "how long to wait before the next attempt"))
    report = summarize(stations)
    assert 0 < report["modules of search"] <= 20
    assert report["entered again at most"] <= 5


@pytest.mark.slow
def test_only_detailed_questions_compare_the_order_of_words(
    repository: Path, make_app: MakeApp
) -> None:
    app = make_app(repository, include_memories=False, stale_check_seconds=3_600.0)
    app.search("warm up")

    def compares(question: str) -> bool:
        return any(one.module == "rank.adjacent_words" for one in trace_search(app, question))

    assert not compares("where is the retry delay")
    assert compares("compute the delay before the next attempt of a failed request with a jitter")
    assert compares("ValueError: invalid delay")
