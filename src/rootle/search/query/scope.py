"""From the filters of a question and what must stand in a file to the files that may answer."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from rootle.index.local.snapshot import Snapshot
from rootle.protocols import Ids
from rootle.search.query.phrase_match import ExactMatches, chunks_with, find_exact
from rootle.search.query.syntax import ParsedQuery
from rootle.search.results.span_constraints import SpanConstraints
from rootle.search.retrieval.candidates import MAX_FILES


def _no_chunks() -> Ids:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Scope:
    """The files that may answer, None for all, and what is demanded of their lines."""

    files: Collection[int] | None
    demands: SpanConstraints | None = None
    chunk_ids: Ids = field(default_factory=_no_chunks)  # candidates, whatever the legs find
    degraded: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def resolve_scope(
    parsed: ParsedQuery, snapshot: Snapshot, allowed: Collection[int] | None
) -> Scope:
    """Of the allowed files those with every phrase and what the regular expression finds.

    Where no file has the phrases, the other words are still answered, and a remark says so.
    """
    unwanted = parsed.unwanted
    demands = SpanConstraints(None, unwanted) if unwanted is not None else None
    if not parsed.is_exact:
        return Scope(allowed, demands)
    found = find_exact(parsed, snapshot, allowed)
    degraded, remarks = _cut_short(found)
    if found.places:
        chunk_ids = chunks_with(found, snapshot, MAX_FILES)
        return Scope(
            set(found.places), SpanConstraints(found, unwanted), chunk_ids, degraded, remarks
        )
    missing = _missing(parsed, found, is_filtered=allowed is not None)
    if parsed.asks_more_than_phrases:
        remarks = (f"{missing}; showing results without that condition", *remarks)
        return Scope(allowed, demands, degraded=degraded, remarks=remarks)
    cure = "try a simpler one" if parsed.regex else "leave out the quotes for what comes near it"
    return Scope(set(), degraded=degraded, remarks=(f"{missing}; {cure}", *remarks))


def _missing(parsed: ParsedQuery, found: ExactMatches, *, is_filtered: bool) -> str:
    asked = [f'"{phrase}"' for phrase in parsed.phrases]
    if parsed.regex is not None:
        asked.append(f"a line that matches /{parsed.regex}/")
    where = "that passes the filters" if is_filtered else "here"
    if found.is_cut_short:
        where = "that was read"
    return f"no file {where} has {' and '.join(asked)}"


def _cut_short(found: ExactMatches) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if not found.is_cut_short:
        return (), ()
    remark = (
        f"only {found.files_looked_at:,} of {found.files_in_all:,} files were read for the phrase "
        "or regex; narrow the question with path: or lang:"
    )
    return ("exact",), (remark,)
