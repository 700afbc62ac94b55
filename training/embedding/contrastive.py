"""Trains the table of rows: contrastive loss over bags of subwords, gradients by hand in numpy.

A batch is made of runs: some pairs of one project each, so that a pair's negatives are partly the
neighbours that a search has to tell apart, partly anything. The loss is the mean of both directions
of InfoNCE (van den Oord et al., 2018) over cosines; pairs about the same place are no negatives.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from training.embedding.batches import Batch, BatchMaker

Floats = NDArray[np.float32]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TrainSettings:
    dimensions: int = 256
    temperature: float = 0.05
    epochs: int = 3
    learning_rate: float = 0.012
    final_share: float = 0.02  # of the learning rate at the end; it falls linearly
    beta_second: float = 0.999
    longest: float = 2.5  # a row; every step lengthens a frequent word's row, see README.md
    seed: int = 1


def initial_rows(spread: NDArray[np.integer], projects: int, settings: TrainSettings) -> Floats:
    """Random directions; a word's length starts as how few projects have it (its IDF)."""
    rng = np.random.default_rng(settings.seed)
    rows = rng.standard_normal((len(spread), settings.dimensions)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    weight = np.log((projects + 1) / (spread + 0.5))
    rows *= np.maximum(weight, 0.2)[:, None].astype(np.float32)
    return rows / np.float32(weight.mean())


def train(
    rows: Floats,
    maker: BatchMaker,
    settings: TrainSettings,
    check: Callable[[Floats], float],
) -> Floats:
    """The rows of the best epoch by `check`, which is given them after each."""
    optimizer = LazyAdam(rows, settings)
    best, best_figure = rows.copy(), -1.0
    steps = settings.epochs * maker.batches_per_epoch
    step, started, smooth = 0, time.monotonic(), 0.0
    for epoch in range(settings.epochs):
        for batch in maker.epoch(epoch):
            rate = settings.learning_rate * max(settings.final_share, 1 - step / steps)
            loss = train_step(rows, batch, optimizer, settings.temperature, rate)
            smooth = loss if not step else 0.98 * smooth + 0.02 * loss
            step += 1
            if step % 100 == 0:
                _log.info("step %d/%d loss %.4f %.0f s", step, steps, smooth,
                          time.monotonic() - started)  # fmt: skip
        figure = check(rows)
        _log.info("epoch %d: held-out %.4f", epoch + 1, figure)
        if figure > best_figure:
            best, best_figure = rows.copy(), figure
    return best


def train_step(
    rows: Floats, batch: Batch, optimizer: LazyAdam, temperature: float, rate: float
) -> float:
    """One step on a batch; returns its loss."""
    used, questions, answers = batch.used, batch.questions, batch.answers
    table = rows[used]
    q, q_norms = unit(np.asarray(questions @ table))
    a, a_norms = unit(np.asarray(answers @ table))
    logits = (q @ a.T) / np.float32(temperature)
    logits[batch.same_place] = -1e4
    loss, slope = _info_nce(logits)
    slope /= np.float32(temperature)
    q_slope = through_norm(slope @ a, q, q_norms)
    a_slope = through_norm(slope.T @ q, a, a_norms)
    gradient = np.asarray(questions.T @ q_slope) + np.asarray(answers.T @ a_slope)
    optimizer.update(used, table, gradient, rate)
    return loss


class LazyAdam:
    """Adam (Kingma and Ba, 2015) without momentum, on the rows that a batch has, one scale a row.

    A scale for each number of a row took twice the time and memory and was no better.
    """

    def __init__(self, rows: Floats, settings: TrainSettings) -> None:
        self._rows = rows
        self._beta = settings.beta_second
        self._longest = settings.longest
        self._second = np.zeros(len(rows), np.float32)
        self._times = np.zeros(len(rows), np.int64)

    def update(
        self, used: NDArray[np.integer], table: Floats, gradient: Floats, rate: float
    ) -> None:
        self._times[used] += 1
        square = np.einsum("ij,ij->i", gradient, gradient) / gradient.shape[1]
        second = self._beta * self._second[used] + (1 - self._beta) * square
        self._second[used] = second
        unbiased = second / (1 - self._beta ** self._times[used])
        step = (rate / (np.sqrt(unbiased) + 1e-12)).astype(np.float32)
        moved = table - step[:, None] * gradient
        lengths = np.linalg.norm(moved, axis=1, keepdims=True)
        moved *= np.minimum(1, self._longest / np.maximum(lengths, 1e-6))
        self._rows[used] = moved


def unit(vectors: Floats) -> tuple[Floats, Floats]:
    """Vectors of unit length, and how long they were."""
    norms = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
    return vectors / norms, norms


def through_norm(slope: Floats, units: Floats, norms: Floats) -> Floats:
    """The slope by a vector, given that by the same vector made unit length."""
    along = np.einsum("ij,ij->i", slope, units)[:, None]
    return (slope - along * units) / norms


def _info_nce(logits: Floats) -> tuple[float, Floats]:
    """The mean loss of both directions, and its slope by the logits."""
    count = len(logits)
    diagonal = np.diagonal(logits).copy()
    highest = logits.max()
    powers = np.exp(logits - highest)
    by_row, by_column = powers.sum(axis=1), powers.sum(axis=0)
    loss = float(np.mean((np.log(by_row) + np.log(by_column)) / 2 + highest - diagonal))
    slope = powers * (0.5 / by_row[:, None] + 0.5 / by_column[None, :])
    slope[np.arange(count), np.arange(count)] -= 1
    return loss, slope / np.float32(count)


def embed(rows: Floats, bags: csr_matrix) -> Floats:
    """Unit vectors of bags, as the index makes them."""
    return unit(np.asarray(bags @ rows, np.float32))[0]
