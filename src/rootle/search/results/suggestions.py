"""What to try where nothing was found, worked out for the question."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from rootle.index.local.snapshot import Snapshot
from rootle.search.query.filters import allowed_files
from rootle.search.query.parse import ParsedQuestion
from rootle.search.query.spelling import nearest_name
from rootle.search.query.syntax import ParsedQuery
from rootle.text.terms import whole_identifier
from rootle.types import SearchQuery

_EMPTY: Final = (
    "the index is empty: run `rootle index` where there are text files; "
    "`rootle status --skipped` lists what is left out"
)
_LAST: Final = "nothing matches: try broader keywords or check the spelling"
_MAX_MATCHES: Final = 100
_MAX_NAMES: Final = 3


def suggestions(
    query: SearchQuery, asked: ParsedQuestion, snapshot: Snapshot, now_s: float, own: str
) -> tuple[str, ...]:
    """What might be asked instead, best first; `own` is a sentence of the configuration."""
    if not snapshot.chunk_count():
        return (_EMPTY, own) if own else (_EMPTY,)
    found = (*_too_narrow(query, asked, snapshot, now_s), *_near_names(asked, snapshot))
    return (*(found or (_LAST,)), *((own,) if own else ()))


def _too_narrow(
    query: SearchQuery, asked: ParsedQuestion, snapshot: Snapshot, now_s: float
) -> Iterator[str]:
    """For each filter what matches without it; where none helps alone, without all of them."""
    states = snapshot.all_files()
    wider = list(_without_one(query, asked.parsed))
    plain = SearchQuery(query.text_query)
    bare = replace(asked.parsed, paths=(), excluded_paths=(), languages=(), excluded_languages=())
    helped = False
    for name, other, parsed in [*wider, ("everything that narrows it", plain, bare)]:
        if not wider or (helped and other is plain):
            return
        allowed = allowed_files(other, parsed, lambda: states, now_s)
        ranked = snapshot.sparse.query(asked.question.terms, _MAX_MATCHES, allowed)
        chunks = snapshot.chunks(ranked.ids.tolist())
        files = list(dict.fromkeys(row.file_id for row in chunks.values()))
        if files:
            helped = True
            first = snapshot.files(files[:1])[files[0]].path
            count = "1 file" if len(files) == 1 else f"{len(files)} files"
            yield f"{name} leaves out {count} that would match, first of all {first}"


def _without_one(
    query: SearchQuery, parsed: ParsedQuery
) -> Iterator[tuple[str, SearchQuery, ParsedQuery]]:
    """Each filter by the name that its user gave it, and the question without it."""
    if query.file_paths is not None:
        yield f"filePaths {_listed(query.file_paths)}", replace(query, file_paths=None), parsed
    if query.languages is not None:
        yield f"languages {_listed(query.languages)}", replace(query, languages=None), parsed
    if query.min_recency_days:
        days = f"minRecencyDays {query.min_recency_days:g}"
        yield days, replace(query, min_recency_days=0), parsed
    for value in parsed.paths:
        yield f"path:{value}", query, replace(parsed, paths=())
    for value in parsed.excluded_paths:
        yield f"-path:{value}", query, replace(parsed, excluded_paths=())
    for value in parsed.languages:
        yield f"lang:{value}", query, replace(parsed, languages=())
    for value in parsed.excluded_languages:
        yield f"-lang:{value}", query, replace(parsed, excluded_languages=())


def _listed(values: tuple[str, ...]) -> str:
    return ", ".join(f'"{value}"' for value in values) or "[]"


def _near_names(asked: ParsedQuestion, snapshot: Snapshot) -> Iterator[str]:
    """Names of the index that are like the words of the question, which stand nowhere."""
    names = dict.fromkeys((*asked.question.names, *map(whole_identifier, asked.question.words)))
    unknown = [name for name in names if not snapshot.sparse.is_known(name)]
    near = [(name, nearest_name(name, snapshot)) for name in unknown]
    found = [f'"{meant}"' for _, meant in near if meant is not None]
    if found:
        yield f"names like it that are defined here: {', '.join(found[:_MAX_NAMES])}"
