"""Files that say the same: shown once, with the paths of the others.

Two files are the same where their bytes are; or where the chunk that would be shown of one is that
of the other but for a few words, as in what a program generates twice. Such chunks have nearly the
same vector, whatever the question, so that only pairs of near vectors are read. Nothing is worked
out or kept for it when files are indexed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rootle.index.snapshot import Snapshot
from rootle.rank.evidence import Evidence, Ints
from rootle.rank.spans import span_scores
from rootle.search.gather import MAX_FILES
from rootle.search.page import Ranking
from rootle.text import WORD, split_identifier

# Measured on four repositories: of two chunks with nine words in ten in common nine in ten have
# vectors this near, and of those that are this near more than half have so many in common.
_NEAR: Final = 0.94
_SAME_WORDS: Final = 0.9
# Fewer words are a heading or a closing brace, which many files share.
_MIN_WORDS: Final = 20
# A copy far down disturbs nobody; after so many copies among the first all are looked at.
_LOOKED_AT: Final = 20
_MANY: Final = 5
# What is read is bounded, whatever the tree looks like.
_MAX_PAIRS: Final = 200


@dataclass(frozen=True, slots=True)
class Folded:
    """An order without copies, and for each file that has some their paths."""

    order: Sequence[int]  # positions among the candidate files
    copies: Mapping[int, tuple[str, ...]]  # by the id of the file that is shown
    hidden: frozenset[int] = frozenset()  # the ids of the copies


def fold_copies(snapshot: Snapshot, ranking: Ranking, allowed: Collection[int] | None) -> Folded:
    """Of files that say the same the best stays in the order; copies are among the allowed."""
    evidence, order = ranking.evidence, ranking.ranked.order
    same_bytes = _same_bytes(ranking)
    first_of = dict(same_bytes)
    first_of.update(_same_words(snapshot, evidence, [at for at in order if at not in first_of]))
    if not first_of:
        return Folded(order, {})
    ids = evidence.files.ids.tolist()
    copies: dict[int, dict[int, str]] = {}
    for at in first_of:
        shown = at
        while shown in first_of:
            shown = first_of[shown]
        copies.setdefault(ids[shown], {})[ids[at]] = evidence.files.paths[at]
    if same_bytes and len(ids) >= MAX_FILES:  # there may be more than were found
        _add_all(copies, snapshot, ranking, allowed)
    left = tuple(at for at in order if at not in first_of)
    return Folded(
        left,
        {file_id: tuple(sorted(found.values())) for file_id, found in copies.items()},
        frozenset(file_id for found in copies.values() for file_id in found),
    )


def _add_all(
    copies: Mapping[int, dict[int, str]],
    snapshot: Snapshot,
    ranking: Ranking,
    allowed: Collection[int] | None,
) -> None:
    shown_of = {ranking.files[file_id].digest: file_id for file_id in copies}
    for state in snapshot.with_digests([digest for digest in shown_of if digest is not None]):
        shown = shown_of[state.digest]
        if state.id != shown and (allowed is None or state.id in allowed):
            copies[shown][state.id] = state.path


def _same_bytes(ranking: Ranking) -> dict[int, int]:
    """For each position whose bytes stand before it in the order the position of the first."""
    ids = ranking.evidence.files.ids.tolist()
    seen: dict[object, int] = {}
    found = {}
    for at in ranking.ranked.order:
        first = seen.setdefault(ranking.files[ids[at]].digest or at, at)
        if first != at:
            found[at] = first
    return found


def _same_words(snapshot: Snapshot, evidence: Evidence, order: Sequence[int]) -> dict[int, int]:
    """The same for those whose best chunk has nearly the words of another's."""
    if len(order) < 2:
        return {}
    chunk_of = best_chunks(evidence)
    having = [at for at in order if chunk_of[at] >= 0]
    if len(having) < 2 or not len(snapshot.dense.chunk_ids):
        return {}
    found = _twins(snapshot, evidence, having[:_LOOKED_AT], chunk_of)
    if len(found) >= _MANY:  # what follows may be more of the same
        found = _twins(snapshot, evidence, having, chunk_of)
    return found


def _twins(
    snapshot: Snapshot, evidence: Evidence, order: Sequence[int], chunk_of: Ints
) -> dict[int, int]:
    likeness = snapshot.dense.likeness(chunk_of[order])
    pairs = np.argwhere(likeness >= _NEAR)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]][:_MAX_PAIRS]
    if not len(pairs):
        return {}
    places = [(order[one], order[other]) for one, other in pairs.tolist()]
    words = _words_of(snapshot, {int(chunk_of[at]) for pair in places for at in pair})
    asked = tuple(term.text for term in evidence.question.content_terms)
    found: dict[int, int] = {}
    for earlier, later in places:
        # A copy itself is passed over: this one is held against its first as well.
        if earlier not in found and later not in found:
            one, other = words.get(int(chunk_of[earlier])), words.get(int(chunk_of[later]))
            if one is not None and other is not None and _are_alike(one, other, asked):
                found[later] = earlier
    return found


def best_chunks(evidence: Evidence) -> Ints:
    """For each candidate file the chunk that is likely to be shown of it; -1: none is known."""
    chunks = evidence.chunks
    best = np.full(len(evidence.files.ids), -1, dtype=np.int64)
    scores = span_scores(
        chunks.bm25, chunks.dense, chunks.defines, is_symbol=evidence.question.is_symbol
    )
    ascending = np.argsort(scores, kind="stable")
    best[chunks.files[ascending]] = chunks.ids[ascending]  # the last one written stays
    return best


def _words_of(snapshot: Snapshot, chunk_ids: Collection[int]) -> dict[int, Counter[str]]:
    rows = list(snapshot.chunks(sorted(chunk_ids)).values())
    texts = snapshot.excerpts([(row.file_id, row.start, row.end) for row in rows])
    return {row.id: Counter(WORD.findall(text)) for row, text in zip(rows, texts, strict=True)}


def _are_alike(one: Counter[str], other: Counter[str], asked: tuple[str, ...]) -> bool:
    """Whether two texts say the same, above all of what was asked for."""
    most = max(one.total(), other.total())
    if most < _MIN_WORDS or (one & other).total() < _SAME_WORDS * most:
        return False
    differing = {part for word in (one - other) + (other - one) for part in split_identifier(word)}
    return not any(part.startswith(asked) for part in differing)
