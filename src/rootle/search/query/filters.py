"""Which files may answer: paths, languages and recency into a set of file ids."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Callable, Collection, Iterable

from rootle.errors import QueryError
from rootle.index.reader import FileState
from rootle.rank.path_features import matches_path
from rootle.search.query.syntax import ParsedQuery
from rootle.text.languages import resolve_language
from rootle.types import SearchQuery

_DAY_S = 86_400


def allowed_files(
    query: SearchQuery, parsed: ParsedQuery, files: Callable[[], Iterable[FileState]], now_s: float
) -> set[int] | None:
    """The ids of files that pass every filter of a query and of its text; None without any.

    Raises QueryError for a language that does not exist and for a recency below zero.
    """
    tests = [
        *_path_test(query),
        *_language_test(query.languages),
        *_recency_test(query, now_s),
        *(_tests_in_text(parsed) if parsed.has_filters else ()),
    ]
    if not tests:
        return None
    return {
        state.id for state in files() if state.skip is None and all(test(state) for test in tests)
    }


def valid_until(query: SearchQuery, allowed: Collection[int], files: Iterable[FileState]) -> float:
    """When the first of the allowed files will be too old for the query; infinite without days."""
    if not query.min_recency_days:
        return math.inf
    times = (state.last_modified_s for state in files if state.id in allowed)
    return min(times, default=math.inf) + query.min_recency_days * _DAY_S


_Test = Callable[[FileState], bool]


def _path_test(query: SearchQuery) -> Iterable[_Test]:
    wanted = query.file_paths
    if wanted is not None:
        yield lambda state: any(matches_path(state.path, place) for place in wanted)


def _language_test(names: Iterable[str] | None) -> Iterable[_Test]:
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
    yield lambda state: state.language in wanted


def _recency_test(query: SearchQuery, now_s: float) -> Iterable[_Test]:
    days = query.min_recency_days
    if days is None or days == 0:
        return
    if not days >= 0:  # neither is what is not a number
        raise QueryError(f"minRecencyDays is {days:g}; give a number of days of 0 or more")
    oldest = now_s - days * _DAY_S
    yield lambda state: state.last_modified_s >= oldest


def _tests_in_text(parsed: ParsedQuery) -> Iterable[_Test]:
    """`path:` and `lang:` of a question: any of the wanted ones, none of the unwanted."""
    if parsed.paths:
        yield lambda state: any(_is_typed_path(path, state.path) for path in parsed.paths)
    if parsed.languages:
        yield from _language_test(parsed.languages)
    unwanted: list[_Test] = [
        *_language_test(parsed.excluded_languages),
        lambda state: any(_is_typed_path(path, state.path) for path in parsed.excluded_paths),
    ]
    yield lambda state: not any(test(state) for test in unwanted)


def _is_typed_path(typed: str, path: str) -> bool:
    """People type what they remember: the beginning of any folder or file name on, in any case."""
    typed = typed.lower().removeprefix("./").lstrip("/")
    path = path.lower()
    if any(sign in typed for sign in "*?["):
        return fnmatch.fnmatchcase(path, typed) or fnmatch.fnmatchcase(path, f"*/{typed}")
    return f"/{typed}" in f"/{path}"
