"""Pairs of the chosen vocabulary, and the batches that training takes them in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from training.pairs.subword_counts import Bags, Integers, Mined, take
from training.pairs.training_pair import KINDS


@dataclass(frozen=True, slots=True)
class BatchSettings:
    pairs: int = 2_048  # of a batch
    run: int = 48  # of one project within a batch
    dropout: float = 0.15  # of a text's subwords
    shared_dropout: float = 0.6  # of a question's subwords that the answer has too …
    shared_share: float = 0.2  # … in this share of the questions
    per_language: int = 100_000  # pairs of an epoch, at most
    per_kind: int = 250_000  # the same
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Batch:
    """Bags over the used rows only; `same_place` marks cells off the diagonal that are no
    negatives."""

    used: Integers
    questions: csr_matrix
    answers: csr_matrix
    same_place: NDArray[np.bool_]


def choose_vocabulary(mined: Mined, size: int, min_projects: int) -> Integers:
    """The old numbers of the words to keep: those that stand in most projects."""
    totals = np.bincount(mined.bags.words, mined.bags.counts, minlength=len(mined.vocabulary))
    order = np.lexsort((-totals, -mined.spread))[:size]
    return order[mined.spread[order] >= min_projects]


def in_vocabulary(bags: Bags, chosen: Integers, words: int) -> Bags:
    """The bags with words renumbered and others dropped; pairs that lose a side are dropped."""
    rows = np.full(words, -1, np.int32)
    rows[chosen] = np.arange(len(chosen))
    renumbered = rows[bags.words]
    kept = renumbered >= 0
    before = np.concatenate([[0], np.cumsum(kept)])
    starts = before[bags.starts]
    smaller = Bags(
        starts, renumbered[kept], bags.counts[kept], bags.kinds, bags.languages, bags.projects,
        bags.places, bags.digests,
    )  # fmt: skip
    sizes = np.diff(starts).reshape(-1, 2)
    return take(smaller, np.flatnonzero((sizes[:, 0] >= 1) & (sizes[:, 1] >= 4)))


class BatchMaker:
    """Batches of runs of one project each, languages balanced, some subwords dropped."""

    def __init__(self, bags: Bags, settings: BatchSettings, rows: int) -> None:
        self._bags = bags
        self._settings = settings
        self._rows = rows
        self._weights = np.sqrt(bags.counts).astype(np.float32)
        drawn = len(self._balanced(np.random.default_rng(settings.seed)))
        self.batches_per_epoch = drawn // settings.pairs

    def epoch(self, number: int) -> Iterator[Batch]:
        rng = np.random.default_rng((self._settings.seed, number))
        chosen = self._balanced(rng)
        runs = _runs(self._bags.projects[chosen], self._settings.run, rng)
        size = self._settings.pairs
        order = chosen[runs]
        # The limits by kind and language leave a few more or fewer pairs from epoch to epoch.
        for at in range(min(self.batches_per_epoch, len(order) // size)):
            yield self._batch(order[at * size : (at + 1) * size], rng)

    def _balanced(self, rng: np.random.Generator) -> Integers:
        """Positions of an epoch's pairs: a part of large languages and kinds, all of the small."""
        order = rng.permutation(len(self._bags))
        for labels, limit in (
            (self._bags.kinds, self._settings.per_kind),
            (self._bags.languages, self._settings.per_language),
        ):
            found = (order[labels[order] == label] for label in np.unique(labels))
            order = np.concatenate([one[:limit] for one in found])
        return order

    def _batch(self, chosen: Integers, rng: np.random.Generator) -> Batch:
        settings, bags = self._settings, self._bags
        question_cells, question_sizes = _cells(bags.starts, 2 * chosen)
        answer_cells, answer_sizes = _cells(bags.starts, 2 * chosen + 1)
        question_kept = rng.random(len(question_cells), np.float32) >= settings.dropout
        thinned = np.repeat(rng.random(len(chosen)) < settings.shared_share, question_sizes)
        unlucky = rng.random(len(question_cells), np.float32) < settings.shared_dropout
        unlucky &= thinned
        unlucky[unlucky] = _is_shared(
            bags.words[question_cells[unlucky]],
            np.repeat(np.arange(len(chosen)), question_sizes)[unlucky],
            bags.words[answer_cells],
            np.repeat(np.arange(len(chosen)), answer_sizes),
        )
        question_kept &= ~unlucky
        answer_kept = rng.random(len(answer_cells), np.float32) >= settings.dropout
        both = np.concatenate([question_cells[question_kept], answer_cells[answer_kept]])
        used, columns = _renumbered(bags.words[both], self._rows)
        split = int(question_kept.sum())
        shape = (len(chosen), len(used))
        questions = _matrix(self._weights[both[:split]], columns[:split],
                            question_sizes, question_kept, shape)  # fmt: skip
        answers = _matrix(self._weights[both[split:]], columns[split:],
                          answer_sizes, answer_kept, shape)  # fmt: skip
        key = bags.projects[chosen].astype(np.int64) << 32 ^ bags.places[chosen]
        same = key[:, None] == key[None, :]
        np.fill_diagonal(same, False)
        return Batch(used, questions, answers, same)


