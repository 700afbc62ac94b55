"""Notes about the filters of a query without results: which of them exclude matching files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations
from typing import Any, Final

from rootle.index.reader import FileState, IndexReader
from rootle.search.query.file_filters import expand_commits, filter_files
from rootle.search.query.operators import ParsedQuery
from rootle.search.query.parse import ParsedQuestion
from rootle.search.request import SearchRequest
from rootle.serialization.path_text import short_date, short_hash
from rootle.serialization.timestamps import format_commit_time
from rootle.types import COMMIT_URI, SearchQuery

_MAX_MATCHES: Final = 100
# Maps each operator that may occur several times to the field of ParsedQuery with its values.
_LISTS: Final = {
    "path:": "paths",
    "-path:": "excluded_paths",
    "lang:": "languages",
    "-lang:": "excluded_languages",
    "author:": "authors",
}


@dataclass(frozen=True, slots=True)
class _Filter:
    """A filter of a query, or several filters of the same kind."""

    names: tuple[str, ...]  # as the user wrote them
    # Maps each field of the filter to the value that removes the filter. Any, because the fields
    # have different types.
    query: Mapping[str, Any] = field(default_factory=dict)  # of SearchQuery
    parsed: Mapping[str, Any] = field(default_factory=dict)  # of ParsedQuery


@dataclass(frozen=True, slots=True)
class _Filters:
    """A query, and those of its filters that are applied."""

    query: SearchQuery
    parsed: ParsedQuery

    def drop(self, filters: Iterable[_Filter]) -> _Filters:
        query, parsed = self.query, self.parsed
        for one in filters:
            query, parsed = replace(query, **one.query), replace(parsed, **one.parsed)
        return _Filters(query, parsed)

    def passing(self, request: SearchRequest, states: Sequence[FileState]) -> set[int] | None:
        """Return the ids of the files that pass the filters; None if there are no filters."""
        index = request.session.index
        lists = request.list_period, request.list_changed
        judged = expand_commits(self.query, self.parsed, states, index, *lists)
        by_history = request.list_changed is not None
        return filter_files(self.query, self.parsed, judged, request.now_s, by_history=by_history)


def note_filters(request: SearchRequest, question: ParsedQuestion) -> Iterator[str]:
    """Yield a note for each pair of filters that exclude each other.

    Also yield a note for each other filter that excludes matching files. If there is no such pair
    and no such filter, but all filters together exclude matching files, yield one note about their
    combination.
    """
    index = request.session.index
    states = index.all_files()
    list_changed = None if request.list_changed is None else cache(request.list_changed)
    request = replace(request, list_period=cache(request.list_period), list_changed=list_changed)
    whole = _Filters(request.query, question.parsed)
    filters = list(_list_filters(request.query, question.parsed))
    pairs = list(_find_exclusive(whole, filters, request, states))
    for pair in pairs:
        names = _join([*pair[0].names, *pair[1].names])
        yield f"{names} together exclude every file"
    helped = bool(pairs)
    for one in filters:
        if not any(one in pair for pair in pairs):
            wider = whole.drop([one])
            for note in _note_excluded(one.names, wider.passing(request, states), question, index):
                helped = True
                yield note
    if filters and not helped:
        plain = _Filters(SearchQuery(request.query.text_query), question.parsed.without_filters())
        allowed = plain.passing(request, states)
        yield from _note_excluded(["the combination of filters"], allowed, question, index)


def _find_exclusive(
    whole: _Filters,
    filters: Sequence[_Filter],
    request: SearchRequest,
    states: Sequence[FileState],
) -> Iterator[tuple[_Filter, _Filter]]:
    """Yield the pairs of filters that each let files pass, but together let none pass."""

    def passes(*chosen: _Filter) -> bool:
        others = [one for one in filters if one not in chosen]
        return whole.drop(others).passing(request, states) != set()

    useful = [one for one in filters if passes(one)]
    return (pair for pair in combinations(useful, 2) if not passes(*pair))


def _note_excluded(
    names: Sequence[str], allowed: set[int] | None, question: ParsedQuestion, index: IndexReader
) -> Iterator[str]:
    """Yield a note about the allowed files that match the question, if there are any."""
    ranked = index.sparse.query(question.question.terms, _MAX_MATCHES, allowed)
    chunks = index.chunks(ranked.ids.tolist())
    files = list(dict.fromkeys(row.file_id for row in chunks.values()))
    if files:
        first = index.files(files[:1])[files[0]]
        is_commit = first.path.startswith(COMMIT_URI)
        noun, shown = ("commit", _describe_commit(first)) if is_commit else ("file", first.path)
        count = f"1 matching {noun}" if len(files) == 1 else f"{len(files)} matching {noun}s"
        least = "at least " if len(ranked.ids) == _MAX_MATCHES else ""
        verb = "excludes" if len(names) == 1 else "exclude"
        yield f"{_join(names)} {verb} {least}{count}, such as {shown}"


def _describe_commit(state: FileState) -> str:
    """Return the hash, the date and the subject of a commit."""
    day = short_date(format_commit_time(state.committed_s or 0))
    return f"{short_hash(state.path.removeprefix(COMMIT_URI))} {day}: {state.title}"


def _list_filters(query: SearchQuery, parsed: ParsedQuery) -> Iterator[_Filter]:
    """Yield the filters; several values of the same operator are one filter."""
    if query.file_paths is not None:
        yield _Filter((f"filePaths {_quote(query.file_paths)}",), {"file_paths": None})
    if query.languages is not None:
        yield _Filter((f"languages {_quote(query.languages)}",), {"languages": None})
    if query.min_recency_days:
        yield _Filter((f"minRecencyDays {query.min_recency_days:g}",), {"min_recency_days": 0})
    for sign, name in _LISTS.items():
        if values := getattr(parsed, name):
            yield _Filter(tuple(f"{sign}{value}" for value in values), parsed={name: ()})
    if parsed.kinds:
        yield _Filter((f"in:{','.join(parsed.kinds)}",), parsed={"kinds": ()})
    if parsed.since:
        yield _Filter((f"since:{parsed.since}",), parsed={"since": ""})
    if parsed.until:
        yield _Filter((f"until:{parsed.until}",), parsed={"until": ""})


def _join(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _quote(values: tuple[str, ...]) -> str:
    return ", ".join(f'"{value}"' for value in values) or "[]"
