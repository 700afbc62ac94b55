"""The trace of a query: its calls between modules, and the stations that it enters.

A station is one module of `search`, or another package as a whole.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest
from benchmarks.trace_query import (
    CONFIG,
    MAX_AGAIN,
    MAX_MODULES,
    PLAIN_QUERIES,
    Call,
    Station,
    find_station,
    find_stations,
    summarize,
    trace_calls,
    trace_queries,
    trace_search,
)
from sample import MakeApp

import rootle
from rootle import open_app
from rootle.protocols import NO_HITS
from rootle.rank.question.parsed import parse_question

_FURTHER_QUERIES = (
    # Lists of words and questions about rootle itself, with and without an answer.
    "rank fusion",
    "config loader",
    "candidates merged across legs",
    "open index snapshot generation stale watcher",
    "how to wait before the next attempt",
    "what happens if the dense search fails",
    "where is the cache of answers invalidated when the index changes",
    "the handler that shows duplicates in one result and keeps their paths",
    "how are kangaroos sorted by their marsupial weight",
    # As language models write.
    "wait longer after each failed attempt, backoff, retry_delay",
    "compute the order of the files: rank_files(inputs)",
    "parse the operators of a query such as path and lang, ParsedQuery, phrases, regex",
)


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


@pytest.mark.slow
def test_a_plain_query_enters_few_modules_of_search(tmp_path: Path) -> None:
    root = tmp_path / "rootle"
    shutil.copytree(Path(rootle.__file__).parent, root, ignore=shutil.ignore_patterns("*.pyc"))
    with open_app(root, index_dir=tmp_path / "index", config=CONFIG) as app:
        app.index()
        journeys = trace_queries(app, (*PLAIN_QUERIES, *_FURTHER_QUERIES))
        reports = {query: summarize(found) for query, found in journeys.items()}
        # The limits hold for queries with and without confidence, and for texts that are compared
        # with the files because they may be pasted.
        confident = {app.search(query).confident for query in journeys}
    entered = {one.name for found in journeys.values() for one in found}
    assert confident == {True, False}
    assert {"search.stages.pasted_text", "search.stages.low_confidence"} <= entered
    assert {
        query: report
        for query, report in reports.items()
        if report["modules of search"] > MAX_MODULES or report["entered again at most"] > MAX_AGAIN
    } == {}


@pytest.mark.slow
def test_a_stage_is_entered_only_by_the_queries_that_need_it(
    repository: Path, make_app: MakeApp
) -> None:
    app = make_app(repository, include_memories=False, stale_check_seconds=3_600.0)
    app.search("warm up")

    def stages_of(query: str) -> set[str]:
        return _special_stages(find_stations(trace_search(app, query)))

    assert stages_of("how long to wait before the next attempt") == set()
    assert stages_of("retry delay") == set()
    assert stages_of("wait before the next attempt") == {"stages.pasted_text"}
    assert stages_of("retry delay path:src") == {"query.scope"}
    assert stages_of("who calls retry_backoff") >= {"stages.named_symbols"}
    assert stages_of("how does retry_backoff wait") >= {"stages.rare_names"}
    assert stages_of('"def retry_backoff"') >= {"query.scope", "stages.pasted_text"}


def _special_stages(stations: Iterable[Station]) -> set[str]:
    """Return the modules that only queries with a trait enter."""
    names = {station.name.removeprefix("search.") for station in stations}
    return names & {
        "query.scope",
        "query.spelling",
        "results.context",
        "stages.named_symbols",
        "stages.pasted_text",
        "stages.rare_names",
    }


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
