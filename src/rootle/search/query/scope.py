"""Step 2: narrow down the files that may answer a question."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

import numpy as np

from rootle.index.reader import IndexReader
from rootle.protocols import Ids
from rootle.search.query.file_filters import (
    expand_commits,
    filter_files,
    find_expiry,
    note_unknown_dates,
)
from rootle.search.query.operators import ParsedQuery
from rootle.search.query.parse import ParsedQuestion, ignore_phrases
from rootle.search.query.phrase_and_regex_filter import (
    ExactMatches,
    chunks_with_matches,
    find_matches,
)
from rootle.search.request import SearchRequest
from rootle.text.translated_paths import is_catalogue

# Maximum number of files that are ranked together. In measurements, no file with a lower rank in
# the fused list was the best result.
MAX_CANDIDATE_FILES: Final = 60


Lines = Mapping[int, Sequence[int]]  # file id -> line numbers, best line first

_NO_IDS: Final[Ids] = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class ScopedQuery:
    """A parsed question and the files that may answer it."""

    question: ParsedQuestion
    files: Collection[int] | None = None  # ids; None for all files
    matches: ExactMatches | None = None  # where the phrases and the regex occur
    chunk_ids: Ids = field(default_factory=_NO_IDS.copy)  # chunks that contain `matches` or `lines`
    lines: Lines = field(default_factory=dict)  # lines that results must show
    valid_until_s: float = math.inf  # Unix time at which a file becomes too old for the filter
    degraded: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    # The scope of the same question if its quotes are ignored. None if the question has no phrases
    # or if it has a regex.
    unquoted: ScopedQuery | None = None

    @property
    def is_exact(self) -> bool:
        """Whether results show where a phrase or the regex occurs."""
        return self.matches is not None


class ScopeStage(Protocol):
    """Narrows a scope. At first, the scope of a question contains all files."""

    def __call__(self, request: SearchRequest, scoped: ScopedQuery) -> ScopedQuery: ...


def apply_filters(request: SearchRequest, scoped: ScopedQuery) -> ScopedQuery:
    """Apply the filters in the fields and in the text of a query that has filters.

    Raise QueryError if a filter is invalid.
    """
    query, parsed = request.query, scoped.question.parsed
    states = request.session.index.all_files()
    lists = request.list_period, request.list_changed
    judged = expand_commits(query, parsed, states, request.session.index, *lists)
    by_history = request.list_changed is not None
    files = filter_files(query, parsed, judged, request.now_s, by_history=by_history)
    unknown = note_unknown_dates(query, parsed, states, by_history=by_history)
    return replace(
        scoped,
        files=files,
        valid_until_s=find_expiry(query, files, states),
        notes=(*scoped.notes, *unknown),
    )


def match_phrases(request: SearchRequest, scoped: ScopedQuery) -> ScopedQuery:
    """Narrow an exact query to the files that contain every phrase and match the regex.

    If there are no such files, a note says so, and the other words of the question are searched in
    all files of the scope. If there are no other words, the new scope is empty.
    """
    parsed, index = scoped.question.parsed, request.session.index
    found = _catalogues_last(find_matches(parsed, index, scoped.files), index)
    if parsed.phrases and not parsed.regex:
        unquoted = replace(scoped, question=ignore_phrases(scoped.question))
        scoped = replace(scoped, unquoted=unquoted)
    scoped = _note_limit(scoped, found)
    if found.places:
        chunk_ids = chunks_with_matches(found, index, MAX_CANDIDATE_FILES)
        return replace(scoped, files=set(found.places), matches=found, chunk_ids=chunk_ids)
    missing = _missing_message(parsed, found, is_filtered=scoped.files is not None)
    if parsed.asks_more_than_phrases:
        note = f"{missing}; showing results without that condition"
        return replace(scoped, notes=(note, *scoped.notes))
    advice = "try a simpler regex" if parsed.regex else "leave out the quotes to find similar text"
    return replace(scoped, files=set(), notes=(f"{missing}; {advice}", *scoped.notes))


def _catalogues_last(found: ExactMatches, index: IndexReader) -> ExactMatches:
    """Put the catalogues of translations last, because not all files become candidates."""
    states = index.files(found.places)
    places = sorted(found.places.items(), key=lambda item: is_catalogue(states[item[0]].path))
    return replace(found, places=dict(places))


def _note_limit(scoped: ScopedQuery, found: ExactMatches) -> ScopedQuery:
    if not found.is_truncated:
        return scoped
    note = (
        f"only {found.files_read:,} of {found.files_total:,} files were searched for the phrase or "
        "regex; narrow the question with path: or lang:"
    )
    degraded = ("exact", *scoped.degraded)
    return replace(scoped, degraded=degraded, notes=(*scoped.notes, note))


def _missing_message(parsed: ParsedQuery, found: ExactMatches, *, is_filtered: bool) -> str:
    wanted = [f'"{phrase}"' for phrase in parsed.phrases]
    if parsed.regex is not None:
        wanted.append(f"a line that matches /{parsed.regex}/")
    where = " that passes the filters" if is_filtered else ""
    if found.is_truncated:
        where = " that was searched"
    return f"no indexed text{where} has {' and '.join(wanted)}"
