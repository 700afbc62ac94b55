"""Filters by path, language and recency, from the query's fields and from its text."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final

from rootle.errors import QueryError
from rootle.index.reader import FileState, IndexReader
from rootle.rank.path_features import path_matcher
from rootle.search.query.operators import ParsedQuery
from rootle.search.revision_periods import (
    ListChanged,
    ListPeriod,
    is_judged_by_history,
    select_by_history,
)
from rootle.serialization.dates import is_calendar_date, parse_date, read_revision
from rootle.text.file_kinds import is_code, is_document
from rootle.text.languages import file_language, resolve_language
from rootle.text.path_glob import compile_glob, is_glob
from rootle.text.terms import compose
from rootle.types import COMMIT_KIND, COMMIT_MESSAGE, FILES, PACKAGE_URI, SearchQuery

_DAY_S: Final = 86_400


def filter_files(
    query: SearchQuery,
    parsed: ParsedQuery,
    states: Collection[FileState],
    now_s: float,
    *,
    by_history: bool = False,
) -> set[int] | None:
    """Return the ids of the files that pass every filter, or None if there is no filter.

    Set `by_history` if `select_by_history` has selected the files by the revisions in filters.
    Raise QueryError if a language is unknown, a date is invalid or the number of days is negative.
    """
    tests = [
        *_path_test(query),
        *_language_test(query.languages, states),
        *_recency_test(query, now_s),
        *(_text_tests(parsed, states) if parsed.has_filters else ()),
        *_history_tests(parsed, now_s, by_history=by_history),
    ]
    if not tests:
        return None
    return {
        state.id for state in states if state.skip is None and all(test(state) for test in tests)
    }


def expand_commits(
    query: SearchQuery,
    parsed: ParsedQuery,
    states: Collection[FileState],
    index: IndexReader,
    list_period: ListPeriod,
    list_changed: ListChanged | None = None,
) -> Collection[FileState]:
    """Replace the state of each commit with one state for each file that the commit changed.

    A commit then passes the filters by path and language if one of its files passes them. Commits
    and files are left out if `since:` or `until:` names a revision and excludes them.
    """
    states = select_by_history(parsed, states, list_period, list_changed)
    has_filter = (
        *(query.file_paths, query.languages, parsed.paths, parsed.excluded_paths),
        *(parsed.languages, parsed.excluded_languages),
    )
    if not any(has_filter) or not any(state.kind == COMMIT_KIND for state in states):
        return states
    labels = index.section_labels()
    return [
        one
        for state in states
        for one in (_changed_files(state, labels) if state.kind == COMMIT_KIND else (state,))
    ]


def _changed_files(state: FileState, labels: Mapping[int, Sequence[str]]) -> Iterable[FileState]:
    for label in labels.get(state.id, ()):
        if label != COMMIT_MESSAGE:
            yield state._replace(path=label, language=file_language(label))


def note_unknown_dates(
    query: SearchQuery,
    parsed: ParsedQuery,
    states: Collection[FileState],
    *,
    by_history: bool = False,
) -> tuple[str, ...]:
    """Return a note if a filter by date excludes files because their date is unknown.

    `by_history` has the same meaning as in `filter_files`.
    """
    dates = [date for date in (parsed.since, parsed.until) if date]
    if by_history:
        dates = [date for date in dates if not read_revision(date)]
    if not (query.min_recency_days or dates):
        return ()
    languages = _language_test(query.languages, states)
    others = (*_path_test(query), *languages, *_text_tests(parsed, states))
    asked = [s for s in states if s.skip is None and all(test(s) for test in others)]
    count = sum(state.last_modified_s is None for state in asked)
    if not count:
        return ()
    files = "1 file" if count == 1 else f"{count:,} files"
    return (
        f"left out because the date of the last change is not known: {files} of {len(asked):,}; "
        "`rootle status` gives the reason",
    )


def filter_unindexed(
    query: SearchQuery, parsed: ParsedQuery, states: Collection[FileState]
) -> list[FileState]:
    """Return the files that pass the filters by path and language.

    The language of a skipped file is not stored, so it is determined from the file name.
    """
    tests = [
        *_path_test(query),
        *_language_test(query.languages, states),
        *(_text_tests(parsed, states) if parsed.has_filters else ()),
    ]
    named = (
        (
            state,
            state if state.skip is None else state._replace(language=file_language(state.path)),
        )
        for state in states
    )
    return [state for state, judged in named if all(test(judged) for test in tests)]


def names_file(query: SearchQuery, parsed: ParsedQuery, path: str) -> bool:
    """Return whether a path filter without wildcards matches this file, not its whole folder."""
    folder = path.rpartition("/")[0]
    tests = [_place_search(place) for place in query.file_paths or () if not is_glob(place)]
    tests += [_path_search([typed]) for typed in parsed.paths if not is_glob(typed)]
    return any(test(path) and not test(folder) for test in tests)


def _place_search(place: str) -> Callable[[str], bool]:
    test = path_matcher(compose(place))
    return lambda path: any(map(test, _spellings(compose(path))))


def find_expiry(
    query: SearchQuery, file_ids: Collection[int] | None, states: Iterable[FileState]
) -> float:
    """Return the Unix time at which the first of the files becomes too old for a query."""
    if not query.min_recency_days or not file_ids:
        return math.inf
    times = (state.last_modified_s for state in states if state.id in file_ids)
    known = (time_s for time_s in times if time_s is not None)
    return min(known, default=math.inf) + query.min_recency_days * _DAY_S


_Test = Callable[[FileState], bool]


def _path_test(query: SearchQuery) -> Iterable[_Test]:
    wanted = query.file_paths
    if wanted is not None:
        tests = [_place_search(place) for place in wanted]
        yield lambda state: any(test(state.path) for test in tests)


def _language_test(names: Iterable[str] | None, states: Collection[FileState]) -> Iterable[_Test]:
    """Yield a test for the languages with these names.

    The language of a header "a.h" is C by its name. In a project with C++ files, such a header
    usually belongs to C++ or to both languages, so it also passes a filter for C++.
    """
    if names is None:
        return
    wanted = set()
    for name in names:
        language = resolve_language(name)
        if language is None:
            raise QueryError(f'unknown language "{name}"; try one like "python" or "ts"')
        wanted.add(language)
        if language == "typescript":
            wanted.add("tsx")
    has_headers = "cpp" in wanted and any(state.language == "cpp" for state in states)

    def is_wanted(state: FileState) -> bool:
        return state.language in wanted or (has_headers and state.path.lower().endswith(".h"))

    yield is_wanted


def _recency_test(query: SearchQuery, now_s: float) -> Iterable[_Test]:
    days = query.min_recency_days
    if days is None or days == 0:
        return
    if not days >= 0:  # NaN fails this test too
        raise QueryError(
            f"minRecencyDays is {days:g}; give a number of days, at least 0",
            parameter="minRecencyDays",
        )
    oldest = now_s - days * _DAY_S

    def is_recent(state: FileState) -> bool:
        time_s = state.last_modified_s
        return time_s is not None and time_s >= oldest

    yield is_recent


def _text_tests(parsed: ParsedQuery, states: Collection[FileState]) -> Iterable[_Test]:
    """Yield tests for `path:` and `lang:`.

    A file must match at least one wanted value and none of the excluded values.
    """
    if parsed.paths:
        is_wanted = _path_search(parsed.paths)
        yield lambda state: is_wanted(state.path)
    if parsed.languages:
        yield from _language_test(parsed.languages, states)
    is_excluded = _path_search(parsed.excluded_paths)
    excluded: list[_Test] = [
        *_language_test(parsed.excluded_languages, ()),
        lambda state: is_excluded(state.path),
    ]
    yield lambda state: not any(test(state) for test in excluded)


def _history_tests(parsed: ParsedQuery, now_s: float, *, by_history: bool) -> Iterable[_Test]:
    """Yield tests for `in:`, `author:`, `since:` and `until:`. Commits pass every `in:`.

    If a filter names a revision, `select_by_history` has decided which commits pass it and, if
    `by_history` is set, which files pass it.
    """
    if parsed.kinds and "code" not in parsed.kinds:
        yield lambda state: state.source != FILES or is_document(state.path, state.language)
    if parsed.kinds and "docs" not in parsed.kinds:
        yield lambda state: state.source != FILES or is_code(state.path, state.language)
    if parsed.authors:
        wanted = [author.casefold() for author in parsed.authors]
        yield lambda state: any(author in state.author.casefold() for author in wanted)
    first_s, end_s = read_period(parsed, now_s)
    if parsed.since:
        yield (
            lambda state: (
                (state.last_modified_s or -math.inf) >= first_s
                or is_judged_by_history(state, parsed.since, with_files=by_history)
            )
        )
    if parsed.until:
        yield (
            lambda state: (
                (state.last_modified_s or math.inf) < end_s
                or is_judged_by_history(state, parsed.until, with_files=by_history)
            )
        )


def read_period(parsed: ParsedQuery, now_s: float) -> tuple[float, float]:
    """Return the Unix times of `since:` and `until:`; infinite if there is no such filter.

    Raise QueryError if one of them is not a date.
    """
    return (
        _read_date("since", parsed.since, now_s) if parsed.since else -math.inf,
        _read_date("until", parsed.until, now_s) if parsed.until else math.inf,
    )


def _read_date(name: str, text: str, now_s: float) -> float:
    found = parse_date(text, now_s, is_end=name == "until")
    if found is None and is_calendar_date(text):
        raise QueryError(
            f"there is no date {text}, as in {name}:{text}; write a date like {name}:2024-03-31, "
            f"{name}:2024 or {name}:90d"
        )
    if found is None:
        raise QueryError(
            f'"{text}" in {name}:{text} is neither a date nor a commit, tag or branch; write a '
            f"date like {name}:2024-03-31, {name}:2024 or {name}:90d"
        )
    return found


def _path_search(typed: Sequence[str]) -> Callable[[str], bool]:
    """Return a test for paths that contain a typed path at the start of a file or folder name.

    Case is ignored. The globs are compiled once, because there may be many of them.
    """
    texts = [compose(one).lower().removeprefix("./").lstrip("/") for one in typed]
    # A name may contain brackets, as in `app/[id]/page.tsx`, so a glob is also searched literally.
    names = [f"/{text}" for text in texts]
    globs = [compile_glob(f"**/{text}") for text in texts if is_glob(text)]

    def contains(path: str) -> bool:
        return any(
            any(name in f"/{spelling}" for name in names)
            or any(glob.match(spelling) for glob in globs)
            for spelling in _spellings(compose(path).lower())
        )

    return contains


def _spellings(path: str) -> tuple[str, ...]:
    """Return the spellings of a path in filters: "deps:" may be left out for a package file."""
    return (path, path.removeprefix(PACKAGE_URI)) if path.startswith(PACKAGE_URI) else (path,)
