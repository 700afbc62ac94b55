"""Learn how to change the vectors of everyday words so that questions are near their answers.

The vectors of the answers are those of the shipped embedding model and stay as they are. The loss
is the mean of both directions of InfoNCE (van den Oord et al., 2018) within a batch.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from rootle.text.terms import WORD, split_identifier
from training.embedding.contrastive import (
    LazyAdam,
    TrainSettings,
    info_nce,
    normalization_gradient,
    normalize,
)

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Settings:
    """Hyperparameters, chosen on held-out pairs and on the tune splits of the labels."""

    epochs: int = 6
    batch: int = 256
    temperature: float = 0.07
    learning_rate: float = 0.003
    final_share: float = 0.05  # share of the learning rate after its linear decay
    dropout: float = 0.2
    seed: int = 0


# The learned change vectors are short, so the length of a row needs no limit.
_ADAM: Final = TrainSettings(beta_second=0.99, max_row_length=math.inf)


def count_subwords(texts: Sequence[str], row_of: dict[str, int]) -> csr_matrix:
    """Return sqrt(count) of each text's known subwords, scaled so that each row has unit length."""
    rows, columns, values = [], [], []
    for at, text in enumerate(texts):
        parts = chain.from_iterable(map(split_identifier, WORD.findall(text)))
        counts = Counter(row_of[part] for part in parts if part in row_of)
        total = sum(counts.values())
        for row, count in counts.items():
            rows.append(at)
            columns.append(row)
            values.append(np.sqrt(count / total))
    shape = (len(texts), len(row_of))
    return csr_matrix((np.array(values, np.float32), (rows, columns)), shape=shape)


def train_changes(
    bags: csr_matrix, questions: Floats, answers: Floats, settings: Settings
) -> Floats:
    """Return the change of each row of the table.

    The vector of question i is `questions[i]` plus the changes of its words, weighted by row i of
    `bags`. `answers[i]` is the unit vector of its answer.
    """
    rng = np.random.default_rng(settings.seed)
    changes = np.zeros((bags.shape[1], answers.shape[1]), np.float32)
    optimizer = LazyAdam(changes, _ADAM)
    per_epoch = len(answers) // settings.batch
    for step in range(settings.epochs * per_epoch):
        if step % per_epoch == 0:
            order = rng.permutation(len(answers))
        start = step % per_epoch * settings.batch
        at = order[start : start + settings.batch]
        bag = bags[at]
        kept = rng.random(len(bag.data)) > settings.dropout
        bag.data = (bag.data * kept / (1 - settings.dropout)).astype(np.float32)
        slope = _slope(questions[at] + bag @ changes, answers[at], settings.temperature)
        used = np.unique(bag.indices)
        gradient = np.asarray(bag[:, used].T @ slope)
        decay = max(settings.final_share, 1 - step / (settings.epochs * per_epoch))
        optimizer.update(used, gradient, settings.learning_rate * decay)
    return changes


def reduce_changes(changes: Floats, dimensions: int) -> tuple[Floats, Floats]:
    """Return codes and a basis whose product approximates the changes (truncated SVD)."""
    _, _, basis = np.linalg.svd(changes, full_matrices=False)
    basis = basis[:dimensions].astype(np.float32)
    return changes @ basis.T, basis


def _slope(questions: Floats, answers: Floats, temperature: float) -> Floats:
    """Return the gradient of the loss with respect to the vectors of the questions."""
    units, lengths = normalize(questions)
    _, slope = info_nce((units @ answers.T) / np.float32(temperature))
    slope /= np.float32(temperature)
    return normalization_gradient(slope @ answers, units, lengths)
