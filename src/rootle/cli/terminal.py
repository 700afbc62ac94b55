"""Terminal output: JSON, messages, escaped text and a progress bar."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rootle.types import ProgressCallback


# A path at the beginning of a line, perhaps after a probability: " 72%  src/net/retry.py".
_PLACE: Final = re.compile(r" *(?:\d+% +)?(?=[^ ]*[/.])[^ ]+")
_MIN_COLUMNS: Final = 20  # of a wrapped message
_COLOR: Final = re.compile("(\x1b\\[[0-9;]{1,4}m)")  # a group, so that `split` keeps it


def print_json(value: Any) -> None:  # Any: a record, or JSON data
    """Print a value as one line of JSON, with camelCase keys for the fields of records."""
    import json

    from rootle.serialization.json import to_json

    print(json.dumps(to_json(value)), flush=True)


def warn(message: str) -> None:
    """Print a message to standard error, if it can be written.

    On a terminal, the message is wrapped between words.
    """
    rows = wrap_message(message) if sys.stderr.isatty() else [_format_message(message)]
    with suppress(OSError):
        print("\n".join(rows), file=sys.stderr)


def wrap_message(message: str) -> list[str]:
    """Return the lines of a message to standard error, wrapped to the width of the terminal."""
    return wrap_text(_format_message(message))


def wrap_text(text: str) -> list[str]:
    """Return the lines of a text, wrapped between words to the width of the terminal.

    A word that is wider than the terminal, such as a URL, is not split, so that it can be copied.
    """
    import textwrap

    columns = max(shutil.get_terminal_size().columns, _MIN_COLUMNS)
    return textwrap.wrap(
        text,
        columns,
        subsequent_indent="  ",
        expand_tabs=False,
        replace_whitespace=False,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _format_message(message: str) -> str:
    return f"rootle: {printable(message)}"


def warn_all(messages: Iterable[str]) -> None:
    """Print several messages to standard error."""
    for message in messages:
        warn(message)


def confirm(question: str) -> bool | None:
    """Return whether the user agrees; None if standard input is not a terminal."""
    if not sys.stdin.isatty():
        return None
    print(f"{printable(question)} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def printable(text: str) -> str:
    """Return the text with control characters escaped.

    File names and lines may come from untrusted repositories and must not control the terminal.
    """
    if text.isprintable():  # nearly always, and much faster than a look at each character
        return text
    return "".join(c if c.isprintable() or c == "\t" else _escape(c) for c in text)


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def fit_line(line: str, kept: int = 0) -> str:
    """Return a line that is cut to the width of the terminal; the cut is marked with "…".

    The first `kept` characters are never cut: a path is useful only if it is complete. Tabs are
    replaced by spaces, so that cut and complete lines have the same indentation.
    """
    width = max(shutil.get_terminal_size().columns, kept + 1)
    expanded = line.expandtabs()
    return expanded if len(expanded) <= width else f"{expanded[: width - 1]}…"


def fit_reference(line: str) -> str:
    """Return a line that is cut to the width of the terminal, but not within its leading path."""
    found = _PLACE.match(line)
    return fit_line(line, found.end() if found else 0)


def write_line(line: str) -> None:
    """Print a line with its control characters escaped.

    Characters that the encoding of standard output cannot represent are also escaped.
    """
    _write(printable(line))


def write_lines(lines: Iterable[str]) -> None:
    """Print lines with their control characters escaped."""
    for line in lines:
        write_line(line)


def write_styled_line(line: str) -> None:
    """Print a line with its control characters escaped, except for colors."""
    parts = _COLOR.split(line)
    _write("".join(part if at % 2 else printable(part) for at, part in enumerate(parts)))


def _write(line: str) -> None:
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def format_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


@contextmanager
def progress_bar(
    description: str = "indexing", unit: str = "B"
) -> Iterator[ProgressCallback | None]:
    """Yield a callback that shows a progress bar, or None if standard error is not a terminal."""
    with _open_bar(unit=unit, unit_scale=True, desc=description) as show:
        yield show


@contextmanager
def document_counter() -> Iterator[Callable[[int], None] | None]:
    """Yield a callback that shows how many documents were read; None without a terminal."""
    with _open_bar(unit=" documents", desc="reading") as show:
        yield None if show is None else lambda count: show(count, None)


@contextmanager
def _open_bar(**options: Any) -> Iterator[Callable[[int, int | None], None] | None]:
    if not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm

    bar: Any = None  # created by the first call, when the total is known

    def show(done: int, total: int | None) -> None:
        nonlocal bar
        if bar is None:
            bar = tqdm(total=total, leave=False, **options)
        bar.total = total
        bar.update(done - bar.n)

    try:
        yield show
    finally:
        if bar is not None:
            bar.close()


def count_text(number: int, noun: str) -> str:
    """Return text such as `1 source` or `2,000 sources`."""
    return f"{number:,} {noun}{'s' * (number != 1)}"
