"""Find the parts of a text that are prose (comments, documents, messages).

In prose, a single word may be ordinary language. So the names that are replaced there are mostly
compound identifiers such as `max_limit`.
"""

from __future__ import annotations

import re
from typing import Final

from tree_sitter import Node, Parser

from benchmarks.renaming.defined_names import SourceText
from rootle.syntax.grammars import load_grammar
from rootle.text.languages import PROSE, file_language

_STRINGS: Final = ("string", "heredoc", "nowdoc", "quoted", "sigil", "template_literal")
_CODE_IN_STRING: Final = ("interpolation", "substitution", "interpolated_expression")
_FENCE: Final = re.compile(r"[ \t]*(?:```|~~~)")
_LITERAL_BLOCK: Final = re.compile(r"^[ \t]*\.\. (?:code-block|code|sourcecode)::|[^.:]::[ \t]*$")
_BACKTICKS: Final = re.compile(r"(`+)[^`\n]+?\1")


def prose_flags(file: SourceText) -> bytearray:
    """Return one byte per byte of the UTF-8 text: 1 in prose, 0 in code."""
    data = file.text.encode("utf-8", "surrogatepass")
    if file.language:
        flags = bytearray(len(data))
        parsed = Parser(load_grammar(file.language).language).parse(data.replace(b"\0", b" "))
        _mark_code(parsed.root_node, data, flags)
    else:
        flags = bytearray(b"\1" * len(data))
        if file_language(file.path) in PROSE:
            _mark_code_blocks(data, flags)
    return flags


def _mark_code(root: Node, data: bytes, flags: bytearray) -> None:
    """Mark comments as prose, and also strings of several words, except for the code in them."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        kind = node.type
        if "comment" in kind:
            _fill(flags, node, 1)
            continue
        if kind in _CODE_IN_STRING or any(part in kind for part in _CODE_IN_STRING):
            _fill(flags, node, 0)
        elif any(part in kind for part in _STRINGS) and _has_spaces(data, node):
            _fill(flags, node, 1)
        waiting.extend(reversed(node.children))


def _has_spaces(data: bytes, node: Node) -> bool:
    return len(data[node.start_byte : node.end_byte].split()) > 1


def _fill(flags: bytearray, node: Node, value: int) -> None:
    size = node.end_byte - node.start_byte
    flags[node.start_byte : node.end_byte] = bytes([value]) * size


def _mark_code_blocks(data: bytes, flags: bytearray) -> None:
    """Mark fenced blocks and indented literal blocks of a document as code."""
    start, fenced, literal_indent = 0, False, -1
    for raw in data.split(b"\n"):
        line = raw.decode("utf-8", "surrogatepass")
        end = start + len(raw)
        indent = len(line) - len(line.lstrip())
        if _FENCE.match(line):
            fenced = not fenced
        elif fenced:
            flags[start:end] = bytes(len(raw))
        elif literal_indent >= 0 and line.strip() and indent <= literal_indent:
            literal_indent = -1
        elif literal_indent >= 0:
            flags[start:end] = bytes(len(raw))
        if literal_indent < 0 and not fenced and _LITERAL_BLOCK.search(line):
            literal_indent = indent
        start = end + 1


def backtick_spans(text: str) -> list[tuple[int, int]]:
    """Return the character ranges of inline code: text in backticks on one line."""
    return [match.span() for match in _BACKTICKS.finditer(text)]
