"""Pipeline stage: answer questions about one name from its definitions and uses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from rootle.rank.question.name_question import (
    NameQuestion,
    find_plain_operator,
    parse_name_question,
)
from rootle.search.query.parse import ParsedQuestion
from rootle.search.query.scope import ScopedQuery
from rootle.search.request import SearchRequest
from rootle.search.stages.ranked_answer import (
    FindAnswer,
    RankedAnswer,
    chunks_with_lines,
    put_first,
)
from rootle.search.symbols.symbol_request import SymbolRequest
from rootle.types import SymbolAnswer

if TYPE_CHECKING:
    from rootle.search.symbols.finder import SymbolFinder

# At most this many files are put first. `RankedAnswer.symbols` lists the uses in further files.
_MAX_FILES: Final = 30
_MAX_LINES_PER_FILE: Final = 4


class NamedSymbols:
    """Puts the files that define or use the name of a question first."""

    def __init__(self, open_finder: Callable[[], SymbolFinder]) -> None:
        """`open_finder` is called when a question needs the finder, because this loads a parser."""
        self._open_finder = open_finder

    def __call__(
        self, find: FindAnswer, request: SearchRequest, scoped: ScopedQuery
    ) -> RankedAnswer:
        """Return the answer; add definitions and uses of a name if the question asks for them."""
        question = _name_question(scoped.question)
        if question is None:
            return find(request, _note_plain_operator(scoped))
        index = request.session.index
        wanted = SymbolRequest(
            question.name,
            question.aspect,
            offset=question.offset,
            files=scoped.files,
            excluded=scoped.question.parsed.excluded_pattern,
        )
        finder = self._open_finder()
        found = finder.find_with_files(
            index, wanted, is_quick=question.is_bare, may_be_word=not question.is_explicit
        )
        if found is None or not _is_answer(found[0], question):
            answer = find(request, scoped)
            if not question.is_operator:
                return answer
            return replace(answer, symbols=found[0] if found else finder.find(index, wanted))
        symbols, ids = found
        lines = _lines_to_show(symbols, ids)
        chunk_ids = np.concatenate([scoped.chunk_ids, chunks_with_lines(index, lines)])
        answer = find(request, replace(scoped, chunk_ids=chunk_ids, lines=lines))
        return replace(put_first(answer, list(lines)), symbols=symbols)


def _name_question(question: ParsedQuestion) -> NameQuestion | None:
    parsed = question.parsed
    if question.translations or question.expansion:
        return None
    if parsed.is_exact or parsed.excluded:
        found = parse_name_question(parsed.words)
        return found if found is not None and found.is_operator else None
    return parse_name_question(question.question.text if question.corrections else parsed.text)


def _note_plain_operator(scoped: ScopedQuery) -> ScopedQuery:
    operator = find_plain_operator(scoped.question.parsed.text)
    if operator is None:
        return scoped
    note = (
        f'"{operator}" is searched as plain words, because the query has other words; add only '
        "filters, quoted phrases and excluded words to it"
    )
    return replace(scoped, notes=(*scoped.notes, note))


def _is_answer(symbols: SymbolAnswer, question: NameQuestion) -> bool:
    """Return whether the name is defined or, if it cannot be an ordinary word, at least used."""
    if symbols.definitions:
        return True
    return question.is_explicit and question.aspect != "definitions" and bool(symbols.uses)


def _lines_to_show(symbols: SymbolAnswer, ids: Mapping[str, int]) -> dict[int, Sequence[int]]:
    """Return the lines with uses and definitions, by file id, in the order of the files."""
    definitions = [(symbol.path, symbol.line) for symbol in symbols.definitions]
    uses = [(use.path, use.line) for use in symbols.uses]
    lines: defaultdict[int, list[int]] = defaultdict(list)
    for path, line in [*uses, *definitions]:
        if path in ids and (ids[path] in lines or len(lines) < _MAX_FILES):
            lines[ids[path]].append(line)
    return {at: found[:_MAX_LINES_PER_FILE] for at, found in lines.items()}
