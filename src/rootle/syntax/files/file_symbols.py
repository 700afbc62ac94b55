"""The name that a file gives to what it defines.

Examples are a component of Vue in CartRow.vue, an anonymous function that the module parse.js
exports, and a model of dbt in stg_orders.sql.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from rootle.syntax.lines import Name
from rootle.syntax.symbol_outline import Outline
from rootle.text.languages import COMPONENTS, JAVASCRIPT
from rootle.text.terms import file_stem, join_words

MODULE: Final = "module"  # the kind of a module that exports an anonymous function or class
COMPONENT: Final = "component"
# The kinds of definitions that are the value of their module.
FILE_KINDS: Final = frozenset({MODULE, COMPONENT})
_INDEX: Final = "index"
_NAME: Final = re.compile(r"[A-Za-z_$][\w$]*(?:-[\w$]+)*")
_WORD_START: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# The template functions that a model of dbt calls.
_MODEL: Final = re.compile(r"\{\{-?\s{0,20}(?:config|ref|source)\s{0,20}\(")


@dataclass(frozen=True, slots=True)
class FileSymbol:
    """A definition whose name is that of its file."""

    names: tuple[str, ...]  # its spellings, the one that code declares first
    kind: str  # component, module or model
    row: int  # the first row of the definition, counted from 0

    @property
    def entry(self) -> Name:
        """The name for the list of names that the file defines."""
        return Name(self.row, 0, self.names[0])


def read_file_symbol(
    path: str, language: str, text: str, outline: Outline | None
) -> FileSymbol | None:
    """Return the definition that has the name of a file; None if there is none."""
    if language in COMPONENTS:
        name = _folder_or_stem(path)
        pascal = join_words(name)
        pascal = pascal[:1].upper() + pascal[1:]
        others = {name, other_spelling(pascal)} - {pascal, ""}
        return FileSymbol((pascal, *sorted(others)), COMPONENT, 0) if name else None
    if language in JAVASCRIPT:
        name = join_words(_folder_or_stem(path))
        row = outline.default_row if outline is not None else None
        return FileSymbol((name,), MODULE, row) if name and row is not None else None
    if language == "sql" and _MODEL.search(text) is not None:
        name = file_stem(path)
        return FileSymbol((name,), "model", 0) if _NAME.fullmatch(name) else None
    return None


def other_spelling(name: str) -> str:
    """Return the other spelling of the name of a component: cart-row for CartRow, and the reverse.

    Return "" if the name is a single word.
    """
    if "-" in name:
        joined = join_words(name)
        return joined[:1].upper() + joined[1:]
    dashed = _WORD_START.sub("-", name).lower()
    return dashed if "-" in dashed else ""


def _folder_or_stem(path: str) -> str:
    """Return the name of a file, or of the folder of an index file; "" if it is no identifier."""
    name = file_stem(path)
    if name == _INDEX:
        name = path.rpartition("/")[0].rpartition("/")[2]
    return name if _NAME.fullmatch(name) else ""
