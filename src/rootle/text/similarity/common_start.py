"""The common start of two sequences, such as texts or the parts of paths."""

from __future__ import annotations

from collections.abc import Sequence


def common_length(left: Sequence[str], right: Sequence[str]) -> int:
    """Return the number of equal items with which both sequences begin."""
    pairs = zip(left, right, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))
