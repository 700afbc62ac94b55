"""Trace a query through the modules of rootle, from `App.search` to its response.

    python -m benchmarks.trace_query ROOT [--json FILE]

A query enters a module when a function of another module calls one of its functions. Creating a
record or reading one of its properties does not count. A module is entered again when the caller is
in a different module than the last time: a loop that calls a helper a hundred times enters it once,
and a helper that four modules call in turn is entered four times.

A station is either one module of `search` or one other package as a whole. Other packages are not
divided into modules, because a query uses them through an interface (`IndexReader`, `Embedder`,
`Ranker`). The foundations (see ARCHITECTURE.md) are listed but not counted: any module may use
them, like the standard library.

The queries run in a warm process and with default settings, but without memories and without a
check for changed files. Each query is asked once, so that no answer comes from the cache. The table
shows the plain query that enters the most stations.

A plain query enters at most MAX_MODULES modules of `search`, and enters each station again at most
MAX_AGAIN times. A query is plain if it has only words: a list of words, a question, or a
description with names, as language models write. A stage runs only if a query has the trait that it
needs (`search/query_traits.py`), so other queries enter more modules:

- A sentence with a name that is written like code: 2 more, which correct its spelling and show its
  definition if it is rare.
- A question about one name, such as "who calls X": about 25 more, because the files that contain
  the name are parsed. This is also the case for "where is limit set" if `limit` is a rare name.
- Pasted text: 1 more for a message, and 2 more for a stack trace or a report of tests. If it names
  functions, their files are parsed.
- Filters: 2 more. Quoted phrases: 6 more. Regular expressions: 4 more than phrases.
- A result that shows a diagram: 6 more, which find the definitions of the names in it.
- A reranker, query expansion, memories and the cache on disk: 1 more for each.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from types import FrameType
from typing import Final

from benchmarks.common.arguments import JSON, ROOT, command_parser
from benchmarks.common.reports import write_json
from benchmarks.common.rootle_search import index_folder, indexed_app
from benchmarks.speed.queries import SENTENCES, WARM_UP, WORDS
from rootle import App, Config

PACKAGE: Final = "rootle"
FOUNDATIONS: Final = frozenset(
    "types errors protocols text concurrency http storage telemetry serialization config plugins "
    "models".split()
)
MAX_MODULES: Final = 20  # limit for the modules of `search` that a plain query enters
MAX_AGAIN: Final = 5  # limit for the times that a plain query enters a station again
PLAIN_QUERIES: Final = (*WORDS[:10], *SENTENCES[:10])
# Memories would add a search, and the check for changed files depends on the time.
CONFIG: Final = Config(include_memories=False, stale_check_seconds=3_600.0)


@dataclass(frozen=True, slots=True)
class Call:
    """A call from one module into another; module names omit the package."""

    caller: str
    module: str


@dataclass(frozen=True, slots=True)
class Station:
    """One module of `search`, or one other package as a whole."""

    name: str
    calls: int
    again: int  # how often it was entered after the first time
    modules: int  # number of modules that ran in it

    @property
    def is_foundation(self) -> bool:
        return self.name in FOUNDATIONS


def main() -> None:
    args = command_parser(__doc__, ROOT, JSON).parse_args()
    with index_folder(None) as folder, indexed_app(args.root, folder, CONFIG) as app:
        journeys = trace_queries(app, PLAIN_QUERIES)
    query, stations = max(journeys.items(), key=lambda item: len(drop_foundations(item[1])))
    print(f"query: {query}\n")
    print("\n".join(table_rows(stations)))
    report = summarize(stations)
    print("", *(f"{name}: {value}" for name, value in report.items()), sep="\n")
    write_json(args.json, {"query": query, **report, "stations": list(map(asdict, stations))})


def trace_queries(app: App, queries: Iterable[str]) -> dict[str, list[Station]]:
    """Return the stations of each query in a warm process."""
    for query in WARM_UP:
        app.search(query)
    return {query: find_stations(trace_search(app, query)) for query in queries}


def trace_search(app: App, query: str) -> list[Call]:
    """Return the calls between modules during one search."""
    return trace_calls(lambda: app.search(query))


def trace_calls(run: Callable[[], object], package: str = PACKAGE) -> list[Call]:
    """Run a function and return the calls between modules of a package, in order."""
    calls: list[Call] = []

    def record_call(frame: FrameType, event: str, _: object) -> None:
        if event != "call" or not _is_function_of(frame, package):
            return
        caller = frame.f_back
        while caller is not None and not _is_in(caller, package):
            caller = caller.f_back
        if caller is not None and _find_module(caller) != _find_module(frame):
            names = (_find_module(one).removeprefix(f"{package}.") for one in (caller, frame))
            calls.append(Call(*names))

    sys.setprofile(record_call)
    try:
        run()
    finally:
        sys.setprofile(None)
    return calls


def find_stations(calls: Iterable[Call]) -> list[Station]:
    """Return the stations in the order of their first entry."""
    entries: dict[str, list[Call]] = {}
    for call in calls:
        if find_station(call.caller) != find_station(call.module):
            entries.setdefault(find_station(call.module), []).append(call)
    modules: dict[str, set[str]] = {}
    for call in calls:
        modules.setdefault(find_station(call.module), set()).add(call.module)
    return [
        Station(name, len(own), _count_visits(own) - 1, len(modules[name]))
        for name, own in entries.items()
    ]


def find_station(module: str) -> str:
    """Return the station that a module belongs to."""
    package = module.partition(".")[0]
    return module if package == "search" else package


def drop_foundations(stations: Iterable[Station]) -> list[Station]:
    """Return the stations without the foundations."""
    return [station for station in stations if not station.is_foundation]


def summarize(stations: Sequence[Station]) -> dict[str, int]:
    """Return the figures of one query."""
    own = drop_foundations(stations)
    in_search = [station for station in own if station.name.startswith("search.")]
    return {
        "stations": len(own),
        "modules of search": len(in_search),
        "modules of search entered again at most": max(station.again for station in in_search),
        "entered again at most": max(station.again for station in own),
        "foundations": len(stations) - len(own),
        "modules that ran": sum(station.modules for station in stations),
    }


def table_rows(stations: Iterable[Station]) -> list[str]:
    """Return a table of stations as text."""
    rows = [f"{'station':40} {'calls':>5} {'again':>5} {'modules':>7}"]
    for station in stations:
        name = f"({station.name})" if station.is_foundation else station.name
        rows.append(f"{name:40} {station.calls:5} {station.again:5} {station.modules:7}")
    return rows


def _count_visits(calls: Iterable[Call]) -> int:
    return sum(1 for _ in groupby(calls, key=lambda call: call.caller))


def _is_function_of(frame: FrameType, package: str) -> bool:
    """Return whether a frame runs a function other than a property or a generated constructor."""
    if not _is_in(frame, package):
        return False
    self = frame.f_locals.get("self")
    attribute = inspect.getattr_static(type(self), frame.f_code.co_name, None)
    return not isinstance(attribute, property)


def _is_in(frame: FrameType, package: str) -> bool:
    is_generated = frame.f_code.co_filename == "<string>"  # the constructor of a dataclass
    return not is_generated and _find_module(frame).partition(".")[0] == package


def _find_module(frame: FrameType) -> str:
    name = frame.f_globals.get("__name__", "")
    return name if isinstance(name, str) else ""


if __name__ == "__main__":
    main()
