"""The collection of memories, with the filters that apply to memories."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from rootle.errors import QueryError
from rootle.federation.collection import Position
from rootle.history.revision_dates import resolve_dates
from rootle.search.query.file_filters import read_period
from rootle.search.query.operators import ParsedQuery, parse_query
from rootle.search.query.phrase_and_regex_filter import line_finder
from rootle.types import Memory, ResultKind, SearchQuery, SearchResponse

_DAY_S: Final = 86_400

IsWanted = Callable[[Memory], bool]


@dataclass(frozen=True, slots=True)
class MemoryCollection:
    """Answers `in:memory` with memories only. Other answers also contain memories."""

    # Returns the memories about a topic that pass a test, best first. Raises ConfigError if
    # memories are disabled.
    recall: Callable[[str, IsWanted], Sequence[Memory]]
    find_date: Callable[[str], float | None]  # returns the Unix time of a commit, tag or branch

    @property
    def kind(self) -> ResultKind:
        """The value of `in:` that names the collection."""
        return "memory"

    def find_position(self, question: ParsedQuery) -> Position | None:  # noqa: ARG002
        """Return None, because the search of the project adds matching memories to every answer."""
        return None

    def search(self, query: SearchQuery, *, explain: bool) -> SearchResponse:  # noqa: ARG002
        """Return the memories about a topic, on one page.

        Raise QueryError if the query has a filter by path, language or author: memories have none.
        """
        started_s = time.perf_counter()
        text = resolve_dates(query.text_query, self.find_date, in_words=False)
        parsed = parse_query(text)
        filters = list(_list_file_filters(query, parsed))
        if filters:
            raise QueryError(
                f"{filters[0]} selects files and commits, and in:memory searches memories; leave "
                "out one of them"
            )
        tests = list(_list_tests(query, parsed))
        found = self.recall(parsed.text, lambda memory: all(test(memory) for test in tests))
        memories = tuple(found[: query.limit])
        took_ms = round((time.perf_counter() - started_s) * 1000, 3)
        return SearchResponse((), None, (), None, 0, took_ms, memories=memories)


def _list_file_filters(query: SearchQuery, parsed: ParsedQuery) -> Iterator[str]:
    """Yield the filters of a query that cannot apply to memories."""
    names = {
        "path:": parsed.paths,
        "-path:": parsed.excluded_paths,
        "lang:": parsed.languages,
        "-lang:": parsed.excluded_languages,
        "author:": parsed.authors,
    }
    yield from (f"{name}{value}" for name, values in names.items() for value in values)
    yield from (f'the path "{path}"' for path in query.file_paths or ())
    yield from (f'the language "{name}"' for name in query.languages or ())


def _list_tests(query: SearchQuery, parsed: ParsedQuery) -> Iterator[IsWanted]:
    """Yield tests that check a memory against the dates, words, phrases and regex of a query."""
    now_s = time.time()
    first_s, end_s = read_period(parsed, now_s)
    if query.min_recency_days:
        first_s = max(first_s, now_s - query.min_recency_days * _DAY_S)
    yield lambda memory: first_s <= _stored_s(memory) < end_s
    if (excluded := parsed.excluded_pattern) is not None:
        yield lambda memory: excluded.search(memory.text) is None
    if parsed.is_exact:
        find_lines = line_finder(parsed)
        yield lambda memory: bool(find_lines(memory.text.split("\n")))


def _stored_s(memory: Memory) -> float:
    return datetime.fromisoformat(memory.created_at).timestamp()
