"""The labels by which the sections of documents are cited: "open-questions", "page-7"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

MAX_LABEL_CHARS: Final = 60
# The number of characters reserved for the suffix that makes a label unique, as in "example-12".
_MAX_NUMBER_CHARS: Final = 7
_NOT_IN_LABEL: Final = re.compile(r"[^\w\- ]")


def make_label(heading: str) -> str:
    """Return a heading in the form that is used in links: "open-questions" for "Open questions".

    The label never looks like a range of lines, such as "L15".
    """
    plain = _NOT_IN_LABEL.sub("", heading).strip().casefold()
    label = "-".join(plain.split()) or "section"
    return f"section-{label}" if label[:1] == "l" and label[1:2].isdigit() else label


class UniqueLabels:
    """Makes the labels of one document unique: "example", "example-2", "example-3"."""

    def __init__(self, used: Iterable[str] = ()) -> None:
        """`used` are labels that were given already."""
        self._used = set(used)
        self._next: dict[str, int] = {}  # label without a number -> the next number to try

    def add(self, label: str) -> str:
        """Return the label, or a new variant of it. The result has at most MAX_LABEL_CHARS."""
        name = label[:MAX_LABEL_CHARS]
        base = label[: MAX_LABEL_CHARS - _MAX_NUMBER_CHARS]
        while name in self._used:
            number = self._next.get(base, 2)
            self._next[base] = number + 1
            name = f"{base}-{number}"
        self._used.add(name)
        return name


def is_made_from(label: str, heading: str) -> bool:
    """Return whether `make_label` and `UniqueLabels` can have made a label from a heading."""
    whole = make_label(heading)
    return (
        label in (whole, whole[:MAX_LABEL_CHARS])
        or label_base(label) == (whole[: MAX_LABEL_CHARS - _MAX_NUMBER_CHARS])
    )


def label_base(label: str) -> str:
    """Return a label without the number that makes it unique."""
    base, dash, number = label.rpartition("-")
    return base if dash and number.isascii() and number.isdigit() else label
