"""Read the names of base classes in the head of a class."""

from __future__ import annotations

from typing import Final

from rootle.syntax.symbol_outline import Unit
from rootle.text.terms import WORD

_MAX_HEAD: Final = 200  # bytes that are read of a class if its grammar does not mark the body


def base_names(unit: Unit) -> list[str]:
    """Return the names before the body of a class, which include the names of its base classes."""
    node = unit.node.child_by_field_name("definition") or unit.node  # without decorators
    body = node.child_by_field_name("body")
    raw = node.text or b""
    end = body.start_byte - node.start_byte if body is not None else _MAX_HEAD
    return [
        word for word in WORD.findall(raw[:end].decode("utf-8", "replace")) if word != unit.symbol
    ]
