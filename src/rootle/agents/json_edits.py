"""Set or remove one member in JSON text with comments. The rest of the text stays unchanged."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rootle.agents.config_text import ConfigTextError, detect_newline
from rootle.config.jsonc import (
    JsonError,
    Member,
    Members,
    Value,
    skip_space,
    to_python,
)
from rootle.config.jsonc import parse as parse_jsonc

_DEFAULT_INDENT: Final = "  "
_REST_OF_LINE: Final = re.compile(
    r"[ \t]*(?://[^\n\r]*|(?:/\*(?:(?!\*/)[^\n])*\*/[ \t]*)*(?=\r?\n))"
)


def parse(text: str) -> dict[str, Any]:
    """Return the data in the text. Raise ConfigTextError if the text is invalid."""
    if not text[skip_space(text, 0) :]:
        return {}
    root = parse_object(text)
    data: dict[str, Any] = to_python(root)
    return data


def set_entry(text: str, keys: Sequence[str], entry: Mapping[str, Any]) -> str:
    """Return the text with these members in the object under nested keys.

    Other members are kept.
    """
    if not text[skip_space(text, 0) :]:
        newline = "" if not text or text.endswith("\n") else detect_newline(text)
        text += newline + "{}" + detect_newline(text)
    owners = _owners(parse_object(text), keys)
    if len(owners) <= len(keys):
        missing = keys[len(owners) - 1 :]
        value: Any = dict(entry)  # Any: JSON
        for key in reversed(missing[1:]):
            value = {key: value}
        return _add_member(text, owners, missing[0], value)
    for key, part in entry.items():
        text = _set_member(text, _owners(parse_object(text), keys), key, part)
    return text


def remove_entry(text: str, keys: Sequence[str], keep: int) -> str:
    """Return the text without the member under these keys, and without objects that become empty.

    The objects under the first `keep` keys stay even if they become empty.
    """
    while len(owners := _owners(parse_object(text), keys[:-1])) == len(keys):
        depth = len(keys) - 1
        if _last_member(owners[depth], keys[depth]) is None:
            break
        while depth > keep and _is_only_member(text, owners[depth]):
            depth -= 1
        text = _remove_member(text, owners[depth], keys[depth])
    return text


def parse_object(text: str) -> Value:
    try:
        root = parse_jsonc(text)
    except JsonError as error:
        raise ConfigTextError(str(error), error.line) from error
    if not isinstance(root.data, Members):
        raise ConfigTextError("expected an object, {…}", root.line)
    return root


def _owners(root: Value, keys: Sequence[str]) -> list[Value]:
    """Return the root and the nested objects under the keys, up to the last one that exists."""
    owners = [root]
    for key in keys:
        member = _last_member(owners[-1], key)
        if member is None:
            break
        if not isinstance(member.value.data, Members):
            raise ConfigTextError(f'"{key}" is not an object; expected {{…}}', member.line)
        owners.append(member.value)
    return owners


def _last_member(owner: Value, key: str) -> Member | None:
    """Return the last member with this key, which programs use if the key is repeated."""
    return next((member for member in reversed(owner.data) if member.key == key), None)


def _set_member(text: str, owners: list[Value], key: str, value: Any) -> str:  # Any: JSON
    member = _last_member(owners[-1], key)
    if member is None:
        return _add_member(text, owners, key, value)
    if to_python(member.value) == value:
        return text
    new = json.dumps(value, ensure_ascii=False)
    return text[: member.value.start] + new + text[member.value.end :]


@dataclass(frozen=True, slots=True)
class _Layout:
    """The whitespace of a new member, copied from the members around it."""

    newline: str
    indent: str  # the indentation of one level
    margin: str  # the whitespace before each member of the object

    def format_member(self, key: str, value: Any) -> str:  # Any: JSON
        return f"{json.dumps(key, ensure_ascii=False)}: {self._format_value(value, self.margin)}"

    def _format_value(self, value: Any, margin: str) -> str:
        if not isinstance(value, dict):
            return json.dumps(value, ensure_ascii=False)
        inner = margin + self.indent
        lines = [
            f"{inner}{json.dumps(key, ensure_ascii=False)}: {self._format_value(part, inner)}"
            for key, part in value.items()
        ]
        return self.newline.join(["{", f",{self.newline}".join(lines), margin + "}"])


def _layout(text: str, owners: list[Value]) -> _Layout:
    """Return the layout for a new member of the last of these nested objects.

    The members of the root object determine the indentation of one level.
    """
    indents = (margin_before(text, member.start) for member in owners[0].data)
    indent = next((indent for indent in indents if indent), _DEFAULT_INDENT)
    margins = (margin_before(text, member.start) for member in owners[-1].data)
    default = _line_margin(text, owners[-1].start) + indent
    margin = next((margin for margin in margins if margin is not None), default)
    return _Layout(detect_newline(text), indent, margin)


def _line_margin(text: str, at: int) -> str:
    """Return the whitespace at the start of the line that contains a position."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def margin_before(text: str, at: int) -> str | None:
    """Return the whitespace between the start of a line and a position in it.

    Return None if other text precedes the position in its line, or if this is the first line.
    """
    line_start = text.rfind("\n", 0, at) + 1
    before = text[line_start:at]
    return before if line_start and not before.strip(" \t") else None


