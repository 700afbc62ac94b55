"""Choose the most detailed answer that fits on one screen of a terminal."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

from rootle.cli.terminal import wrap_message

_T = TypeVar("_T")

_COLOR: Final = re.compile(r"\x1b\[[0-9;]*m")
_MIN_ROWS: Final = 10  # an answer on a very small terminal is not shortened further


def screen_rows(messages: Iterable[str] = ()) -> int:
    """Return how many rows of the terminal are left for an answer.

    Rows are reserved for the message that says how to see more, for the next prompt, and for
    `messages`, which `warn` prints.
    """
    size = shutil.get_terminal_size()
    return max(size.lines - 2 - count_message_rows(messages), _MIN_ROWS)


def count_message_rows(messages: Iterable[str]) -> int:
    """Return how many terminal rows messages take that `warn` prints."""
    return sum(count_rows(wrap_message(message)) for message in messages)


def count_rows(lines: Iterable[str]) -> int:
    """Return how many terminal rows the lines take; lines wider than the terminal are wrapped."""
    columns = shutil.get_terminal_size().columns
    lengths = (len(_COLOR.sub("", line).expandtabs()) for line in lines)
    return sum(max(1, -(-length // columns)) for length in lengths)


def fit_screen(versions: Iterable[tuple[_T, Sequence[str]]], rows: int) -> tuple[_T, Sequence[str]]:
    """Return the first version of an answer, and its lines, that takes at most `rows` rows.

    The versions are ordered by length, longest first. If none fits, return the shortest. Raises
    ValueError if there are no versions.
    """
    version = None
    for version in versions:
        if count_rows(version[1]) <= rows:
            return version
    if version is None:
        raise ValueError("an answer needs at least one version")
    return version
