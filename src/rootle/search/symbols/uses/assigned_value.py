"""Recognize the lines that assign a certain value to a name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from rootle.search.symbols.definitions import split_name
from rootle.types import SymbolUse

# The words of programming languages for a missing value.
_MISSING: Final = ("null", "nil", "none", "undefined", "nullptr")
# A longer value may be a part of a name: "Failed" in `phase = OperationFailed`.
_MIN_PART_CHARS: Final = 4


def put_value_first(uses: Sequence[SymbolUse], name: str, value: str) -> list[SymbolUse]:
    """Return the uses of a name. Those whose line has the value after the name come first."""
    return sorted(uses, key=lambda use: not assigns_value(use, name, value))


def assigns_value(use: SymbolUse, name: str, value: str) -> bool:
    """Return whether the line of a use has the value after the name, ignoring case."""
    after = use.text.partition(split_name(name)[1])[2]
    lower = value.lower()
    if lower in _MISSING:
        spellings = "|".join(_MISSING)
        return re.search(rf"(?<!\w)(?:{spellings})(?!\w)", after, re.IGNORECASE) is not None
    if len(value) >= _MIN_PART_CHARS and value.isidentifier():
        return lower in after.lower()
    whole = rf"(?<![\w.]){re.escape(value)}(?![\w.])"
    return re.search(whole, after, re.IGNORECASE) is not None
