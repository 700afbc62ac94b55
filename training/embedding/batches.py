"""The training vocabulary, and batches of pairs with negatives from the same project."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from training.pairs.subword_counts import ExtractedPairs, Integers, PairCounts, select_pairs

Booleans = NDArray[np.bool_]
MIN_QUERY_WORDS, MIN_ANSWER_WORDS = 1, 4


@dataclass(frozen=True, slots=True)
class BatchSettings:
    """Composition of the batches."""

    pairs: int = 2_048  # per batch
    run: int = 48  # consecutive pairs from the same project
    dropout: float = 0.15  # share of a text's subwords to drop
    shared_dropout: float = 0.6  # share of a query's subwords to drop if the answer has them
    shared_share: float = 0.2  # share of the queries to which shared_dropout applies
    per_language: int = 100_000  # pairs per epoch, at most
    per_kind: int = 250_000  # pairs per epoch, at most
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of pairs. Its matrices have one column for each row number in `used`.

    `same_answer[i, j]` is true if the pairs i and j have the same answer, so that neither is a
    negative of the other.
    """

    used: Integers  # numbers of the rows of the embedding table that the pairs need
    queries: csr_matrix
    answers: csr_matrix
    same_answer: Booleans  # False on the diagonal


def choose_vocabulary(pairs: ExtractedPairs, size: int, min_projects: int) -> Integers:
    """Return the ids of the words that occur in the most projects."""
    counts = pairs.counts
    totals = np.bincount(counts.words, counts.counts, minlength=len(pairs.vocabulary))
    order: Integers = np.lexsort((-totals, -pairs.project_counts))[:size]
    return order[pairs.project_counts[order] >= min_projects]


def restrict_vocabulary(pairs: PairCounts, chosen: Integers, words: int) -> PairCounts:
    """Return the pairs in a smaller vocabulary, without pairs that become too short.

    `chosen` holds the old numbers of the words to keep; `words` is the size of the old vocabulary.
    """
    rows = np.full(words, -1, np.int32)
    rows[chosen] = np.arange(len(chosen))
    renumbered = rows[pairs.words]
    kept = renumbered >= 0
    kept_before = np.concatenate([[0], np.cumsum(kept)])
    starts = kept_before[pairs.starts]
    smaller = PairCounts(
        starts, renumbered[kept], pairs.counts[kept], pairs.kinds, pairs.languages,
        pairs.projects, pairs.answer_ids, pairs.digests,
    )  # fmt: skip
    sizes = np.diff(starts).reshape(-1, 2)
    is_usable = (sizes[:, 0] >= MIN_QUERY_WORDS) & (sizes[:, 1] >= MIN_ANSWER_WORDS)
    return select_pairs(smaller, np.flatnonzero(is_usable))


