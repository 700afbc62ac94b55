"""The lines of a node in a syntax tree."""

from __future__ import annotations

from collections.abc import Sequence

from tree_sitter import Node


def row_range(node: Node, rows: Sequence[str]) -> tuple[int, int]:
    """Return the first line of a node and the line after its last line, counted from 0.

    `rows` are the lines of the text.
    """
    first, column = node.start_point
    end, stop = node.end_point
    last = node
    while last.children and end > first and not rows[end][:stop].strip():
        # In Scala, an indented block contains the spaces and comments before the next definition.
        inside = (one for one in reversed(last.children) if not _is_outside(one, column))
        last = next(inside, last.children[0])
        end, stop = last.end_point
    # Some nodes include the final newline, so they end at the start of the next line.
    return first, max(first + 1, end + 1 if stop else end)


def _is_outside(node: Node, column: int) -> bool:
    """Return whether a node is a comment with no more indentation than a definition around it."""
    return "comment" in node.type and node.start_point[1] <= column
