"""Evaluation on held-out projects, which selects the best epoch."""

from __future__ import annotations

import zlib
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from training.embedding.batches import count_matrix
from training.embedding.contrastive import embed_counts
from training.pairs.subword_counts import ExtractedPairs, Integers, PairCounts
from training.pairs.text_pair import KINDS

# One project in sixteen is held out. The choice depends only on the name, so all runs agree.
PROJECTS_PER_HELD_OUT: Final = 16
MAX_PAIRS: Final = 400  # per project
MIN_PAIRS: Final = 60
TOP_K: Final = 10
# Kinds that resemble a question; a path or a bare name does not.
QUESTION_KINDS: Final = (
    "doc", "bare", "message", "mention", "tested", "heading", "sentence", "commit",
)  # fmt: skip


def is_held_out(project: str) -> bool:
    """Return whether a project is excluded from training."""
    return zlib.crc32(f"held-out {project}".encode()) % PROJECTS_PER_HELD_OUT == 0


def held_out_mask(extracted: ExtractedPairs, pairs: PairCounts) -> NDArray[np.bool_]:
    """Return, for each pair, whether its project is held out."""
    projects = np.array([is_held_out(name) for name in extracted.project_names])
    mask: NDArray[np.bool_] = projects[pairs.projects]
    return mask


class HeldOutPairs:
    """Queries of held-out projects; each answer is ranked among all answers of its project."""

    def __init__(self, pairs: PairCounts, rows: int) -> None:
        """`rows` is the size of the vocabulary."""
        rng = np.random.default_rng(7)
        kinds = [KINDS.index(kind) for kind in QUESTION_KINDS]
        self._tasks: list[tuple[csr_matrix, csr_matrix, Integers]] = []
        self.count = 0
        for project in np.unique(pairs.projects):
            found = np.flatnonzero((pairs.projects == project) & np.isin(pairs.kinds, kinds))
            if len(found) < MIN_PAIRS:
                continue
            chosen = np.sort(rng.permutation(found)[:MAX_PAIRS])
            queries, answers = (count_matrix(pairs, side, chosen, rows) for side in (0, 1))
            self._tasks.append((queries, answers, pairs.answer_ids[chosen]))
            self.count += len(chosen)

    def mrr(self, rows: NDArray[np.float32]) -> float:
        """Return the mean reciprocal rank of the answers."""
        return self.evaluate(rows)[0]

    def evaluate(self, rows: NDArray[np.float32]) -> tuple[float, float]:
        """Return the mean reciprocal rank, and the share of answers among the first ten."""
        ranks = np.concatenate(
            [
                answer_ranks(embed_counts(rows, queries) @ embed_counts(rows, answers).T, ids)
                for queries, answers, ids in self._tasks
            ]
        )
        return float(np.mean(1 / ranks)), float(np.mean(ranks <= TOP_K))


def answer_ranks(scores: NDArray[np.float32], answer_ids: Integers) -> Integers:
    """Return the rank of each query's own answer, whose score is on the diagonal.

    Other answers with the same id are ignored. Ties count against the query.
    """
    own = np.diagonal(scores).copy()
    rivals = np.where(answer_ids[:, None] == answer_ids[None, :], -np.inf, scores)
    ranks: Integers = (rivals >= own[:, None]).sum(axis=1) + 1
    return ranks
