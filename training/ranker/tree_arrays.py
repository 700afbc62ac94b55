"""Trees of a lightgbm model as the arrays that rootle evaluates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rootle.rank.rankers.tree_ensemble import GradientBoostedTrees

Tree = Mapping[str, Any]  # a node of `Booster.dump_model`, with its children


class TreeNode(NamedTuple):
    """A tree node in an array; a leaf is its own left and right child."""

    column: int
    threshold: float
    left: int
    right: int
    value: float


def to_arrays(trees: Sequence[Tree], columns: tuple[str, ...]) -> GradientBoostedTrees:
    """Return the trees of a lightgbm model as arrays of shape (trees, nodes)."""
    flattened = [flatten_tree(tree) for tree in trees]
    shape = (len(flattened), max(map(len, flattened)))
    column, left = np.zeros(shape, np.int16), np.zeros(shape, np.int16)
    right, threshold, value = np.zeros(shape, np.int16), np.zeros(shape), np.zeros(shape)
    for row, nodes in enumerate(flattened):
        for number, node in enumerate(nodes):
            column[row, number], threshold[row, number] = node.column, node.threshold
            left[row, number], right[row, number] = node.left, node.right
            value[row, number] = node.value
    depth = max(map(tree_depth, trees))
    return GradientBoostedTrees(columns, column, threshold, left, right, value, depth)


def flatten_tree(tree: Tree) -> list[TreeNode]:
    """Return the nodes of a tree, the root first."""
    nodes: list[TreeNode] = []

    def add(node: Tree) -> int:
        number = len(nodes)
        nodes.append(TreeNode(0, 0.0, number, number, 0.0))
        if "split_feature" in node:
            left, right = add(node["left_child"]), add(node["right_child"])
            nodes[number] = TreeNode(node["split_feature"], node["threshold"], left, right, 0.0)
        else:
            nodes[number] = TreeNode(0, 0.0, number, number, node["leaf_value"])
        return number

    add(tree)
    return nodes


def tree_depth(tree: Tree) -> int:
    """Return the number of splits on the longest path."""
    if "split_feature" not in tree:
        return 0
    return 1 + max(tree_depth(tree["left_child"]), tree_depth(tree["right_child"]))
