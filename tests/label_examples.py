"""Small labels and hits for the tests of the quality benchmarks."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.common.labels import Label, Span
from benchmarks.common.metrics import Hit

Place = tuple[str, int, int]  # path, first line, last line


def make_label(*targets: Sequence[Place], kind: str = "behaviour") -> Label:
    """Return a label with these targets, each a list of equivalent places."""
    spans = tuple(tuple(Span(*place) for place in target) for target in targets)
    return Label("repo", "a question", kind, spans)


def make_hits(*places: Place) -> tuple[Hit, ...]:
    """Return one hit per place."""
    return tuple(Hit(path, ((start, end),)) for path, start, end in places)


def other_places(count: int) -> list[Place]:
    """Return places in files that do not belong to any answer."""
    return [(f"other{number}.py", 1, 9) for number in range(count)]
