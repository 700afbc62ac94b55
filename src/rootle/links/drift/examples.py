"""Decide whether an example in a document defines a name itself."""

from __future__ import annotations

import re
from typing import Final

from rootle.links.drift.code_words import fold
from rootle.links.drift.past_names import PastName
from rootle.links.drift.texts import NamedText

_KEYWORDS: Final = (
    "defp?|defmodule|module|function|class|func|fun|fn|const|let|var|val|interface|struct|type"
    "|object|sub|proc|macro|trait|enum|record|protocol"
)
_MODIFIERS: Final = "public|private|static|protected|internal|final|override"
_IMPORT: Final = re.compile(r"\s*(?:import|from|using|use|require|include|open|package)\b")
_PYTHON_IMPORT: Final = re.compile(r"\s*from\s+(\w+)(?:\.\w+)*\s+import\b")
# A name after one of these words in a definition is used, not defined: "val first by second",
# "class A extends B".
_USE: Final = r"by|in|is|as|extends|implements|throws|where|of|new|return"
# Minimum length of the text after the name in a definition. A shorter text fits many definitions.
_MIN_SIGNATURE_CHARS: Final = 8
_MAX_LINE_CHARS: Final = 2_000  # of an example; longer lines are data
_PROMPT: Final = re.compile(r"^\s*(?:>>>|\.\.\.|[\w()]{0,20}[>$])\s+")  # of an interactive session
_BODY: Final = re.compile(r"(?:\{[^{]*\}?|=|:)$")


def quotes_definition(text: NamedText, removed: PastName) -> bool:
    """Return whether a line of a text is the removed definition, with the same parameters.

    Definitions in string literals of an example are ignored, because they are data of the example.
    """
    wanted = _signature(removed.line, removed.name)
    # A class without parameters in an example may have the same name by chance.
    if len(wanted) < _MIN_SIGNATURE_CHARS or not wanted.startswith(("(", "<", "[")):
        return False
    return any(
        _signature(line, removed.name) == wanted
        for number, line in text.lines.items()
        if removed.name in line and number not in text.quoted
    )


def defines_in_example(text: NamedText, removed: PastName) -> bool:
    """Return whether an example in a text defines a name, or imports it from another project."""
    name = removed.name
    word = re.escape(name)
    defines = re.compile(
        rf"\b(?:{_KEYWORDS})\s++(?:(?:(?!\b(?:{_USE})\b)[^=;:<])*[\s(,.])?{word}(?!\w)"
        rf"|\b(?:{_MODIFIERS})\s++(?:(?:(?!\b(?:{_USE})\b)[^=;:<(])*\s)?{word}(?!\w|\s+\w)"
        rf"|\|\s*(?:\w+,\s*)*{word}\b"
        rf"|(?<![\w.]){word}\s*(?:=(?!=)|:\s|=>)"
    )
    for line in text.code_lines:
        if name not in line:
            continue
        line = _PROMPT.sub("", line, count=1)
        if _IMPORT.match(line):
            if not _is_own_import(line, removed):
                return True
        elif defines.search(line, 0, _MAX_LINE_CHARS):
            return True
    return False


def _signature(line: str, name: str) -> str:
    """Return the text after the name in a definition, without spaces and the start of the body."""
    return "".join(_BODY.sub("", line.partition(name)[2].rstrip()).split())


def _is_own_import(line: str, removed: PastName) -> bool:
    """Return whether an import names the module that defined a name, or a folder of this module."""
    package = _PYTHON_IMPORT.match(line)
    if package is not None and package[1] not in re.split(r"[/.]", removed.path):
        return False
    before = line.partition(removed.name)
    words = re.findall(r"[\w-]+", before[0])[1:] or re.findall(r"[\w-]+", before[2])
    parts = {fold(part) for part in re.split(r"[/.]", removed.path)}
    return any(fold(word) in parts for word in words[-2:])
