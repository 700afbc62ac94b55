"""Add the rows of a sheet or table in blocks that are cited by their range of cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Final

from rootle.sources.documents.places import ExtractedDocument, LimitReachedError
from rootle.sources.documents.readers.headed_text import join_cells

Row = tuple[int, Mapping[int, str]]  # its number and its cells by column, both from 1

_ROWS_PER_PLACE: Final = 40
# Maximum number of indexed rows. The first rows show what a table is about; a million more rows
# would only hide other documents.
_MAX_ROWS: Final = 1_000
_MAX_CELL_CHARS: Final = 2_000
# If more empty cells than this precede a value, the name of its column replaces the empty cells.
_MAX_EMPTY_CELLS: Final = 20
# Rows after the first _MAX_ROWS are counted but not indexed. Counting ends at _MAX_COUNTED rows, or
# when _MAX_COUNTING_TIME, a share of the time limit, has passed.
_MAX_COUNTED: Final = 2_000_000
_MAX_COUNTING_TIME: Final = 0.5


class SheetRows:
    """Adds the rows of one sheet. Each block repeats the header in its title."""

    def __init__(self, name: str, found: ExtractedDocument) -> None:
        self._name = " ".join(name.split()) or "Sheet"
        self._found = found

    def add(self, rows: Iterable[Row]) -> None:
        """Add the first rows that are not empty, and count the remaining rows."""
        kept: list[Row] = []
        total = last = width = 0
        with suppress(LimitReachedError):  # raised again below, or as soon as a block is added
            for number, cells in rows:
                if not cells:
                    continue
                total += 1
                last, width = number, max(width, *cells)
                if len(kept) < _MAX_ROWS:
                    kept.append((number, cells))
                if total >= _MAX_COUNTED or (
                    total % 1_000 == 0 and self._found.used_time() > _MAX_COUNTING_TIME
                ):
                    break
        if not kept:
            self._found.check_time()
            return
        title = self._title(kept[0][1], total, width)
        # A column without any value is left out.
        used = sorted({column for _, cells in kept for column in cells})
        positions = {column: at for at, column in enumerate(used)}
        blocks = [kept[at : at + _ROWS_PER_PLACE] for at in range(0, len(kept), _ROWS_PER_PLACE)]
        chars = 0
        texts = [text for _, cells in kept for text in cells.values()]
        self._found.omit(sum(len(text[_MAX_CELL_CHARS:]) for text in texts))
        for block in blocks:
            lines = [_format_row(cells, positions) for _, cells in block]
            columns = max(max(cells) for _, cells in block)
            label = f"{self._name}!A{block[0][0]}:{column_name(columns)}{block[-1][0]}"
            if block is blocks[0]:
                end = f"{column_name(width)}{last}"
                lines.insert(0, f"{self._name}: {_shape(total, width)}, A1:{end}")
            text = "\n".join(lines)
            chars += len(text)
            self._found.add(label, text, title, remaining=0.5)
        if total > len(kept):
            self._found.omit(chars * (total - len(kept)) // len(kept))

    def _title(self, header: Mapping[int, str], total: int, width: int) -> str:
        names = ", ".join(header[column] for column in sorted(header))
        return f"{self._name}, {_shape(total, width)}: {names}"


def _shape(rows: int, columns: int) -> str:
    return f"{_count(rows, 'row')}, {_count(columns, 'column')}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _format_row(cells: Mapping[int, str], positions: Mapping[int, int]) -> str:
    parts: list[str] = []
    after = 0
    for column in sorted(cells):
        text = cells[column][:_MAX_CELL_CHARS]
        empty = positions[column] - after
        if empty > _MAX_EMPTY_CELLS:
            parts += ["…", f"{column_name(column)}: {text}"]
        else:
            parts += [*[""] * empty, text]
        after = positions[column] + 1
    return join_cells(parts)


def add_comment(text: str, comment: str) -> str:
    """Return the text of a cell with the comment on it, if there is one."""
    comment = " ".join(comment.split())
    return f"{text} [comment: {comment}]".strip() if comment else text


def column_name(number: int) -> str:
    """Return the letters of a column, counted from 1: 28 is "AB"."""
    letters = ""
    while number:
        number, letter = divmod(number - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return letters
