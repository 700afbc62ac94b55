"""Gradient-boosted trees as arrays: read from a file, and added up with numpy alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from rootle.errors import UnavailableError
from rootle.rank.ranking_inputs import Floats, Ints

_CURE: Final = "install rootle anew"


@dataclass(frozen=True, slots=True)
class GradientBoostedTrees:
    """Trees side by side, each as wide as the widest: shape (trees, nodes).

    A leaf is its own child on both sides, so that every walk may take the same number of steps.
    """

    columns: tuple[str, ...]  # the names that the splits mean by their numbers
    column: NDArray[np.int16]  # what a node looks at
    threshold: Floats  # at most this: to the left
    left: NDArray[np.int16]
    right: NDArray[np.int16]
    value: Floats  # of a leaf
    depth: int  # steps to the deepest leaf

    def scores(self, rows: Floats) -> Floats:
        """The sum of the leaves that each row falls into, shape (rows,)."""
        trees = np.arange(len(self.value))
        nodes: Ints = np.zeros((len(rows), len(trees)), dtype=np.int64)
        at = np.arange(len(rows))[:, None]
        for _ in range(self.depth):
            is_left = rows[at, self.column[trees, nodes]] <= self.threshold[trees, nodes]
            nodes = np.where(is_left, self.left[trees, nodes], self.right[trees, nodes])
        total: Floats = self.value[trees, nodes].sum(axis=1)
        return total


def load_trees(path: Path, columns: tuple[str, ...]) -> GradientBoostedTrees:
    """Raises UnavailableError where the file is not there, is damaged or looks at other columns."""
    try:
        # Opened here: of a damaged file numpy would leave it open.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            forest = GradientBoostedTrees(
                tuple(map(str, stored["columns"])),
                stored["column"],
                stored["threshold"].astype(np.float64),
                stored["left"],
                stored["right"],
                stored["value"].astype(np.float64),
                int(stored["depth"]),
            )
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise UnavailableError(
            f"cannot read the ranker {path}: {error}; install rootle anew"
        ) from error
    if forest.columns != columns:
        raise UnavailableError(f"the ranker {path} was made for other columns; install rootle anew")
    return forest


def save_trees(path: Path, forest: GradientBoostedTrees) -> None:
    np.savez_compressed(
        path,
        columns=np.array(forest.columns),
        column=forest.column,
        threshold=forest.threshold,
        left=forest.left,
        right=forest.right,
        value=forest.value.astype(np.float32),
        depth=forest.depth,
    )
