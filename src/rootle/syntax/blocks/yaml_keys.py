"""The keys, named items and documents of YAML, and the operations in JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rootle.syntax.blocks.block import split_owners
from rootle.syntax.blocks.starts import Extent, Start, columns
from rootle.syntax.lines import Lines

# More deeply nested keys are neither blocks nor names.
_MAX_DEPTH: Final = 6
_MAX_NAMED_DEPTH: Final = 4
# Below this depth, a key is a block only if its value has several lines: a short one, such as the
# `permissions` of a job, is not informative without the keys around it.
_SHALLOW: Final = 2
_MIN_DEEP_LINES: Final = 9
_YAML_KEY: Final = re.compile(
    r"[ \t]*(?P<dash>-[ \t]+)?(?:\"(?P<a>[^\"\n]{1,200})\"|'(?P<b>[^'\n]{1,200})'"
    r"|(?P<c>[^\s\"'#{}\[\],&*!|>%@`:-](?:[^\s:]|:(?=\S)|[ ](?![ #])){0,200}?))[ \t]*:(?=\s|$)"
)
# The keys whose value names an item of a list, as in `- name: Install packages`.
_NAMING: Final = frozenset({"name", "id", "key", "title", "alias", "model", "table"})
_VALUE: Final = re.compile(
    r":[ \t]+(?:\"([^\"\n]{1,200})\"|'([^'\n]{1,200})'"
    r"|([^\s\"'#{\[&*!|>](?:[^\n#]|(?<! )#){0,200}))"
)
# The key whose value names an operation of an OpenAPI document.
OPERATION_ID: Final = "operationId"
_JSON_OPERATION: Final = re.compile(
    rf"[ \t{{]*\"{OPERATION_ID}\"[ \t]*:[ \t]*\"([\w.-]{{1,200}})\""
)
# A value or an item of a list whose text is below it. It can have an anchor and a tag.
_TEXT_BELOW: Final = re.compile(r"(?:[&!]\S*[ \t]+){0,3}[|>][+-]?\d?[+-]?\s*(?:#|$)")
_TEXT_ITEM: Final = re.compile(rf"[ \t]*(?:-[ \t]+)+{_TEXT_BELOW.pattern}")
_DOCUMENT: Final = re.compile(r"---(?:\s|$)")
# A Kubernetes resource has these two keys: `kind: Deployment` and below `metadata`, `name: web`.
_KIND: Final = re.compile(r"kind:[ \t]+[\"']?(\w{1,100})")
_METADATA_NAME: Final = re.compile(r"[ ]{2,4}name:[ \t]+[\"']?([\w.-]{1,200})")
# A name of several words, such as `replicaCount` or `build_image`. Single words, such as `name` or
# `version`, are the keys of many unrelated things.
_COMPOUND: Final = re.compile(r"[A-Za-z]\w*(?:[_-]\w|[a-z0-9][A-Z])[\w-]*")


def is_compound(name: str) -> bool:
    """Return whether a key is a name of several words."""
    return _COMPOUND.fullmatch(split_owners(name)[1]) is not None


def list_keys(lines: Lines) -> list[Start]:
    """Return the documents, keys and named items of a text in YAML, in order.

    A key is left out if it has a single line and a name of one word.
    """
    return sorted([*_list_documents(lines), *_list_yaml(lines)], key=lambda one: one.row)


def list_operations(lines: Lines) -> list[Start]:
    """Return the names of the operations of an OpenAPI document in JSON."""
    found = ((row, _JSON_OPERATION.match(line)) for row, line in enumerate(lines.rows))
    return [Start(row, "", (match[1],), Extent.NAME) for row, match in found if match is not None]


def _list_documents(lines: Lines) -> Iterator[Start]:
    """Yield the Kubernetes resources of a text. They are separated by `---`."""
    bounds = [row for row, line in enumerate(lines.rows) if _DOCUMENT.match(line)]
    for first, end in zip([-1, *bounds], [*bounds, len(lines)], strict=True):
        kind, name, in_metadata = "", "", False
        for row in range(first + 1, end):
            line = lines.rows[row]
            if found := _KIND.match(line):
                kind = found[1]
            if line[:1].isalpha():
                in_metadata = line.startswith("metadata:")
            elif in_metadata and not name and (found := _METADATA_NAME.match(line)):
                name = found[1]
        start, stop = lines.trim(first + 1, end)
        if kind and start < stop:
            title = f"{kind} {name}" if name else kind
            yield Start(start, title, (name,) if name else (), Extent.SECTION, level=1)
        if end < len(lines):
            yield Start(end, "", (), Extent.SECTION, level=1)  # ends the document above it


def _list_yaml(lines: Lines) -> Iterator[Start]:
    enclosing: list[tuple[int, bool]] = []  # indentation of the keys around a line; is it an item?
    rows = lines.rows
    text_indent = -1  # of the key of a block of text, whose lines are not keys
    for row, line in enumerate(rows):
        if lines.is_blank(row):
            continue
        indent = columns(line)
        if text_indent >= 0 and indent > text_indent:
            continue
        text_indent = -1
        found = _YAML_KEY.match(line)
        if found is None:
            text_indent = indent if _TEXT_ITEM.match(line) else -1
            continue
        # The items of a list can have the same indentation as its key.
        is_item = found["dash"] is not None
        while enclosing and enclosing[-1][0] >= indent + (is_item and not enclosing[-1][1]):
            enclosing.pop()
        after = line[found.end() :].strip()
        if _TEXT_BELOW.match(after):
            # The text of `- key: |` is indented more than the key.
            text_indent = indent + len(found["dash"] or "")
        key = found["a"] or found["b"] or found["c"]
        if is_item:
            title = _item_title(line, key)
            if title and len(enclosing) < _MAX_DEPTH:
                symbols = (title,) if is_compound(title) else ()
                yield Start(row, title, symbols, Extent.INDENTED)
                enclosing.append((indent, True))
            continue
        if key == OPERATION_ID and (value := _VALUE.search(line)) is not None:
            name = (value[1] or value[2] or value[3]).strip()
            yield Start(row, "", (name,), Extent.NAME)
            continue
        is_in_item = any(is_item for _, is_item in enclosing)
        yield from _make_start(lines, row, key, len(enclosing), after, is_in_item=is_in_item)
        enclosing.append((indent, False))


def _item_title(line: str, key: str) -> str:
    """Return the name of an item of a list from its first line; "" if it has none."""
    value = _VALUE.search(line) if key.lower() in _NAMING else None
    return (value[1] or value[2] or value[3]).strip() if value is not None else ""


def _make_start(
    lines: Lines, row: int, key: str, depth: int, after: str, *, is_in_item: bool
) -> Iterator[Start]:
    is_named = not is_in_item and depth < _MAX_NAMED_DEPTH and is_compound(key)
    symbols = (key,) if is_named else ()
    min_lines = 1 if depth < _SHALLOW else _MIN_DEEP_LINES
    is_block = not is_in_item and depth < _MAX_DEPTH
    if is_block and (not after or after[0] in "{[|>&!#") and _has_lines(lines, row, min_lines):
        yield Start(row, key, symbols, Extent.INDENTED)
    elif symbols:
        yield Start(row, "", symbols, Extent.NAME)


def _has_lines(lines: Lines, row: int, count: int) -> bool:
    """Return whether the value of a key has at least `count` lines below the line of the key."""
    indent = columns(lines.rows[row])
    end = row + 1
    while end < len(lines) and count:
        line = lines.rows[end]
        is_item = columns(line) == indent and line.lstrip().startswith("- ")
        if not lines.is_blank(end):
            if columns(line) <= indent and not is_item:
                return False
            count -= 1
        end += 1
    return not count
