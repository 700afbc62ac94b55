"""Read expressions that consist of names, calls and members, such as `self.store.writer(1)`.

The languages write such expressions alike, so one reader serves them all. Other expressions, such
as sums, are not read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_MAX_CHARS: Final = 1_000  # longer expressions are not read
_PREFIX: Final = re.compile(r"(?:(await)\s+|&(?:mut\s+)?)*")
_NEW: Final = re.compile(r"new\s+(\\?[\w.\\]+)\s*(?:<[^()]*>)?\s*(?=[({])")
_CAST: Final = re.compile(r"\((.+?)\s+as[?!]?\s+([\w.:]+)\)")
_NAME: Final = re.compile(r"[@$]?[^\W\d]\w*")
_GENERICS: Final = re.compile(r"(?:::)?<[^<>()]*(?:<[^<>()]*>[^<>()]*)*>(?=\s*(?:\(|::|\{))")
_ASSERTION: Final = re.compile(r"\.\(\s*\*?([\w.]+)\s*\)")  # of a type, in Go
_SEPARATOR: Final = re.compile(r"\s*(?:\?->|->|\?\.|!!\.|!\.|\.|::|\\)\s*")
_MARKS: Final = re.compile(r"(?:!!|[?!])(?![=.\w-])")  # mark a value as neither null nor an error
_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}
_QUOTES: Final = "\"'`"


@dataclass(frozen=True, slots=True)
class Step:
    """A name in an expression, and what follows it."""

    name: str
    is_call: bool = False  # arguments follow the name
    indices: int = 0  # the number of indices after the name and its arguments: 1 for `items[0]`
    is_unwrapped: bool = False  # a "?" follows in Rust, which returns errors to the caller


@dataclass(frozen=True, slots=True)
class Expression:
    """A chain of names; each name after the first is a member of the value before it."""

    steps: tuple[Step, ...]
    type: str = ""  # the type that the first value is cast to or is an instance of; else ""
    is_awaited: bool = False


def read_expression(text: str) -> Expression | None:
    """Return the parts of an expression, or None if it has another form."""
    text = text.strip()
    if not text or len(text) > _MAX_CHARS:
        return None
    prefix = _PREFIX.match(text)
    at = prefix.end() if prefix is not None else 0
    is_awaited = prefix is not None and prefix[1] is not None
    if (created := _NEW.match(text, at)) is not None:
        return _read_created(text, created, is_awaited=is_awaited)
    if (cast := _CAST.match(text, at)) is not None:
        steps = _read_steps(text, cast.end(), is_first=False)
        return None if steps is None else Expression(steps, cast[2], is_awaited)
    if text[at : at + 1] == "(":
        end = _end_of_group(text, at)
        inner = read_expression(text[at + 1 : end - 1]) if end else None
        steps = _read_steps(text, end, is_first=False) if inner is not None else None
        if inner is None or steps is None or (inner.is_awaited and is_awaited):
            return None
        if inner.is_awaited and steps:
            return None  # only the last value of a chain can be awaited
        return Expression((*inner.steps, *steps), inner.type, inner.is_awaited or is_awaited)
    if (assertion := _find_assertion(text, at)) is not None:
        steps = _read_steps(text, assertion.end(), is_first=False)
        return None if steps is None else Expression(steps, assertion[1], is_awaited)
    if (literal := _literal_type(text, at)) is not None:
        return Expression((), literal, is_awaited)
    steps = _read_steps(text, at, is_first=True)
    return Expression(steps, "", is_awaited) if steps else None


def _read_created(text: str, created: re.Match[str], *, is_awaited: bool) -> Expression | None:
    end = _end_of_group(text, created.end())
    while end and text[end : end + 1] == "{":  # C# sets properties after the arguments
        end = _end_of_group(text, end)
    steps = _read_steps(text, end, is_first=False) if end else None
    return None if steps is None else Expression(steps, created[1], is_awaited)


def _find_assertion(text: str, at: int) -> re.Match[str] | None:
    """Return the last type assertion of Go outside of arguments: `.(*T)` in `x.(*T).name`."""
    found = None
    for match in _ASSERTION.finditer(text, at):
        before = text[at : match.start()]
        if all(before.count(one) == before.count(other) for one, other in _CLOSING.items()):
            found = match
    return found


def _literal_type(text: str, at: int) -> str | None:
    """Return the type if the rest of a text is a literal with fields, such as `Foo{a: 1}`."""
    match = re.compile(r"([\w.:]+)\s*\{").match(text, at)
    if match is None or _end_of_group(text, match.end() - 1) != len(text):
        return None
    return match[1]


def _read_steps(text: str, at: int, *, is_first: bool) -> tuple[Step, ...] | None:
    """Return the steps from an offset to the end of a text; None if it contains anything else."""
    steps: list[Step] = []
    while at < len(text):
        if not is_first:
            separator = _SEPARATOR.match(text, at)
            if separator is None:
                return tuple(steps) if not text[at:].strip("!? ") else None
            at = separator.end()
        is_first = False
        name = _NAME.match(text, at)
        if name is None:
            return None
        step, at = _read_suffixes(text, name[0], name.end())
        if at < 0:
            return None
        steps.append(step)
    return tuple(steps)


def _read_suffixes(text: str, name: str, at: int) -> tuple[Step, int]:
    """Return a step and the offset after it; the offset is -1 if the text is malformed."""
    is_call, indices, is_unwrapped = False, 0, False
    if (generics := _GENERICS.match(text, at)) is not None:
        at = generics.end()
    while at < len(text):
        if text[at] == "(" and not is_call and not indices:
            is_call, at = True, _end_of_group(text, at)
        elif text[at] == "[":
            indices, at = indices + 1, _end_of_group(text, at)
        elif (marks := _MARKS.match(text, at)) is not None:
            is_unwrapped, at = is_unwrapped or marks[0] == "?", marks.end()
        elif text[at] == "?" and text[at + 1 : at + 2] == "." and is_call:
            is_unwrapped, at = True, at + 1
        else:
            break
        if at == 0:
            return Step(name), -1
    return Step(name, is_call, indices, is_unwrapped), at


def _end_of_group(text: str, at: int) -> int:
    """Return the offset after the bracket that matches the one at `at`; 0 if there is none."""
    expected: list[str] = []
    while at < len(text):
        char = text[at]
        if char in _QUOTES:
            end = at + 1
            while end < len(text) and text[end] != char:
                end += 2 if text[end] == "\\" else 1
            # Skip a quote that is not closed: in Rust, it can begin the name of a lifetime.
            at = end if end < len(text) else at
        elif char in _CLOSING:
            expected.append(_CLOSING[char])
        elif expected and char == expected[-1]:
            expected.pop()
            if not expected:
                return at + 1
        at += 1
    return 0
