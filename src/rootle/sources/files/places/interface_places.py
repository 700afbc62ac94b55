"""Sections of files that describe interfaces: OpenAPI, GraphQL and Protobuf.

The lines of the files stay unchanged. Each operation and each type is a section, whose title, such
as "GET /users/{id}", is the scope of its lines. SQL files need no sections, because they are split
with a grammar.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from rootle.sources.documents.places import MAX_TITLE_CHARS
from rootle.types import DocumentSection

_MAX_LINES: Final = 200_000
_MAX_SECTIONS: Final = 5_000
# Maximum number of comment lines above a definition that become part of its section.
_MAX_LINES_ABOVE: Final = 200
_HEAD_CHARS: Final = 2_000
# The key that marks an OpenAPI document; it is usually the first one.
_OPENAPI: Final = re.compile(
    r"^([ \t]*)[\"']?(?:openapi|swagger)[\"']?[ \t]*:[ \t]*[\"']?[23]\.", re.MULTILINE
)
_KEY: Final = re.compile(
    r"([ \t]*)(?:\"([^\"\n]{1,300})\"|'([^'\n]{1,300})'|([^\s\"'#{}\[\],&*-][^\s:]{0,300}))[ \t]*:"
)
_FIRST_KEY: Final = re.compile(r"^([ \t]*)[\"']?[\w$][^\n:]{0,300}:", re.MULTILINE)
_METHODS: Final = frozenset("get put post delete options head patch trace query".split())
_SCHEMAS: Final = frozenset({("components", "schemas"), ("definitions",)})

_PROTO_BLOCK: Final = re.compile(r"(message|enum|service|extend)[ \t]+([\w.]{1,200})")
_PROTO_RPC: Final = re.compile(r"[ \t]+rpc[ \t]+(\w{1,200})")
_GRAPHQL_BLOCK: Final = re.compile(
    r"(?:extend[ \t]+)?(type|interface|input|enum|union|scalar|directive|query|mutation|"
    r"subscription|fragment)[ \t]+(@?\w{1,200})"
)
_GRAPHQL_FIELD: Final = re.compile(r"[ \t]+(\w{1,200})[ \t]*[(:]")
_ROOT_TYPES: Final = frozenset({"Query", "Mutation", "Subscription"})
_COMMENT: Final = re.compile(r"[ \t]*(?://|#|/\*|\*)")
_QUOTES: Final = '"""'

# The index of the first line of a section, and its title; an empty title ends the previous section.
_Start = tuple[int, str]


def find_operations(text: str, language: str) -> tuple[DocumentSection, ...]:
    """Return the operations and types in a file as sections; none if it describes no interface.

    `language` is a name from `text.languages`.
    """
    if language in ("yaml", "json"):
        base = _openapi_indentation(text)
        if base is None:
            return ()
        lines = _split(text)
        return _make_sections(list(_list_openapi(lines, base)), lines)
    finder = {"proto": _list_proto, "graphql": _list_graphql}.get(language)
    if finder is None:
        return ()
    lines = _split(text)
    return _make_sections(
        [(_skip_comment_above(lines, at), title) for at, title in finder(lines)], lines
    )


def _openapi_indentation(text: str) -> int | None:
    """Return the indentation of the outermost keys; None if this is not an OpenAPI document.

    The key that marks such a document can follow other keys, if a program sorted the keys. A nested
    key may be the name of a dependency, so it counts only near the beginning of the text.
    """
    if "openapi" not in text and "swagger" not in text:
        return None
    if found := _OPENAPI.search(text[:_HEAD_CHARS]):
        return len(found[1])
    first = _FIRST_KEY.search(text[:_HEAD_CHARS])
    if first is None:
        return None
    marks = _OPENAPI.finditer(text)
    return next((len(mark[1]) for mark in marks if mark[1] == first[1]), None)


def _split(text: str) -> Sequence[str]:
    return text.split("\n", _MAX_LINES)[:_MAX_LINES]


