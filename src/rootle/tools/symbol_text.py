"""Write the definitions and uses of a name as text for a language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from rootle.serialization.path_text import clean_line, cut_line, replace_unprintable
from rootle.serialization.symbols import (
    definition_lines,
    describe_definitions,
    describe_rest,
    describe_uses,
    is_qualified,
    use_lines,
)
from rootle.text.terms import encodable
from rootle.types import SymbolAnswer

_MAX_DEFINITIONS: Final = 8
_MAX_LINE_CHARS: Final = 160


def write_symbols(symbols: SymbolAnswer, restrictions: str, parameters: Sequence[str] = ()) -> str:
    """Return the definitions in a few lines, and a page of the uses if the query asks for them.

    `restrictions` are the filters and the excluded words of the query. `parameters` are the names
    of tool parameters that also filter the answer. A query that the text suggests includes both.
    """
    # Filters in a query match paths in a different way than parameters do, so a parameter cannot be
    # written as a filter.
    same = f" with the same {' and '.join(parameters)}," if parameters else ""
    shown = symbols.definitions[:_MAX_DEFINITIONS]
    lines = [f"{describe_definitions(symbols)}{':' if shown else ''}"]
    lines += [_code_line(f"  {line}") for line in definition_lines(shown)]
    left = len(symbols.definitions) - len(shown)
    if left:
        at_least = "" if symbols.has_all_definitions else "at least "
        lines.append(f"  … {at_least}{left} more")
    if symbols.similar:
        lines.append(f"similar names that are defined here: {', '.join(symbols.similar)}")
    if symbols.aspect == "definitions":
        uses = _query_for("uses", symbols, restrictions)
        them = "them"
        if is_qualified(symbols):
            them = f"those that may refer to {symbols.name}"
        hint = f":{same} query {uses} lists {them}" if symbols.total_uses else ""
        if symbols.mentions and symbols.is_complete and not is_qualified(symbols):
            hint = f": {', '.join(symbols.mentions)}"
        lines.append(f"{describe_uses(symbols)}{hint}")
    else:
        lines += [describe_uses(symbols), *map(_code_line, use_lines(symbols.uses))]
        if rest := describe_rest(symbols):
            next_use = symbols.offset + len(symbols.uses) + 1
            query = _query_for(symbols.aspect, symbols, restrictions, next_use)
            lines.append(f"… {rest}:{same} query {query}")
    return "\n".join(map(clean_line, lines))


def _code_line(line: str) -> str:
    """Return a line that quotes code, cut to a maximum length. Sentences are not cut."""
    return cut_line(clean_line(line), _MAX_LINE_CHARS)


def limit_files(symbols: SymbolAnswer, count: int) -> SymbolAnswer:
    """Return an answer with its first uses, from at most `count` files."""
    paths: set[str] = set()
    for at, use in enumerate(symbols.uses):
        paths.add(use.path)
        if len(paths) > count:
            return replace(symbols, uses=symbols.uses[:at])
    return symbols


def list_symbols(symbols: SymbolAnswer) -> Sequence[dict[str, Any]]:
    """Return the uses as the results of a search: source, score, text and about."""
    return [
        {
            "source": _clean(f"{use.path}:{use.line}"),
            "score": 1.0,
            "text": clean_line(use.text)[:_MAX_LINE_CHARS],
            "about": _clean(f"{use.kind} {use.scope}".strip()),
        }
        for use in symbols.uses
    ]


def _query_for(aspect: str, symbols: SymbolAnswer, restrictions: str, start: int = 1) -> str:
    """Return the query for the uses from `start` on."""
    first = f" from:{start}" if start > 1 else ""
    within = f" path:{symbols.within}" if symbols.within else ""
    return f"{aspect}:{symbols.name}{first}{within} {restrictions}".rstrip()


def _clean(text: str) -> str:
    return encodable(replace_unprintable(text)[:_MAX_LINE_CHARS])
