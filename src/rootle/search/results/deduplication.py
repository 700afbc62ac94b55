"""Files that say the same: shown once, with the paths of the others.

Two files are the same where their bytes are; or where the chunk that would be shown of one is that
of the other but for a few words, as in what a program generates twice. Such chunks have nearly the
same vector, whatever the question, so that only pairs of near vectors are read. Nothing is worked
out or kept for it when files are indexed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rootle.index.local.snapshot import Snapshot
from rootle.rank.ranking_inputs import Ints, RankingInputs
from rootle.rank.spans import span_scores
from rootle.search.results.page import Ranking
from rootle.search.results.working_tree import WorkingTree, WorkingTreeTexts
from rootle.search.retrieval.candidates import MAX_FILES
from rootle.text.terms import WORD, split_identifier

# Measured on four repositories: of two chunks with nine words in ten in common nine in ten have
# vectors this near, and of those that are this near more than half have so many in common.
_NEAR: Final = 0.94
_SAME_WORDS: Final = 0.9
# What has the same words is about as long; how it is indented may differ.
_SAME_SIZE: Final = 0.6
_MAX_KNOWN: Final = 20_000
# Fewer words are a heading or a closing brace, which many files share.
_MIN_WORDS: Final = 20
# A copy far down disturbs nobody; after so many copies among the first all are looked at.
_LOOKED_AT: Final = 20
_MANY: Final = 5
# What is read is bounded, whatever the tree looks like.
_MAX_PAIRS: Final = 200


@dataclass(frozen=True, slots=True)
class Collapsed:
    """An order without copies, and for each file that has some their paths."""

    order: Sequence[int]  # positions among the candidate files
    copies: Mapping[int, tuple[str, ...]]  # by the id of the file that is shown
    hidden: frozenset[int] = frozenset()  # the ids of the copies


def collapse_duplicates(
    snapshot: Snapshot,
    ranking: Ranking,
    allowed: Collection[int] | None,
    twins: NearDuplicates,
    tree: WorkingTree | None,
) -> Collapsed:
    """Of files that say the same the best stays in the order; copies are among the allowed.

    What they say is read from the files of a tree, or from the index where there is none.
    """
    evidence, order = ranking.evidence, ranking.ranked.order
    same_bytes = _same_bytes(ranking)
    first_of = dict(same_bytes)
    left = [at for at in order if at not in first_of]
    reader = _Reader(snapshot, WorkingTreeTexts(tree, snapshot, ranking.files), twins)
    first_of.update(_same_words(reader, evidence, left))
    if not first_of:
        return Collapsed(order, {})
    ids = evidence.files.ids.tolist()
    copies: dict[int, dict[int, str]] = {}
    for at in first_of:
        shown = at
        while shown in first_of:
            shown = first_of[shown]
        copies.setdefault(ids[shown], {})[ids[at]] = evidence.files.paths[at]
    if len(same_bytes) >= _MANY and len(ids) >= MAX_FILES:  # there may be more than were found
        _add_all(copies, snapshot, ranking, allowed)
    return Collapsed(
        tuple(at for at in order if at not in first_of),
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
    for state in snapshot.files_with_digests([digest for digest in shown_of if digest is not None]):
        shown = shown_of[state.digest]
        if state.id != shown and (allowed is None or state.id in allowed):
            copies[shown][state.id] = state.path


def _same_bytes(ranking: Ranking) -> dict[int, int]:
    """For each position whose bytes stand before it in the order the position of the first."""
    digests = [ranking.files[at].digest for at in ranking.evidence.files.ids.tolist()]
    if len(set(digests)) == len(digests):
        return {}
    seen: dict[object, int] = {}
    found = {}
    for at in ranking.ranked.order:
        first = seen.setdefault(digests[at] or at, at)
        if first != at:
            found[at] = first
    return found


def _same_words(reader: _Reader, evidence: RankingInputs, order: Sequence[int]) -> dict[int, int]:
    """The same for those whose best chunk has nearly the words of another's."""
    if len(order) < 2:
        return {}
    chunk_of = best_chunks(evidence)
    is_known = (chunk_of >= 0).tolist()
    having = [at for at in order if is_known[at]]
    if len(having) < 2 or not len(reader.snapshot.dense.chunk_ids):
        return {}
    found = _twins(reader, evidence, having[:_LOOKED_AT], chunk_of)
    if len(found) >= _MANY:  # what follows may be more of the same
        found = _twins(reader, evidence, having, chunk_of)
    return found


def _twins(
    reader: _Reader, evidence: RankingInputs, order: Sequence[int], chunk_of: Ints
) -> dict[int, int]:
    likeness = reader.snapshot.dense.similarities(chunk_of[order])
    ones, others = (likeness >= _NEAR).nonzero()
    pairs = [(i, j) for i, j in zip(ones.tolist(), others.tolist(), strict=True) if i < j]
    if not pairs:
        return {}
    asked = tuple(term.text for term in evidence.question.content_terms)
    found: dict[int, int] = {}
    for one, other in pairs[:_MAX_PAIRS]:
        earlier, later = order[one], order[other]
        # A copy itself is passed over: this one is held against its first as well.
        if earlier not in found and later not in found:
            differing = reader.difference(int(chunk_of[earlier]), int(chunk_of[later]))
            if differing is not None and not any(part.startswith(asked) for part in differing):
                found[later] = earlier
    return found


def best_chunks(evidence: RankingInputs) -> Ints:
    """For each candidate file the chunk that is likely to be shown of it; -1: none is known."""
    chunks = evidence.chunks
    best = np.full(len(evidence.files.ids), -1, dtype=np.int64)
    scores = span_scores(
        chunks.bm25, chunks.dense, chunks.defines, is_symbol=evidence.question.is_symbol
    )
    ascending = scores.argsort(kind="stable")
    best[chunks.files[ascending]] = chunks.ids[ascending]  # the last one written stays
    return best


class NearDuplicates:
    """In what chunks with nearly the same words differ, read once for each pair of a generation."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], frozenset[str] | None] = {}

    def difference(
        self, pair: tuple[int, int], read: Callable[[tuple[int, int]], frozenset[str] | None]
    ) -> frozenset[str] | None:
        """What is known of a pair, or else is read."""
        if pair not in self._known:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            self._known[pair] = read(pair)
        return self._known[pair]


@dataclass(frozen=True, slots=True)
class _Reader:
    """What chunks say."""

    snapshot: Snapshot
    texts: WorkingTreeTexts
    known: NearDuplicates

    def difference(self, one: int, other: int) -> frozenset[str] | None:
        """The words that stand in one of two chunks alone, in their parts; None for no twins."""
        return self.known.difference((min(one, other), max(one, other)), self._read)

    def _read(self, pair: tuple[int, int]) -> frozenset[str] | None:
        known = self.snapshot.chunks(pair)
        rows = [known[chunk_id] for chunk_id in pair]
        sizes = [row.end - row.start for row in rows]
        if min(sizes) < _SAME_SIZE * max(sizes):
            return None
        texts = self.texts.excerpts([(row.file_id, row.start, row.end) for row in rows])
        words = [WORD.findall(text) for text in texts]
        fewest, most = sorted(map(len, words))
        if most < _MIN_WORDS or fewest < _SAME_WORDS * most:
            return None
        left, right = map(Counter, words)
        only_left, only_right = left - right, right - left
        if len(words[0]) - only_left.total() < _SAME_WORDS * most:
            return None
        differing = {*only_left, *only_right}
        return frozenset(part for word in differing for part in split_identifier(word))
