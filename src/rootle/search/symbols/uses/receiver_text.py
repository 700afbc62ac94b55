"""The text before a name: a value, a class or a module."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from rootle.search.symbols.parsed_files import FileOccurrences
from rootle.syntax.symbol_outline import Unit

COMPANION: Final = ".Companion"  # the end of the full name of a companion object of Kotlin
# Template arguments of C++. The last ">" is not part of a receiver.
_ARGUMENTS: Final = re.compile(r"<[^<>]*(?:>|\Z)")


def plain_receiver(found: FileOccurrences, receiver: str) -> str:
    """Return a receiver without template arguments of C++ and the name of a companion object."""
    if found.state.language in ("c", "cpp"):
        return _ARGUMENTS.sub("", _ARGUMENTS.sub("", receiver))
    return receiver.removesuffix(COMPANION)


def go_receiver(found: FileOccurrences, units: Sequence[Unit]) -> str:
    """Return the receiver variable of a Go method, such as s in `func (s *Server) Run()`."""
    if found.state.language != "go" or not units:
        return ""
    match = re.match(r"func\s*\(\s*(\w+)\s", found.line_start(units[-1].row))
    return match[1] if match else ""
