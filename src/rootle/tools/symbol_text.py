"""Write the definitions and uses of a name as text for a language model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rootle.serialization.path_text import replace_unprintable
from rootle.serialization.symbols import (
    definition_lines,
    describe_definitions,
    describe_uses,
    use_lines,
)
from rootle.text.terms import encodable
from rootle.types import SymbolAnswer

_MAX_DEFINITIONS: Final = 8
_MAX_LINE_CHARS: Final = 160


def write_symbols(symbols: SymbolAnswer) -> str:
    """Return the definitions in a few lines, and a page of the uses if the query asks for them."""
    shown = symbols.definitions[:_MAX_DEFINITIONS]
    lines = [f"{describe_definitions(symbols)}{':' if shown else ''}"]
    lines += [f"  {line}" for line in definition_lines(shown)]
    left = len(symbols.definitions) - len(shown)
    if left:
        at_least = "" if symbols.has_all_definitions else "at least "
        lines.append(f"  … {at_least}{left} more")
    if symbols.similar:
        lines.append(f"similar names that are defined here: {', '.join(symbols.similar)}")
    if symbols.aspect == "definitions":
        hint = f": query uses:{symbols.name} lists them" if symbols.total_uses else ""
        lines.append(f"{describe_uses(symbols)}{hint}")
    else:
        lines += [describe_uses(symbols), *use_lines(symbols.uses)]
        end = symbols.offset + len(symbols.uses)
        if symbols.next_cursor is not None:
            lines.append(f"… more: query {_operator(symbols)}:{symbols.name} from:{end + 1}")
    return "\n".join(_clean(line) for line in lines)


def list_symbols(symbols: SymbolAnswer) -> Sequence[dict[str, Any]]:
    """Return the uses as the results of a search: source, score, text and about."""
    return [
        {
            "source": _clean(f"{use.path}:{use.line}"),
            "score": 1.0,
            "text": _clean(use.text),
            "about": _clean(f"{use.kind} {use.scope}".strip()),
        }
        for use in symbols.uses
    ]


def _operator(symbols: SymbolAnswer) -> str:
    return {"definitions": "symbol"}.get(symbols.aspect, symbols.aspect)


def _clean(text: str) -> str:
    return encodable(replace_unprintable(text)[:_MAX_LINE_CHARS])
