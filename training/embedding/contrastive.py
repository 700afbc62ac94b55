"""Contrastive training of the table of subword rows, with gradients in numpy.

A batch consists of runs of pairs, each run from one project. Some negatives of a pair are therefore
texts that are similar to its answer and that a search must distinguish from it; the others are
unrelated. The loss is the mean of both directions of InfoNCE (van den Oord et al., 2018) over
cosines; pairs with the same answer are not negatives.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from training.embedding.batches import Batch, BatchSampler
from training.pairs.subword_counts import Integers

Floats = NDArray[np.float32]

_LOG_INTERVAL = 100  # steps
_EXCLUDED_LOGIT = -1e4

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """Hyperparameters of one training phase."""

    dimensions: int = 256
    temperature: float = 0.05
    epochs: int = 3
    learning_rate: float = 0.012
    final_share: float = 0.02  # share of the learning rate after its linear decay
    beta_second: float = 0.999
    max_row_length: float = 2.5  # training lengthens the rows of frequent words (README.md)
    seed: int = 1


def initial_rows(project_counts: Integers, projects: int, settings: TrainSettings) -> Floats:
    """Return rows of random direction, with lengths proportional to the IDF counted in projects."""
    rng = np.random.default_rng(settings.seed)
    shape = (len(project_counts), settings.dimensions)
    rows = rng.standard_normal(shape).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    weight = np.log((projects + 1) / (project_counts + 0.5))
    rows *= np.maximum(weight, 0.2)[:, None].astype(np.float32)
    return rows / np.float32(weight.mean())


def train(
    rows: Floats,
    sampler: BatchSampler,
    settings: TrainSettings,
    evaluate: Callable[[Floats], float],
) -> Floats:
    """Train in place; return the rows after the epoch with the highest value of `evaluate`."""
    optimizer = LazyAdam(rows, settings)
    best, best_figure = rows.copy(), -1.0
    steps = settings.epochs * sampler.batches_per_epoch
    step, started, smooth = 0, time.monotonic(), 0.0
    for epoch in range(settings.epochs):
        for batch in sampler.epoch(epoch):
            rate = settings.learning_rate * max(settings.final_share, 1 - step / steps)
            loss = train_step(optimizer, batch, settings.temperature, rate)
            smooth = loss if not step else 0.98 * smooth + 0.02 * loss
            step += 1
            if step % _LOG_INTERVAL == 0:
                seconds = time.monotonic() - started
                _log.info("step %d/%d loss %.4f %.0f s", step, steps, smooth, seconds)
        figure = evaluate(rows)
        _log.info("epoch %d: held-out %.4f", epoch + 1, figure)
        if figure > best_figure:
            best, best_figure = rows.copy(), figure
    return best


def train_step(optimizer: LazyAdam, batch: Batch, temperature: float, rate: float) -> float:
    """Update the rows that a batch uses; return its loss."""
    table = optimizer.rows[batch.used]
    queries, query_lengths = normalize(np.asarray(batch.queries @ table))
    answers, answer_lengths = normalize(np.asarray(batch.answers @ table))
    logits = (queries @ answers.T) / np.float32(temperature)
    logits[batch.same_answer] = _EXCLUDED_LOGIT
    loss, slope = info_nce(logits)
    slope /= np.float32(temperature)
    query_slope = normalization_gradient(slope @ answers, queries, query_lengths)
    answer_slope = normalization_gradient(slope.T @ queries, answers, answer_lengths)
    gradient = np.asarray(batch.queries.T @ query_slope)
    gradient += np.asarray(batch.answers.T @ answer_slope)
    optimizer.update(batch.used, gradient, rate)
    return loss


class LazyAdam:
    """Adam (Kingma and Ba, 2015) without momentum, with one scale per row; updates only used rows.

    Adam's usual scale per component took twice the time and memory without a better result.
    """

    def __init__(self, rows: Floats, settings: TrainSettings) -> None:
        """Update `rows` in place."""
        self.rows = rows
        self._beta = settings.beta_second
        self._max_length = settings.max_row_length
        self._second = np.zeros(len(rows), np.float32)
        self._updates = np.zeros(len(rows), np.int64)

    def update(self, used: Integers, gradient: Floats, rate: float) -> None:
        """Move the used rows against the gradient; shorten rows above the maximum length."""
        self._updates[used] += 1
        square = np.einsum("ij,ij->i", gradient, gradient) / gradient.shape[1]
        second = self._beta * self._second[used] + (1 - self._beta) * square
        self._second[used] = second
        unbiased = second / (1 - self._beta ** self._updates[used])
        step = (rate / (np.sqrt(unbiased) + 1e-12)).astype(np.float32)
        moved = self.rows[used] - step[:, None] * gradient
        lengths = np.linalg.norm(moved, axis=1, keepdims=True)
        moved *= np.minimum(1, self._max_length / np.maximum(lengths, 1e-6))
        self.rows[used] = moved


def normalize(vectors: Floats) -> tuple[Floats, Floats]:
    """Return the vectors with unit length, and their lengths as a column."""
    lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
    return vectors / lengths, lengths


def normalization_gradient(slope: Floats, units: Floats, lengths: Floats) -> Floats:
    """Return the gradient for vectors, given the gradient for the same vectors at unit length."""
    along = np.einsum("ij,ij->i", slope, units)[:, None]
    gradient: Floats = (slope - along * units) / lengths
    return gradient


def info_nce(logits: Floats) -> tuple[float, Floats]:
    """Return the mean loss of both directions, and its gradient with respect to the logits."""
    count = len(logits)
    diagonal = np.diagonal(logits).copy()
    highest = logits.max()
    powers = np.exp(logits - highest)
    by_row, by_column = powers.sum(axis=1), powers.sum(axis=0)
    loss = float(np.mean((np.log(by_row) + np.log(by_column)) / 2 + highest - diagonal))
    slope = powers * (0.5 / by_row[:, None] + 0.5 / by_column[None, :])
    slope[np.arange(count), np.arange(count)] -= 1
    return loss, slope / np.float32(count)


def embed_counts(rows: Floats, counts: csr_matrix) -> Floats:
    """Return the unit vectors of texts from their subword counts, as in the index."""
    return normalize(np.asarray(counts @ rows, np.float32))[0]
