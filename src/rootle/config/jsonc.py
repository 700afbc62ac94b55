"""Parse JSON with comments and trailing commas, and keep the position of each value."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

_SPACE: Final = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_DECODER: Final = json.JSONDecoder()
# The maximum nesting depth, deeper than any real configuration. A file full of brackets must not
# exhaust the stack.
_MAX_DEPTH: Final = 64


class JsonError(ValueError):
    """Raised for invalid JSON, with the line of the error."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class Value:
    """A value and its line. `data` is `Members` for an object and a tuple of `Value` for a list."""

    data: Any  # Any: JSON
    line: int
    start: int = 0  # position of its first character in the text
    end: int = 0  # position after its last character


@dataclass(frozen=True, slots=True)
class Member:
    """One key of an object with its value. Duplicate keys are kept; the caller rejects them."""

    key: str
    line: int | None  # None for a value from the command line
    value: Value
    start: int = 0  # position of the key


class Members(tuple[Member, ...]):
    """The members of an object, in the order in which they occur in the text."""

    __slots__ = ()


def parse(text: str) -> Value:
    """Return the value of a JSON text. Raise JsonError if the text is invalid."""
    parser = _JsoncParser(text)
    value = parser.parse_value(0)
    if parser.peek():
        raise parser.error("expected the end of the file")
    return value


def to_python(value: Value) -> Any:  # Any: JSON
    """Return the value as `json.loads` would; the last of two equal keys wins."""
    if isinstance(value.data, Members):
        return {member.key: to_python(member.value) for member in value.data}
    if isinstance(value.data, tuple):
        return [to_python(item) for item in value.data]
    return value.data


def skip_space(text: str, at: int) -> int:
    """Return the next position that is neither whitespace nor part of a comment."""
    found = _SPACE.match(text, at)
    return found.end() if found else at


class _JsoncParser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line = 1
        self._counted = 0  # position up to which `_line` counts newlines

    def parse_value(self, depth: int) -> Value:
        char = self.peek()
        line, start = self._current_line(), self._at
        if depth > _MAX_DEPTH:
            raise self.error("brackets are nested too deeply")
        data: Any  # Any: JSON
        if char == "{":
            data = Members(self._parse_members(depth))
        elif char == "[":
            data = tuple(self._parse_items(depth))
        else:
            data = self._parse_scalar()
        return Value(data, line, start, self._at)

    def peek(self) -> str:
        """Return the next character that is not whitespace or part of a comment; "" at the end."""
        self._at = skip_space(self._text, self._at)
        return self._text[self._at : self._at + 1]

    def _current_line(self) -> int:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def error(self, message: str) -> JsonError:
        return JsonError(message, self._current_line())

    def _parse_members(self, depth: int) -> Iterator[Member]:
        self._at += 1
        while self.peek() != "}":
            if self.peek() != '"':
                raise self.error('expected a key in double quotes or "}"')
            line, start = self._current_line(), self._at
            key = self._parse_scalar()
            if self.peek() != ":":
                raise self.error(f'expected ":" after the key "{key}"')
            self._at += 1
            yield Member(key, line, self.parse_value(depth + 1), start)
            self._skip_comma("}")
        self._at += 1

    def _parse_items(self, depth: int) -> Iterator[Value]:
        self._at += 1
        while self.peek() != "]":
            yield self.parse_value(depth + 1)
            self._skip_comma("]")
        self._at += 1

    def _skip_comma(self, end: str) -> None:
        """Skip a comma, which is optional before the closing bracket."""
        char = self.peek()
        if char == ",":
            self._at += 1
        elif char != end:
            raise self.error(f'expected "," or "{end}"')

    def _parse_scalar(self) -> Any:  # Any: a string, a number, true, false or null
        try:
            data, self._at = _DECODER.raw_decode(self._text, self._at)
        except json.JSONDecodeError as error:
            raise JsonError(error.msg, error.lineno) from error
        except ValueError as error:  # a number with thousands of digits
            raise self.error("the number is too long") from error
        return data
