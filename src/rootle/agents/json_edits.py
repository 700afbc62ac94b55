"""One member of JSON with comments put in or taken out, every other character left as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rootle.agents.line_endings import TextError, newline_of
from rootle.config.jsonc import JsonError, Member, Members, Value, parse, skip_space, to_python

_INDENT: Final = "  "  # where the file shows none
_REST_OF_LINE: Final = re.compile(r"[ \t]*(?://[^\n\r]*|(?:/\*[^\n]*?\*/[ \t]*)*(?=\r?\n))")


def read(text: str) -> dict[str, Any]:
    """What the file says; raises TextError."""
    if not text[skip_space(text, 0) :]:
        return {}
    root = _document(text)
    data: dict[str, Any] = to_python(root)
    return data


def put(text: str, keys: Sequence[str], entry: Mapping[str, Any]) -> str:
    """The text with these members in the object at the end of the keys; others in it stay."""
    if not text[skip_space(text, 0) :]:
        newline = "" if not text or text.endswith("\n") else newline_of(text)
        text += newline + "{}" + newline_of(text)
    owners = _owners(_document(text), keys)
    if len(owners) <= len(keys):
        missing = keys[len(owners) - 1 :]
        value: Any = dict(entry)  # Any: JSON
        for key in reversed(missing[1:]):
            value = {key: value}
        return _with_member(text, owners, missing[0], value)
    for key, part in entry.items():
        text = _set(text, _owners(_document(text), keys), key, part)
    return text


def drop(text: str, keys: Sequence[str], keep: int) -> str:
    """The text without the member at the end of the keys, nor the objects that it leaves empty.

    The first `keep` keys stay even so.
    """
    while len(owners := _owners(_document(text), keys[:-1])) == len(keys):
        depth = len(keys) - 1
        if _last(owners[depth], keys[depth]) is None:
            break
        while depth > keep and _is_alone(text, owners[depth]):
            depth -= 1
        text = _without_member(text, owners[depth], keys[depth])
    return text


def _document(text: str) -> Value:
    try:
        root = parse(text)
    except JsonError as error:
        raise TextError(str(error), error.line) from error
    if not isinstance(root.data, Members):
        raise TextError("expected an object, {…}", root.line)
    return root


def _owners(root: Value, keys: Sequence[str]) -> list[Value]:
    """The root and the objects down the keys, as far as they are there."""
    found = [root]
    for key in keys:
        member = _last(found[-1], key)
        if member is None:
            break
        if not isinstance(member.value.data, Members):
            raise TextError(f'"{key}" is no object; expected {{…}}', member.line)
        found.append(member.value)
    return found


def _last(owner: Value, key: str) -> Member | None:
    """The member of that key; of two the last, as programs read it."""
    return next((member for member in reversed(owner.data) if member.key == key), None)


def _set(text: str, owners: list[Value], key: str, value: Any) -> str:  # Any: JSON
    member = _last(owners[-1], key)
    if member is None:
        return _with_member(text, owners, key, value)
    if to_python(member.value) == value:
        return text
    new = json.dumps(value, ensure_ascii=False)
    return text[: member.value.start] + new + text[member.value.end :]


@dataclass(frozen=True, slots=True)
class _Style:
    """How the text around a new member is laid out."""

    newline: str
    indent: str  # one step
    column: str  # where the members of its object stand

    def member(self, key: str, value: Any) -> str:  # Any: JSON
        return f"{json.dumps(key, ensure_ascii=False)}: {self._value(value, self.column)}"

    def _value(self, value: Any, column: str) -> str:
        if not isinstance(value, dict):
            return json.dumps(value, ensure_ascii=False)
        inner = column + self.indent
        lines = [
            f"{inner}{json.dumps(key, ensure_ascii=False)}: {self._value(part, inner)}"
            for key, part in value.items()
        ]
        return self.newline.join(["{", f",{self.newline}".join(lines), column + "}"])


def _style(text: str, owners: list[Value]) -> _Style:
    """How the last of the objects is laid out, and one step of indentation as the first shows."""
    steps = (_column(text, member.start) for member in owners[0].data)
    indent = next((step for step in steps if step), _INDENT)
    columns = (_column(text, member.start) for member in owners[-1].data)
    own = _margin(text, owners[-1].start) + indent
    column = next((column for column in columns if column is not None), own)
    return _Style(newline_of(text), indent, column)


def _margin(text: str, at: int) -> str:
    """The spaces that the line of a place begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _column(text: str, at: int) -> str | None:
    """The spaces before a place; None where something else stands before it in its line."""
    line_start = text.rfind("\n", 0, at) + 1
    before = text[line_start:at]
    return before if line_start and not before.strip(" \t") else None


def _with_member(text: str, owners: list[Value], key: str, value: Any) -> str:  # Any: JSON
    owner, style = owners[-1], _style(text, owners)
    if not owner.data:
        inside = text[owner.start + 1 : owner.end - 1].rstrip()
        body = inside + style.newline + style.column + style.member(key, value) + style.newline
        margin = _margin(text, owner.start)
        return text[: owner.start + 1] + body + margin + text[owner.end - 1 :]
    last = owner.data[-1].value.end
    comma = skip_space(text, last)
    is_trailing = text[comma] == ","
    end = comma + 1 if is_trailing else last
    if _column(text, owner.data[-1].start) is None:
        new = " " + f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        after = end
    else:
        new = style.newline + style.column + style.member(key, value)
        after = _end_of_line(text, end)
    tail = "," if is_trailing else ""
    return text[:last] + ("" if is_trailing else ",") + text[last:after] + new + tail + text[after:]


def _end_of_line(text: str, at: int) -> int:
    """Behind the comments that stand in the same line."""
    found = _REST_OF_LINE.match(text, at)
    return found.end() if found and found.group().strip() else at


def _is_alone(text: str, owner: Value) -> bool:
    """Whether an object holds one member and no comment."""
    if len(owner.data) != 1:
        return False
    member = owner.data[0]
    rest = text[owner.start + 1 : member.start] + text[member.value.end : owner.end - 1]
    return rest.strip() in ("", ",")


def _without_member(text: str, owner: Value, key: str) -> str:
    at = max(place for place, member in enumerate(owner.data) if member.key == key)
    member = owner.data[at]
    start, end = _line_start(text, member.start), member.value.end
    comma = skip_space(text, end)
    if text[comma] == ",":
        return _closed(text[:start] + text[_end_of_line(text, comma + 1) :], owner.start)
    end = _end_of_line(text, end)
    if at:
        comma = skip_space(text, owner.data[at - 1].value.end)
        return text[:comma] + text[comma + 1 : start] + text[end:]
    return _closed(text[:start] + text[end:], owner.start)


def _line_start(text: str, at: int) -> int:
    """Before the spaces and the line end in front of a place."""
    start = len(text[:at].rstrip(" \t"))
    return len(text[:start].removesuffix("\n").removesuffix("\r"))


def _closed(text: str, start: int) -> str:
    """Without the spaces in an object that became empty."""
    end = start + 1 + len(text[start + 1 :]) - len(text[start + 1 :].lstrip())
    return text[: start + 1] + text[end:] if text[end : end + 1] == "}" else text
