"""Gradient-boosted decision trees as arrays, evaluated with numpy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from rootle.errors import UnavailableError
from rootle.rank.ranking_inputs import Floats, Ints

_REMEDY: Final = "reinstall rootle"


@dataclass(frozen=True, slots=True)
class GradientBoostedTrees:
    """An ensemble of trees. Arrays have the shape (trees, nodes of the largest tree).

    Both children of a leaf are the leaf itself, so that every walk takes the same number of steps.
    """

    columns: tuple[str, ...]  # names of the columns that `column` refers to
    column: NDArray[np.int16]  # column that a node compares
    threshold: Floats  # values up to this one lead to the left child
    left: NDArray[np.int16]
    right: NDArray[np.int16]
    value: Floats  # output of a leaf
    depth: int  # the depth of the deepest leaf

    def scores(self, rows: Floats) -> Floats:
        """Return the sum of the leaf values of each row, shape (rows,)."""
        # `take` from a flat array is several times as fast as an index with two arrays.
        roots = np.arange(len(self.value)) * self.value.shape[1]
        row_starts = np.arange(len(rows))[:, None] * rows.shape[1]
        nodes: Ints = np.repeat(roots[None, :], len(rows), axis=0)
        for _ in range(self.depth):
            compared = rows.take(self.column.take(nodes) + row_starts)
            is_left = compared <= self.threshold.take(nodes)
            nodes = np.where(is_left, self.left.take(nodes), self.right.take(nodes)) + roots
        total: Floats = self.value.take(nodes).sum(axis=1)
        return total


def load_trees(path: Path, columns: tuple[str, ...]) -> GradientBoostedTrees:
    """Load trees from an `.npz` file.

    Raise UnavailableError if the file is missing, damaged or trained for other columns.
    """
    try:
        # If numpy opened the file itself, it would not close a damaged file.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            trees = GradientBoostedTrees(
                tuple(map(str, stored["columns"])),
                stored["column"],
                stored["threshold"].astype(np.float64),
                stored["left"],
                stored["right"],
                stored["value"].astype(np.float64),
                int(stored["depth"]),
            )
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise UnavailableError(f"cannot read the ranker {path}: {error}; {_REMEDY}") from error
    if trees.columns != columns:
        raise UnavailableError(f"the ranker {path} was trained for other columns; {_REMEDY}")
    return trees


def save_trees(path: Path, trees: GradientBoostedTrees) -> None:
    """Write trees to an `.npz` file that `load_trees` reads."""
    np.savez_compressed(
        path,
        columns=np.array(trees.columns),
        column=trees.column,
        threshold=trees.threshold,
        left=trees.left,
        right=trees.right,
        value=trees.value.astype(np.float32),
        depth=trees.depth,
    )
