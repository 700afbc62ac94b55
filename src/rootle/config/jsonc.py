"""JSON with comments and trailing commas, each value with the place where it stands."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

_SPACE: Final = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_DECODER: Final = json.JSONDecoder()
# Nobody writes settings this deep; a file of brackets alone must not exhaust the stack.
_MAX_DEPTH: Final = 64


class JsonError(ValueError):
    """A text that is no JSON, and the line where that shows."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class Value:
    """A value and its line. `data` is a tuple of Members for an object, of Values for a list."""

    data: Any  # Any: whatever JSON can hold
    line: int
    start: int = 0  # the first character in the text
    end: int = 0  # the one behind the last


@dataclass(frozen=True, slots=True)
class Member:
    """One key of an object with its value. A key may come twice: the reader decides."""

    key: str
    line: int | None  # None where it comes from no file
    value: Value
    start: int = 0  # where the key begins


class Members(tuple[Member, ...]):
    """An object, in the order of the text."""

    __slots__ = ()


def parse(text: str) -> Value:
    """The value that a text holds; raises JsonError."""
    reader = _Reader(text)
    value = reader.value(0)
    if reader.next_char():
        raise reader.error("expected the end of the file")
    return value


def plain(value: Value) -> Any:  # Any: whatever JSON can hold
    """The value as `json.loads` would give it, the last of two equal keys counting."""
    if isinstance(value.data, Members):
        return {member.key: plain(member.value) for member in value.data}
    if isinstance(value.data, tuple):
        return [plain(item) for item in value.data]
    return value.data


def skip_space(text: str, at: int) -> int:
    """The next place that is neither space nor comment."""
    found = _SPACE.match(text, at)
    return found.end() if found else at


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line = 1
        self._counted = 0  # up to here the line ends are counted

    def value(self, depth: int) -> Value:
        char = self.next_char()
        line, start = self.line(), self._at
        if depth > _MAX_DEPTH:
            raise self.error("brackets stand too deep in one another")
        data: Any  # Any: whatever JSON can hold
        if char == "{":
            data = Members(self._members(depth))
        elif char == "[":
            data = tuple(self._items(depth))
        else:
            data = self._scalar()
        return Value(data, line, start, self._at)

    def next_char(self) -> str:
        """What stands at the next place that is neither space nor comment; "" at the end."""
        self._at = skip_space(self._text, self._at)
        return self._text[self._at : self._at + 1]

    def line(self) -> int:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def error(self, message: str) -> JsonError:
        return JsonError(message, self.line())

    def _members(self, depth: int) -> Iterator[Member]:
        self._at += 1
        while self.next_char() != "}":
            if self.next_char() != '"':
                raise self.error('expected a key in double quotes or "}"')
            line, start = self.line(), self._at
            key = self._scalar()
            if self.next_char() != ":":
                raise self.error(f'expected ":" after the key "{key}"')
            self._at += 1
            yield Member(key, line, self.value(depth + 1), start)
            self._separator("}")
        self._at += 1

    def _items(self, depth: int) -> Iterator[Value]:
        self._at += 1
        while self.next_char() != "]":
            yield self.value(depth + 1)
            self._separator("]")
        self._at += 1

    def _separator(self, end: str) -> None:
        """Step over a comma; none is needed before the end."""
        char = self.next_char()
        if char == ",":
            self._at += 1
        elif char != end:
            raise self.error(f'expected "," or "{end}"')

    def _scalar(self) -> Any:  # Any: a text, a number, true, false or null
        try:
            data, self._at = _DECODER.raw_decode(self._text, self._at)
        except json.JSONDecodeError as error:
            raise JsonError(error.msg, error.lineno) from error
        except ValueError as error:  # a number of thousands of digits
            raise self.error("the number is too long") from error
        return data