def matrix_of(bags: Bags, side: int, chosen: Integers, rows: int) -> csr_matrix:
    """Questions (side 0) or answers (side 1) of pairs, whole."""
    cells, sizes = _cells(bags.starts, 2 * chosen + side)
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    weights = np.sqrt(bags.counts[cells]).astype(np.float32)
    return csr_matrix((weights, bags.words[cells], indptr), (len(chosen), rows))


def kind_names(bags: Bags, chosen: Integers) -> list[str]:
    return [KINDS[kind] for kind in bags.kinds[chosen]]


def _is_shared(
    words: Integers, texts: Integers, answer_words: Integers, answer_texts: Integers
) -> NDArray[np.bool_]:
    """For each word of a question whether the answer of the same number has it too."""
    used, columns = np.unique(answer_words, return_inverse=True)
    stands = np.zeros((int(answer_texts[-1]) + 1, len(used)), bool)
    stands[answer_texts, columns] = True
    at = np.minimum(np.searchsorted(used, words), len(used) - 1)
    found: NDArray[np.bool_] = stands[texts, at] & (used[at] == words)
    return found


def _cells(starts: Integers, texts: Integers) -> tuple[Integers, Integers]:
    """The cells of some texts one after the other, and how many each has."""
    begins, sizes = starts[texts], starts[texts + 1] - starts[texts]
    ends = np.cumsum(sizes)
    return np.repeat(begins - (ends - sizes), sizes) + np.arange(ends[-1]), sizes


def _renumbered(words: Integers, rows: int) -> tuple[Integers, Integers]:
    seen = np.zeros(rows, bool)
    seen[words] = True
    used = np.flatnonzero(seen)
    numbers = np.cumsum(seen, dtype=np.int32) - 1
    return used, numbers[words]


def _matrix(
    weights: NDArray[np.float32],
    columns: Integers,
    sizes: Integers,
    kept: NDArray[np.bool_],
    shape: tuple[int, int],
) -> csr_matrix:
    before = np.concatenate([[0], np.cumsum(kept)])
    indptr = before[np.concatenate([[0], np.cumsum(sizes)])]
    return csr_matrix((weights, columns, indptr), shape)


def _runs(groups: Integers, length: int, rng: np.random.Generator) -> Integers:
    """All positions, as runs of at most `length` of one group, in random order."""
    order = rng.permutation(len(groups))
    order = order[np.argsort(groups[order], kind="stable")]
    borders = np.flatnonzero(np.diff(groups[order])) + 1
    runs = [
        run[at : at + length]
        for run in np.split(order, borders)
        for at in range(0, len(run), length)
    ]
    return np.concatenate([runs[at] for at in rng.permutation(len(runs))])