def _make_sections(starts: Sequence[_Start], lines: Sequence[str]) -> tuple[DocumentSection, ...]:
    sections: list[DocumentSection] = []
    seen: dict[str, int] = {}
    ends = [*(at for at, _ in starts[1:]), len(lines)]
    for (at, title), end in zip(starts, ends, strict=False):
        last = end
        while last > at and not lines[last - 1].strip():
            last -= 1
        if not title or last <= at:
            continue
        title = title[:MAX_TITLE_CHARS]
        seen[title] = seen.get(title, 0) + 1
        label = f"{title} ({seen[title]})" if seen[title] > 1 else title
        sections.append(DocumentSection(label, at + 1, last, title))
        if len(sections) >= _MAX_SECTIONS:
            break
    return tuple(sections)


def _skip_comment_above(lines: Sequence[str], at: int) -> int:
    """Return the first line of the comment or the description directly above a line."""
    lowest = max(0, at - _MAX_LINES_ABOVE)
    while at > lowest:
        above = lines[at - 1]
        if _COMMENT.match(above):
            at -= 1
        elif above.rstrip().endswith(_QUOTES):
            top = at - 1
            if above.count(_QUOTES) < 2:
                while top > lowest and not lines[top - 1].lstrip().startswith(_QUOTES):
                    top -= 1
                top -= 1
            if top < lowest:
                return at
            at = top
        else:
            return at
    return at


def _list_openapi(lines: Sequence[str], base: int) -> Iterator[_Start]:
    """Yield operations and schemas. `base` is the indentation of the outermost keys."""
    keys: list[tuple[int, str]] = []  # the keys that enclose a line, with their indentation
    path_line = -1
    for at, line in enumerate(lines):
        found = _KEY.match(line)
        if found is None or len(found[1]) < base:
            continue
        indent, key = len(found[1]), found[2] or found[3] or found[4]
        while keys and keys[-1][0] >= indent:
            keys.pop()
        names = (*(name for _, name in keys), key)
        keys.append((indent, key))
        if len(names) == 1:
            yield at, ""
        elif names[0] == "paths":
            if len(names) == 2:
                path_line = at
                yield at, ""
            elif len(names) == 3 and key.lower() in _METHODS:
                # The line with the path belongs to its first operation.
                start = path_line if path_line == at - 1 else at
                yield start, f"{key.upper()} {names[1]}"
        elif names[:-1] in _SCHEMAS:
            yield at, f"schema {key}"
        elif names[0] == "components" and len(names) == 2:
            yield at, ""


def _list_proto(lines: Sequence[str]) -> Iterator[_Start]:
    service = ""
    for at, line in enumerate(lines):
        if found := _PROTO_BLOCK.match(line):
            service = found[2] if found[1] == "service" else ""
            yield at, f"{found[1]} {found[2]}"
        elif service and (found := _PROTO_RPC.match(line)):
            yield at, f"rpc {service}.{found[1]}"


def _list_graphql(lines: Sequence[str]) -> Iterator[_Start]:
    """Yield the types of a schema, and also the fields of types with operations, such as Query."""
    operation = ""
    depth = 0  # the nesting depth of parentheses
    in_text = False
    for at, line in enumerate(lines):
        if line.count(_QUOTES) % 2:
            in_text = not in_text
            continue
        # Parentheses in comments and descriptions do not enclose arguments of a field.
        if in_text or line.lstrip().startswith(("#", '"')):
            continue
        if found := _GRAPHQL_BLOCK.match(line):
            operation = found[2].lower() if found[2] in _ROOT_TYPES else ""
            yield at, f"{found[1]} {found[2]}"
            continue
        if operation and depth == 0 and (found := _GRAPHQL_FIELD.match(line)):
            yield at, f"{operation} {found[1]}"
        depth = max(0, depth + line.count("(") - line.count(")"))