def _add_member(text: str, owners: list[Value], key: str, value: Any) -> str:  # Any: JSON
    owner, layout = owners[-1], _layout(text, owners)
    if not owner.data:
        inside = text[owner.start + 1 : owner.end - 1].rstrip()
        member = layout.margin + layout.format_member(key, value)
        body = inside + layout.newline + member + layout.newline
        margin = _line_margin(text, owner.start)
        return text[: owner.start + 1] + body + margin + text[owner.end - 1 :]
    last = owner.data[-1].value.end
    comma = skip_space(text, last)
    has_trailing_comma = text[comma] == ","
    end = comma + 1 if has_trailing_comma else last
    if margin_before(text, owner.data[-1].start) is None:
        new = " " + f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
    else:
        new = layout.newline + layout.margin + layout.format_member(key, value)
        end = _skip_comments(text, end)
    before, after = ("", ",") if has_trailing_comma else (",", "")
    return text[:last] + before + text[last:end] + new + after + text[end:]


def _skip_comments(text: str, at: int) -> int:
    """Return the end of the comments that follow a position in its line."""
    found = _REST_OF_LINE.match(text, at)
    return found.end() if found and found.group().strip() else at


def _is_only_member(text: str, owner: Value) -> bool:
    """Return whether an object contains one member and no comment."""
    if len(owner.data) != 1:
        return False
    member = owner.data[0]
    rest = text[owner.start + 1 : member.start] + text[member.value.end : owner.end - 1]
    return rest.strip() in ("", ",")


def _remove_member(text: str, owner: Value, key: str) -> str:
    index = max(number for number, member in enumerate(owner.data) if member.key == key)
    member = owner.data[index]
    start, end = end_of_previous_line(text, member.start), member.value.end
    comma = skip_space(text, end)
    has_comma = text[comma] == ","
    end = comma + 1 if has_comma else end
    if margin_before(text, member.start) is not None:
        # Comments after a member that shares its line with other members may be about those
        # members.
        end = _skip_comments(text, end)
    if index and not has_comma:
        comma = skip_space(text, owner.data[index - 1].value.end)
        return text[:comma] + text[comma + 1 : start] + text[end:]
    return _close_empty(text[:start] + text[end:], owner.start)


def end_of_previous_line(text: str, at: int) -> int:
    """Return the start of the spaces and the newline, if any, that precede a position."""
    start = len(text[:at].rstrip(" \t"))
    return len(text[:start].removesuffix("\n").removesuffix("\r"))


def _close_empty(text: str, start: int) -> str:
    """Return the text with "{}" instead of an object that contains only whitespace."""
    end = start + 1 + len(text[start + 1 :]) - len(text[start + 1 :].lstrip())
    return text[: start + 1] + text[end:] if text[end : end + 1] == "}" else text
