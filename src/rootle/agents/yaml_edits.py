"""One entry of a YAML file put in or taken out, every other line left as it is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from rootle.agents.line_endings import TextError, newline_of

_STEP: Final = 2
_BY_HAND: Final = "is written in one line, and rootle changes only what stands in lines of its own"


def read(text: str) -> dict[str, Any]:
    """What the file says; raises TextError."""
    _document(text)
    try:
        data = _yaml().load(text)
    except YAMLError as error:
        raise _translated(error) from error
    except ValueError as error:  # what looks like a day and is none
        raise TextError(str(error)) from error
    return {} if data is None else dict(data)


def put(text: str, keys: Sequence[str], entry: Mapping[str, Any]) -> str:
    """The text with these lines in the mapping of the keys; others in it stay."""
    owners = _owners(_document(text), keys)
    if len(owners) <= len(keys):
        value: Any = dict(entry)  # Any: YAML
        missing = keys[max(len(owners) - 1, 0) :]
        for key in reversed(missing[1:]):
            value = {key: value}
        return _with_pair(text, owners, missing[0], value)
    now: Any = read(text)
    for key in keys:
        now = now[key]
    for key, part in entry.items():
        if key not in now or now[key] != part:
            text = _set(text, _owners(_document(text), keys), key, part)
    return text


def drop(text: str, keys: Sequence[str], keep: int) -> str:  # noqa: ARG001 - as for JSON
    """The text without the entry at the end of the keys, nor the mappings that it leaves empty."""
    owners = _owners(_document(text), keys[:-1])
    pairs = [pair for owner, key in zip(owners, keys, strict=False) if (pair := _pair(owner, key))]
    if len(pairs) < len(keys):
        return text
    depth = len(keys) - 1
    while depth and len(owners[depth].value) == 1 and not _has_comment(text, *pairs[depth - 1]):
        depth -= 1
    if owners[depth].flow_style:
        raise TextError(f"{keys[depth]!r} {_BY_HAND}", _line(owners[depth]))
    key, value = pairs[depth]
    start = text.rfind("\n", 0, key.start_mark.index) + 1
    return text[:start] + text[_next_line(text, max(key.end_mark.index, _end(value))) :]


def _has_comment(text: str, key: Node, value: Node) -> bool:
    """Whether a comment stands before what a key holds."""
    return "#" in text[key.end_mark.index : value.start_mark.index]


def _yaml() -> YAML:
    return YAML(typ="safe", pure=True)


def _document(text: str) -> MappingNode | None:
    try:
        root = _yaml().compose(text)
    except YAMLError as error:
        raise _translated(error) from error
    if isinstance(root, MappingNode):
        return root
    if root is None or _is_empty(root):
        return None
    raise TextError("expected keys with values", _line(root))


def _translated(error: YAMLError) -> TextError:
    if isinstance(error, MarkedYAMLError) and error.problem_mark is not None:
        return TextError(str(error.problem or error.context), error.problem_mark.line + 1)
    return TextError(" ".join(str(error).split()))


def _owners(root: MappingNode | None, keys: Sequence[str]) -> list[MappingNode]:
    """The root and the mappings down the keys, as far as they are there and hold something."""
    found = [root] if root is not None else []
    for key in keys if found else ():
        pair = _pair(found[-1], key)
        if pair is None or _is_empty(pair[1]):
            break
        if not isinstance(pair[1], MappingNode):
            raise TextError(f"{key!r} holds no keys with values", _line(pair[0]))
        found.append(pair[1])
    return found


def _pair(owner: MappingNode, key: str) -> tuple[Node, Node] | None:
    return next((pair for pair in owner.value if pair[0].value == key), None)


def _is_empty(value: Node) -> bool:
    """Whether a key has nothing behind it, or an empty mapping."""
    if isinstance(value, MappingNode):
        return not value.value
    return isinstance(value, ScalarNode) and str(value.tag).endswith(":null")


def _line(node: Node) -> int:
    return int(node.start_mark.line) + 1


def _with_pair(text: str, owners: list[MappingNode], key: str, value: Any) -> str:
    newline = newline_of(text)
    if not owners:
        return _ended(text, newline) + _block(key, value, 0, newline)
    owner = owners[-1]
    if (pair := _pair(owner, key)) is not None:
        return _filled(text, owner, pair, value)
    if not owner.value:  # the whole file is `{}`
        rest = text[_next_line(text, _end(owner)) :]
        return text[: owner.start_mark.index] + _block(key, value, 0, newline) + rest
    if owner.flow_style:
        raise TextError(f"the mapping for {key!r} {_BY_HAND}", _line(owner))
    at = _next_line(text, _end(owner))
    column = owner.value[0][0].start_mark.column
    return _ended(text[:at], newline) + _block(key, value, column, newline) + text[at:]


def _filled(text: str, owner: MappingNode, pair: tuple[Node, Node], value: Any) -> str:
    """The text with something under a key that had nothing."""
    key, old = pair
    if owner.flow_style:
        raise TextError(f"{key.value!r} {_BY_HAND}", _line(owner))
    newline = newline_of(text)
    end = old.end_mark.index if _line(old) == _line(key) else key.end_mark.index
    # What the value was is left out, the comment behind it stays.
    start = text.index(":", key.end_mark.index) + 1 if end > key.end_mark.index else end
    text = text[:start] + text[max(start, end) :]
    at = _next_line(text, max(start, text.index(":", key.end_mark.index) + 1))
    column = key.start_mark.column + _STEP
    block = "".join(_block(name, part, column, newline) for name, part in value.items())
    return _ended(text[:at], newline) + block + text[at:]


def _set(text: str, owners: list[MappingNode], key: str, value: Any) -> str:
    pair = _pair(owners[-1], key)
    if pair is None:
        return _with_pair(text, owners, key, value)
    # From the colon on: a list in lines of its own may stand as far to the left as its key.
    start, end = text.index(":", pair[0].end_mark.index) + 1, _end(pair[1])
    # A text in lines of its own ends behind its last line end.
    tail = newline_of(text) if text[start:end].endswith("\n") else ""
    return f"{text[:start]} {json.dumps(value, ensure_ascii=False)}{tail}{text[end:]}"


def _block(key: str, value: Any, column: int, newline: str) -> str:  # Any: YAML
    """A key and its value in lines of their own. What is no mapping is written as JSON."""
    margin = " " * column
    if not isinstance(value, dict):
        return f"{margin}{key}: {_scalar(value)}{newline}"
    inner = "".join(_block(name, part, column + _STEP, newline) for name, part in value.items())
    return f"{margin}{key}:{newline}{inner}"


def _scalar(value: Any) -> str:
    is_word = isinstance(value, str) and value.isidentifier()
    return str(value) if is_word else json.dumps(value, ensure_ascii=False)


def _end(node: Node) -> int:
    """Behind the last character of a node. A block's own mark stands behind the blank lines."""
    if isinstance(node, (MappingNode, SequenceNode)) and not node.flow_style and node.value:
        if isinstance(node, SequenceNode):
            return _end(node.value[-1])
        key, value = node.value[-1]
        # An alias has the place of what it stands for.
        return max(int(key.end_mark.index), _end(value))
    return int(node.end_mark.index)


def _next_line(text: str, at: int) -> int:
    """The start of the line after a place, or the place where it is one already."""
    if at and text[at - 1] == "\n":
        return at
    end = text.find("\n", at)
    return end + 1 if end >= 0 else len(text)


def _ended(text: str, newline: str) -> str:
    return text if not text or text.endswith("\n") else text + newline
