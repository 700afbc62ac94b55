"""Set or remove one mapping in YAML text. The rest of the text stays unchanged."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from rootle.agents.config_text import ConfigTextError, detect_newline

_INDENT: Final = 2
_FLOW_STYLE: Final = "is in flow style, {…}, which rootle does not edit"


def parse(text: str) -> dict[str, Any]:
    """Return the data in the text. Raise ConfigTextError if the text is invalid."""
    _compose(text)
    try:
        data = _yaml().load(text)
    except YAMLError as error:
        raise _config_text_error(error) from error
    except ValueError as error:  # an invalid date
        raise ConfigTextError(str(error)) from error
    return {} if data is None else dict(data)


def set_entry(text: str, keys: Sequence[str], entry: Mapping[str, Any]) -> str:
    """Return the text with these pairs in the mapping under nested keys. Other pairs are kept."""
    owners = _owners(_compose(text), keys)
    if len(owners) <= len(keys):
        value: Any = dict(entry)  # Any: YAML
        missing = keys[max(len(owners) - 1, 0) :]
        for key in reversed(missing[1:]):
            value = {key: value}
        return _add_pair(text, owners, missing[0], value)
    current: Any = parse(text)
    for key in keys:
        current = current[key]
    for key, part in entry.items():
        if key not in current or current[key] != part:
            text = _set_pair(text, _owners(_compose(text), keys), key, part)
    return text


def remove_entry(text: str, keys: Sequence[str], keep: int) -> str:
    """Return the text without the value under nested keys, and without mappings that become empty.

    The mappings under the first `keep` keys stay even if they become empty.
    """
    owners = _owners(_compose(text), keys[:-1])
    found = (_find_pair(owner, key) for owner, key in zip(owners, keys, strict=False))
    pairs = [pair for pair in found if pair is not None]
    if len(pairs) < len(keys):
        return text
    depth = len(keys) - 1
    while (
        depth > keep and _is_only_pair(owners[depth]) and not _has_comment(text, *pairs[depth - 1])
    ):
        depth -= 1
    if owners[depth].flow_style:
        raise ConfigTextError(f"{keys[depth]!r} {_FLOW_STYLE}", _line(owners[depth]))
    key, value = pairs[depth]
    start = text.rfind("\n", 0, key.start_mark.index) + 1
    before, after = text[:start], text[_next_line(text, max(key.end_mark.index, _end(value))) :]
    if depth and depth <= keep and _is_only_pair(owners[depth]):
        colon = text.index(":", pairs[depth - 1][0].end_mark.index) + 1
        before = f"{text[:colon]} {{}}{text[colon:start]}"
    return before + after


def _is_only_pair(owner: MappingNode) -> bool:
    return len(owner.value) == 1


def _has_comment(text: str, key: Node, value: Node) -> bool:
    """Return whether a comment is between a key and its value, or is indented below the value."""
    if "#" in text[key.end_mark.index : value.start_mark.index]:
        return True
    column = key.start_mark.column
    for line in text[_next_line(text, _end(value)) :].splitlines():
        rest = line.lstrip(" ")
        if rest and not rest.startswith("#"):
            return False
        if rest and len(line) - len(rest) > column:
            return True
    return False


def _yaml() -> YAML:
    return YAML(typ="safe", pure=True)


def _compose(text: str) -> MappingNode | None:
    """Return the mapping in the document; None if the document is empty."""
    try:
        root = _yaml().compose(text)
    except YAMLError as error:
        raise _config_text_error(error) from error
    if isinstance(root, MappingNode):
        return root
    if root is None or _is_empty(root):
        return None
    raise ConfigTextError("expected a mapping", _line(root))


def _config_text_error(error: YAMLError) -> ConfigTextError:
    if isinstance(error, MarkedYAMLError) and error.problem_mark is not None:
        return ConfigTextError(str(error.problem or error.context), error.problem_mark.line + 1)
    return ConfigTextError(" ".join(str(error).split()))


def _owners(root: MappingNode | None, keys: Sequence[str]) -> list[MappingNode]:
    """Return the root and the nested mappings under the keys, up to a missing or empty one."""
    owners = [root] if root is not None else []
    for key in keys if owners else ():
        pair = _find_pair(owners[-1], key)
        if pair is None or _is_empty(pair[1]):
            break
        if not isinstance(pair[1], MappingNode):
            raise ConfigTextError(f"{key!r} is not a mapping", _line(pair[0]))
        owners.append(pair[1])
    return owners


def _find_pair(owner: MappingNode, key: str) -> tuple[Node, Node] | None:
    return next((pair for pair in owner.value if pair[0].value == key), None)


def _is_empty(value: Node) -> bool:
    """Return whether a value is null or an empty mapping."""
    if isinstance(value, MappingNode):
        return not value.value
    return isinstance(value, ScalarNode) and str(value.tag).endswith(":null")


def _line(node: Node) -> int:
    return int(node.start_mark.line) + 1


def _add_pair(text: str, owners: list[MappingNode], key: str, value: Any) -> str:
    newline = detect_newline(text)
    if not owners:
        return _end_line(text, newline) + _format_pair(key, value, 0, newline)
    owner = owners[-1]
    if (pair := _find_pair(owner, key)) is not None:
        return _fill_pair(text, owner, pair, value)
    if not owner.value:  # the whole document is `{}`
        rest = text[_next_line(text, _end(owner)) :]
        return text[: owner.start_mark.index] + _format_pair(key, value, 0, newline) + rest
    if owner.flow_style:
        raise ConfigTextError(f"the mapping for {key!r} {_FLOW_STYLE}", _line(owner))
    at = _next_line(text, _end(owner))
    column = owner.value[0][0].start_mark.column
    return _end_line(text[:at], newline) + _format_pair(key, value, column, newline) + text[at:]


def _fill_pair(text: str, owner: MappingNode, pair: tuple[Node, Node], value: Any) -> str:
    """Return the text with a mapping instead of the empty value of a key."""
    key, old = pair
    if owner.flow_style:
        raise ConfigTextError(f"{key.value!r} {_FLOW_STYLE}", _line(owner))
    newline = detect_newline(text)
    end = old.end_mark.index if _line(old) == _line(key) else key.end_mark.index
    # Delete the old value, but keep a comment after it.
    start = text.index(":", key.end_mark.index) + 1 if end > key.end_mark.index else end
    text = text[:start] + text[max(start, end) :]
    at = _next_line(text, max(start, text.index(":", key.end_mark.index) + 1))
    column = key.start_mark.column + _INDENT
    block = "".join(_format_pair(name, part, column, newline) for name, part in value.items())
    return _end_line(text[:at], newline) + block + text[at:]


def _set_pair(text: str, owners: list[MappingNode], key: str, value: Any) -> str:
    pair = _find_pair(owners[-1], key)
    if pair is None:
        return _add_pair(text, owners, key, value)
    # Replace everything after the colon, because a block list may have the same indentation as its
    # key.
    start, end = text.index(":", pair[0].end_mark.index) + 1, _end(pair[1])
    # A block scalar includes its last newline, so the new value needs one too.
    tail = detect_newline(text) if text[start:end].endswith("\n") else ""
    return f"{text[:start]} {json.dumps(value, ensure_ascii=False)}{tail}{text[end:]}"


def _format_pair(key: str, value: Any, column: int, newline: str) -> str:  # Any: YAML
    """Return a pair in block style. Values other than mappings are written as JSON."""
    margin = " " * column
    if not isinstance(value, dict):
        return f"{margin}{key}: {_format_scalar(value)}{newline}"
    inner = column + _INDENT
    pairs = "".join(_format_pair(name, part, inner, newline) for name, part in value.items())
    return f"{margin}{key}:{newline}{pairs}"


def _format_scalar(value: Any) -> str:
    is_word = isinstance(value, str) and value.isidentifier()
    return str(value) if is_word else json.dumps(value, ensure_ascii=False)


def _end(node: Node) -> int:
    """Return the position after the last character of a node.

    The end mark of a block collection is not used, because blank lines may precede it.
    """
    if isinstance(node, (MappingNode, SequenceNode)) and not node.flow_style and node.value:
        if isinstance(node, SequenceNode):
            return _end(node.value[-1])
        key, value = node.value[-1]
        # An alias has the marks of its anchor, which precede the key.
        return max(int(key.end_mark.index), _end(value))
    return int(node.end_mark.index)


def _next_line(text: str, at: int) -> int:
    """Return the start of the next line, or the position itself if a line starts there."""
    if at and text[at - 1] == "\n":
        return at
    end = text.find("\n", at)
    return end + 1 if end >= 0 else len(text)


def _end_line(text: str, newline: str) -> str:
    return text if not text or text.endswith("\n") else text + newline