class BatchSampler:
    """Random batches of runs (pairs of one project), balanced by kind and language."""

    def __init__(self, pairs: PairCounts, settings: BatchSettings, rows: int) -> None:
        """`rows` is the size of the vocabulary."""
        self._pairs = pairs
        self._settings = settings
        self._rows = rows
        self._weights = np.sqrt(pairs.counts).astype(np.float32)
        drawn = len(self._draw_balanced(np.random.default_rng(settings.seed)))
        self.batches_per_epoch = drawn // settings.pairs

    def epoch(self, number: int) -> Iterator[Batch]:
        """Yield the batches of an epoch."""
        rng = np.random.default_rng((self._settings.seed, number))
        chosen = self._draw_balanced(rng)
        runs = group_runs(self._pairs.projects[chosen], self._settings.run, rng)
        size = self._settings.pairs
        order = chosen[runs]
        # The limits by kind and language select a slightly different number of pairs in each epoch.
        for at in range(min(self.batches_per_epoch, len(order) // size)):
            yield self._make_batch(order[at * size : (at + 1) * size], rng)

    def _draw_balanced(self, rng: np.random.Generator) -> Integers:
        """Return an epoch's pairs: all of the rare kinds and languages, some of the others."""
        order: Integers = rng.permutation(len(self._pairs))
        for labels, limit in (
            (self._pairs.kinds, self._settings.per_kind),
            (self._pairs.languages, self._settings.per_language),
        ):
            groups = (order[labels[order] == label] for label in np.unique(labels))
            order = np.concatenate([group[:limit] for group in groups])
        return order

    def _make_batch(self, chosen: Integers, rng: np.random.Generator) -> Batch:
        pairs = self._pairs
        query_cells, query_sizes = text_cells(pairs.starts, 2 * chosen)
        answer_cells, answer_sizes = text_cells(pairs.starts, 2 * chosen + 1)
        query_kept = self._draw_query_words(
            (query_cells, query_sizes), (answer_cells, answer_sizes), rng
        )
        answer_kept = rng.random(len(answer_cells), np.float32) >= self._settings.dropout
        cells = np.concatenate([query_cells[query_kept], answer_cells[answer_kept]])
        used, columns = _renumber(pairs.words[cells], self._rows)
        split = int(query_kept.sum())
        weights, width = self._weights[cells], len(used)
        queries = _kept_matrix((weights[:split], columns[:split]), query_sizes, query_kept, width)
        answers = _kept_matrix((weights[split:], columns[split:]), answer_sizes, answer_kept, width)
        key = pairs.projects[chosen].astype(np.int64) << 32 ^ pairs.answer_ids[chosen]
        same_answer = key[:, None] == key[None, :]
        np.fill_diagonal(same_answer, False)
        return Batch(used, queries, answers, same_answer)

    def _draw_query_words(
        self,
        queries: tuple[Integers, Integers],
        answers: tuple[Integers, Integers],
        rng: np.random.Generator,
    ) -> Booleans:
        """Return, for each cell of the queries, whether to keep it.

        A cell is the position of one subword of a text. Queries and answers are given as cells and
        the number of cells per text.
        """
        settings, words = self._settings, self._pairs.words
        cells, sizes = queries
        answer_cells, answer_sizes = answers
        numbers = np.arange(len(sizes))
        kept = rng.random(len(cells), np.float32) >= settings.dropout
        thinned = np.repeat(rng.random(len(sizes)) < settings.shared_share, sizes)
        dropped = rng.random(len(cells), np.float32) < settings.shared_dropout
        dropped &= thinned
        dropped[dropped] = is_in_answer(
            (words[cells[dropped]], np.repeat(numbers, sizes)[dropped]),
            (words[answer_cells], np.repeat(numbers, answer_sizes)),
        )
        return kept & ~dropped


def count_matrix(pairs: PairCounts, side: int, chosen: Integers, rows: int) -> csr_matrix:
    """Return sqrt(count) of each subword in queries (side 0) or answers (side 1) of pairs."""
    cells, sizes = text_cells(pairs.starts, 2 * chosen + side)
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    weights = np.sqrt(pairs.counts[cells]).astype(np.float32)
    return csr_matrix((weights, pairs.words[cells], indptr), (len(chosen), rows))


def is_in_answer(
    query_words: tuple[Integers, Integers], answer_words: tuple[Integers, Integers]
) -> Booleans:
    """Return, for each query word, whether the answer of the same pair contains it.

    Each argument consists of words and, for each word, the number of its pair.
    """
    words, texts = query_words
    others, other_texts = answer_words
    used, columns = np.unique(others, return_inverse=True)
    occurs = np.zeros((int(other_texts[-1]) + 1, len(used)), bool)
    occurs[other_texts, columns] = True
    nearest = np.minimum(np.searchsorted(used, words), len(used) - 1)
    found: Booleans = occurs[texts, nearest] & (used[nearest] == words)
    return found


def text_cells(starts: Integers, texts: Integers) -> tuple[Integers, Integers]:
    """Return the positions of all words of some texts in order, and each text's word count."""
    begins, sizes = starts[texts], starts[texts + 1] - starts[texts]
    ends = np.cumsum(sizes)
    return np.repeat(begins - (ends - sizes), sizes) + np.arange(ends[-1]), sizes


def group_runs(groups: Integers, length: int, rng: np.random.Generator) -> Integers:
    """Return all positions as runs of at most `length` positions of one group, in random order."""
    order = rng.permutation(len(groups))
    order = order[np.argsort(groups[order], kind="stable")]
    bounds = np.flatnonzero(np.diff(groups[order])) + 1
    runs = [
        group[start : start + length]
        for group in np.split(order, bounds)
        for start in range(0, len(group), length)
    ]
    return np.concatenate([runs[number] for number in rng.permutation(len(runs))])


def _renumber(words: Integers, rows: int) -> tuple[Integers, Integers]:
    """Return the distinct words in order, and the position of each word among them."""
    occurs = np.zeros(rows, bool)
    occurs[words] = True
    numbers = np.cumsum(occurs, dtype=np.int32) - 1
    return np.flatnonzero(occurs), numbers[words]


def _kept_matrix(
    cells: tuple[Integers, Integers], sizes: Integers, kept: Booleans, width: int
) -> csr_matrix:
    """Return a matrix of the kept cells, given as weights and columns, with one row per text."""
    kept_before = np.concatenate([[0], np.cumsum(kept)])
    indptr = kept_before[np.concatenate([[0], np.cumsum(sizes)])]
    return csr_matrix((*cells, indptr), (len(sizes), width))
