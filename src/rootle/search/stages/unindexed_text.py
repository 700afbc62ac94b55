"""Notes about text that the index does not contain, although an answer may depend on it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from typing import Final, Protocol

from rootle.index.reader import SKIPPED_CODE, FileState
from rootle.search.query.file_filters import filter_unindexed, names_file
from rootle.search.query.operators import ParsedQuery
from rootle.search.query.scope import ScopedQuery
from rootle.search.request import SearchRequest
from rootle.search.results.working_tree import WorkingTree
from rootle.text.languages import CODE_EXTENSIONS, file_language
from rootle.types import SearchQuery

_MAX_NAMES: Final = 3
# Limits on what is read to find one name. Reading this much takes about 10 ms.
_MAX_FILES_READ: Final = 200
_MAX_BYTES_READ: Final = 20_000_000
# A path in the text of a query: it has a slash, or a dot within a word. It may begin with a dot.
_PATH: Final = re.compile(
    r"(?<![\w@.+-])(?:(?:\.(?=\w))?"
    r"(?:[\w@+-][\w@.+-]*+(?:/[\w@.+-]++)++|[\w@+-]++(?:\.[\w+-]++)++)|\.\w[\w-]*+)"
)
_MAX_PATHS: Final = 5
_LAST_WORD: Final = re.compile(r"\w+(?=\W*$)")


class ExplainExclusions(Protocol):
    """Names the rules of ignore files that exclude existing paths from the index."""

    def __call__(self, paths: Collection[str] | None = None, /) -> Mapping[str, str]:
        """Map each excluded path to its rule; without `paths`, the entries of the folder."""
        ...


def no_exclusions(_: Collection[str] | None = None, /) -> Mapping[str, str]:
    """Explain nothing. Indexes of other things than a folder use this ExplainExclusions."""
    return {}


def note_excluded(
    query: SearchQuery, parsed: ParsedQuery, explain: ExplainExclusions
) -> tuple[str, ...]:
    """Return a note for each path in the query that exists, but is excluded from the index."""
    named = [*(query.file_paths or ()), *parsed.paths, *_PATH.findall(query.text_query)]
    paths = dict.fromkeys(path.strip("/").rstrip(".") for path in named)
    excluded = explain([*paths][:_MAX_PATHS]) if paths else {}
    return tuple(f"{path} is not indexed: {rule} excludes it" for path, rule in excluded.items())


def note_excluded_entries(explain: ExplainExclusions) -> tuple[str, ...]:
    """Return a note about the rules that exclude files and folders at the top of the folder."""
    excluded = explain()
    if not excluded:
        return ()
    ((rule, count),) = Counter(excluded.values()).most_common(1)
    path = next(path for path, one in excluded.items() if one == rule)
    if count == 1:
        return (f"{path} is not indexed: {rule} excludes it",)
    return (f"{rule} excludes {count} files and folders, such as {path}",)


def note_unindexed(request: SearchRequest, scoped: ScopedQuery) -> tuple[str, ...]:
    """Return a note if a phrase, the regex or a path filter may match text that is not indexed."""
    query, parsed = request.query, scoped.question.parsed
    states = filter_unindexed(query, parsed, request.session.index.unindexed_files())
    if parsed.is_exact:
        return _describe("not searched", states)
    if scoped.files:
        states = [state for state in states if names_file(query, parsed, state.path)]
    return _describe("not indexed", states)


def note_named_files(states: Sequence[FileState]) -> tuple[str, ...]:
    """Return a note about files that are not indexed, but whose names the question contains."""
    return _describe("not indexed, but may be the file of the question", states)


def note_unindexed_name(
    name: str,
    request: SearchRequest,
    scoped: ScopedQuery,
    tree: WorkingTree,
    listed: Collection[str],
) -> tuple[str, ...]:
    """Return a note if a name is in code that is not fully indexed.

    Generated code often defines the names that other code uses, and uses the names that other code
    defines. `listed` contains the places that the answer already names, as in "cart.py:3".
    """
    last = _LAST_WORD.search(name)
    if last is None:
        return ()
    query, parsed = request.query, scoped.question.parsed
    states = [
        state
        for state in filter_unindexed(query, parsed, request.session.index.unindexed_files())
        if (state.skip is None or state.skip in SKIPPED_CODE)
        and file_language(state.path) in CODE_EXTENSIONS
    ][:_MAX_FILES_READ]
    ends = accumulate(state.size for state in states)
    readable = [one for one, end in zip(states, ends, strict=True) if end <= _MAX_BYTES_READ]
    pattern = re.compile(rb"(?<![\w$])" + re.escape(last[0].encode()) + rb"(?![\w$])")
    first_lines = ((one, tree.find_line(one, pattern)) for one in readable)
    found = [
        (one, line)
        for one, line in first_lines
        if line is not None and f"{one.path}:{line}" not in listed
    ]
    if not found:
        return ()
    first, line = found[0]
    place = f"{first.path}:{line} ({_reason(first)})"
    if len(found) == 1:
        return (f"{last[0]} also occurs in a file that is not fully indexed: {place}",)
    return (f"{last[0]} also occurs in {len(found)} files that are not fully indexed: {place}, …",)


def _describe(what: str, states: Sequence[FileState]) -> tuple[str, ...]:
    if not states:
        return ()
    # Partly indexed files come first, because their names do not suggest that text is missing.
    ordered = sorted(states, key=lambda state: (state.skip is not None, state.path))
    named = ", ".join(f"{state.path} ({_reason(state)})" for state in ordered[:_MAX_NAMES])
    rest = len(ordered) - _MAX_NAMES
    more = f" and {rest} more" if rest > 0 else ""
    return (f"{what}: {named}{more}; `rootle status --skipped` lists the reasons",)


def _reason(state: FileState) -> str:
    return state.skip or f"last {max(state.missing_share, 0.01):.0%}"
