"""Early stopping: how well the pairs of held-out projects find their answers."""

from __future__ import annotations

import zlib
from typing import Final

import numpy as np
from numpy.typing import NDArray

from training.embedding.batches import matrix_of
from training.embedding.contrastive import embed
from training.pairs.subword_counts import Bags, Integers, Mined
from training.pairs.training_pair import KINDS

# Whole projects, a share of them by their names: the same on every run.
ONE_IN: Final = 16
PAIRS: Final = 400  # of a project
MIN_PAIRS: Final = 60
TOP_K: Final = 10
# What resembles a question; a path or a bare name does not.
ASKED: Final = ("doc", "bare", "message", "mention", "tested", "heading", "sentence", "commit")


def is_held_out(project: str) -> bool:
    return zlib.crc32(f"held-out {project}".encode()) % ONE_IN == 0


def held_out_pairs(mined: Mined, bags: Bags) -> NDArray[np.bool_]:
    """Which pairs are never trained on."""
    projects = np.array([is_held_out(name) for name in mined.project_names])
    return projects[bags.projects]


class HeldOut:
    """MRR and recall of questions among all answers of the same project."""

    def __init__(self, bags: Bags, rows: int) -> None:
        rng = np.random.default_rng(7)
        asked = [KINDS.index(kind) for kind in ASKED]
        self._tasks = []
        self.pairs = 0
        for project in np.unique(bags.projects):
            found = np.flatnonzero((bags.projects == project) & np.isin(bags.kinds, asked))
            if len(found) < MIN_PAIRS:
                continue
            chosen = np.sort(rng.permutation(found)[:PAIRS])
            questions, answers = (matrix_of(bags, side, chosen, rows) for side in (0, 1))
            self._tasks.append((questions, answers, bags.places[chosen]))
            self.pairs += len(chosen)

    def mrr(self, rows: NDArray[np.float32]) -> float:
        return self.figures(rows)[0]

    def figures(self, rows: NDArray[np.float32]) -> tuple[float, float]:
        """Mean reciprocal rank, and the share of answers among the first ten."""
        ranks = np.concatenate([_ranks(rows, *task) for task in self._tasks])
        return float(np.mean(1 / ranks)), float(np.mean(ranks <= TOP_K))


def _ranks(
    rows: NDArray[np.float32], questions: object, answers: object, places: Integers
) -> Integers:
    scores = embed(rows, questions) @ embed(rows, answers).T
    own = np.diagonal(scores).copy()
    # Another pair about the same place is no rival.
    scores[places[:, None] == places[None, :]] = -np.inf
    return (scores >= own[:, None]).sum(axis=1) + 1
