"""Pipeline stage: answer questions about one name from its definitions and uses."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from rootle.rank.question.name_question import NameQuestion
from rootle.search.query.file_filters import filter_files
from rootle.search.query.operators import ParsedQuery
from rootle.search.query.scope import ScopedQuery
from rootle.search.request import SearchRequest
from rootle.search.results.working_tree import WorkingTree
from rootle.search.stages.ranked_answer import (
    FindAnswer,
    RankedAnswer,
    chunks_with_lines,
    put_first,
)
from rootle.search.stages.undefined_names import describe_undefined
from rootle.search.stages.unindexed_text import note_unindexed_name
from rootle.search.symbols.name_places import may_end_names
from rootle.search.symbols.name_rarity import is_rare_name
from rootle.search.symbols.symbol_request import SymbolRequest
from rootle.types import SearchQuery, SymbolAnswer

if TYPE_CHECKING:
    from rootle.search.symbols.finder import SymbolFinder

# At most this many files are put first. `RankedAnswer.symbols` lists the uses in further files.
_MAX_FILES: Final = 30
_MAX_LINES_PER_FILE: Final = 4
_VARIABLE: Final = re.compile(r"([a-z_]\w*)(?:\.|->|:)(?=\w+(?:\(\))?$)")


@dataclass(frozen=True, slots=True)
class _NameQuestion:
    """A question about a name, and the context in which it is answered."""

    question: NameQuestion
    request: SearchRequest
    scoped: ScopedQuery
    find: FindAnswer

    def find_plainly(self) -> RankedAnswer:
        """Return the answer of an ordinary search."""
        return self.find(self.request, self.scoped)


class NamedSymbols:
    """Puts the files that define or use the name of a question first."""

    def __init__(
        self, open_finder: Callable[[], SymbolFinder], tree: WorkingTree | None = None
    ) -> None:
        """`open_finder` loads a parser, so it is called only for questions that need the finder.

        `tree` is the indexed folder, if there is one.
        """
        self._open_finder = open_finder
        self._tree = tree

    def __call__(
        self, find: FindAnswer, request: SearchRequest, scoped: ScopedQuery
    ) -> RankedAnswer:
        """Return the answer; add definitions and uses of a name if the question asks for them."""
        question = scoped.question.name
        if question is None:
            return find(request, _note_plain_operator(scoped))
        asked = _NameQuestion(question, request, scoped, find)
        answer = self._answer_for_marked_name(asked)
        if answer is None and question.needs_mark:
            return asked.find_plainly()
        answer = answer or self._answer_with_uses(asked) or self._answer_plainly(asked)
        is_defined = answer.symbols is not None and answer.symbols.definitions
        # A list of uses is complete only if it includes those in generated code.
        is_complete = is_defined and question.aspect == "definitions"
        if is_complete or not question.is_explicit or self._tree is None:
            return answer
        found = answer.symbols
        definitions, uses = (found.definitions, found.uses) if found is not None else ((), ())
        listed = {f"{symbol.path}:{symbol.line}" for symbol in definitions}
        listed |= {f"{use.path}:{use.line}" for use in uses}
        notes = note_unindexed_name(question.name, request, scoped, self._tree, listed)
        return replace(answer, notes=(*answer.notes, *notes))

    def _answer_plainly(self, asked: _NameQuestion) -> RankedAnswer:
        """Return the answer of an ordinary search, and say in it if the name has no definition.

        This is not said if other words of the question describe what is searched for.
        """
        if asked.question.names_owner:
            return asked.find_plainly()
        index = asked.request.session.index
        undefined = describe_undefined(asked.question, asked.scoped.files, index, self._open_finder)
        return replace(asked.find_plainly(), undefined=undefined)

    def _answer_for_marked_name(self, asked: _NameQuestion) -> RankedAnswer | None:
        """Return the answer for the name with its "?" or "!"; None if there is no such answer.

        If the character may just end the sentence, a definition of this name is required.
        """
        question = asked.question
        if not question.marked_name:
            return None
        languages = {state.language for state in asked.request.session.index.all_files()}
        if not may_end_names(question.marked_name[-1], languages):
            return None
        marked = replace(
            question,
            name=question.marked_name,
            marked_name="",
            is_explicit=question.is_surely_marked,
            must_be_rare=False,
        )
        answer = self._answer_with_uses(replace(asked, question=marked))
        return self._remove_mark(asked, answer) or answer if question.is_operator else answer

    def _remove_mark(
        self, asked: _NameQuestion, answer: RankedAnswer | None
    ) -> RankedAnswer | None:
        """Return the answer for the name without the mark, if only that name is found.

        `answer` is the answer for the name with the mark.
        """
        if _is_found(answer):
            return None
        plain = self._answer_with_uses(asked)
        if plain is None or not _is_found(plain):
            return None
        marked = asked.question.marked_name
        note = f'{marked} was not found; the answer is about the name without "{marked[-1]}"'
        return replace(plain, notes=(note, *plain.notes))

    def _answer_with_uses(self, asked: _NameQuestion) -> RankedAnswer | None:
        """Return the answer, or None if there is none.

        If there are no uses of the requested kind, list all uses, and say so in a note.
        """
        answer = self._answer_in_place(asked) or self._answer_for_variable(asked)
        aspect, name = asked.question.aspect, asked.question.name
        if aspect not in ("assignments", "reads") or asked.question.is_operator:
            return answer
        if answer is not None and answer.symbols is not None and answer.symbols.total_uses:
            return _note_value(answer, answer.symbols, asked.question)
        asked = replace(asked, question=replace(asked.question, aspect="uses"))
        answer = self._answer_in_place(asked) or self._answer_for_variable(asked)
        if answer is None or answer.symbols is None or not answer.symbols.total_uses:
            return answer
        note = f"no {aspect} of {name} were found; all its uses are listed"
        return replace(answer, notes=(note, *answer.notes))

    def _answer_in_place(self, asked: _NameQuestion) -> RankedAnswer | None:
        """Return the answer for the path at the end of a question, or None if there is none.

        If nothing is found in this path, return the answer for all files, with a note that gives
        the reason. If the path does not exist and the name may be an ordinary word, return None.
        """
        question = asked.question
        if not question.place:
            return self._answer(asked)
        files = _files_at(question.place, asked.request, asked.scoped)
        if not files and not question.is_explicit:
            return None
        if files:
            answer = self._answer(replace(asked, scoped=replace(asked.scoped, files=files)))
            symbols = answer.symbols if answer is not None else None
            if answer is not None and symbols is not None and _has_asked(symbols):
                return replace(answer, symbols=replace(symbols, within=question.place))
        answer = self._answer(asked)
        if answer is None:
            return None
        note = f'no path here contains "{question.place}"'
        if files:
            note = f"there are no {question.aspect} of {question.name} in {question.place}"
        note = f"{note}; those in all files are listed"
        return replace(answer, notes=(note, *answer.notes))

    def _answer_for_variable(self, asked: _NameQuestion) -> RankedAnswer | None:
        """Return the answer for `member` in "who reads x.member". Ignore the class of x."""
        question = asked.question
        match = _VARIABLE.match(question.name)
        if match is None or question.is_operator or question.aspect == "definitions":
            return None
        member = question.name[match.end() :]
        answer = self._answer_in_place(replace(asked, question=replace(question, name=member)))
        if answer is None:
            return None
        note = (
            f"no class or module {match[1]} with {member} is known; showing {member} of any class"
        )
        return replace(answer, notes=(note, *answer.notes))

    def _answer(self, asked: _NameQuestion) -> RankedAnswer | None:
        """Return the answer with the symbols, or None if the question is not about a name."""
        question, scoped, index = asked.question, asked.scoped, asked.request.session.index
        wanted = SymbolRequest(
            question.name,
            question.aspect,
            offset=question.offset,
            files=scoped.files,
            excluded=scoped.question.parsed.excluded_pattern,
            has_mentions=question.is_operator,
            value=question.value,
        )
        if question.must_be_rare and not is_rare_name(question.name, index):
            return None
        finder = self._open_finder()
        found = finder.find_with_files(
            index, wanted, is_quick=question.is_bare, may_be_word=not question.is_explicit
        )
        if found is None or not _is_answer(found[0], question):
            if not question.is_operator:
                return None
            answer = asked.find_plainly()
            return replace(answer, symbols=found[0] if found else finder.find(index, wanted))
        symbols, ids = found
        lines = _lines_to_show(symbols, ids)
        chunk_ids = np.concatenate([scoped.chunk_ids, chunks_with_lines(index, lines)])
        answer = asked.find(asked.request, replace(scoped, chunk_ids=chunk_ids, lines=lines))
        return replace(put_first(answer, list(lines)), symbols=symbols)


def _files_at(place: str, request: SearchRequest, scoped: ScopedQuery) -> set[int]:
    """Return the files of the scope that match `path:` with this place.

    Return no files unless the place names a file or a folder, with or without an extension.
    """
    states = request.session.index.all_files()
    whole = re.compile(rf"(?:^|/){re.escape(place.strip('/'))}(?:[./]|$)", re.IGNORECASE)
    if not any(whole.search(state.path) for state in states):
        return set()
    at_path = ParsedQuery("", paths=(place,))
    found = filter_files(SearchQuery(""), at_path, states, request.now_s) or set()
    return found if scoped.files is None else found.intersection(scoped.files)


def _has_asked(symbols: SymbolAnswer) -> bool:
    """Return whether an answer has any of the requested definitions or uses."""
    return bool(symbols.definitions if symbols.aspect == "definitions" else symbols.total_uses)


def _is_found(answer: RankedAnswer | None) -> bool:
    """Return whether an answer has definitions or uses of the name."""
    symbols = answer.symbols if answer is not None else None
    return symbols is not None and bool(symbols.definitions or symbols.total_uses)


def _note_value(
    answer: RankedAnswer, symbols: SymbolAnswer, question: NameQuestion
) -> RankedAnswer:
    """Return the answer, with a note if no line assigns the value.

    The value is that of "what sets NAME to VALUE". Lines with it come first, so only the first line
    is checked.
    """
    from rootle.search.symbols.uses.assigned_value import assigns_value  # loads a parser

    value = question.value
    if not value or symbols.offset or assigns_value(symbols.uses[0], symbols.name, value):
        return answer
    note = f"no line that sets {symbols.name} contains {value}; all its assignments are listed"
    return replace(answer, notes=(note, *answer.notes))


def _note_plain_operator(scoped: ScopedQuery) -> ScopedQuery:
    note = (
        f'"{scoped.question.plain_operator}" is searched as plain words, because the query has '
        "other words; add only filters, quoted phrases and excluded words to it"
    )
    return replace(scoped, notes=(*scoped.notes, note))


def _is_answer(symbols: SymbolAnswer, question: NameQuestion) -> bool:
    """Return whether a definition of the name or a test for it was found.

    If the name cannot be an ordinary word, a use is enough. If the question also describes what it
    searches for in other words, what it asks about the name must be found.
    """
    if question.names_owner and not (symbols.uses or question.aspect == "definitions"):
        return False
    if symbols.definitions or "test" in symbols.counts:
        return True
    return question.is_explicit and question.aspect != "definitions" and bool(symbols.uses)


def _lines_to_show(symbols: SymbolAnswer, ids: Mapping[str, int]) -> dict[int, Sequence[int]]:
    """Return the lines with uses and definitions by file id. Files with uses come first."""
    definitions = [(symbol.path, symbol.line) for symbol in symbols.definitions]
    uses = [(use.path, use.line) for use in symbols.uses]
    lines: defaultdict[int, list[int]] = defaultdict(list)
    for path, line in [*uses, *definitions]:
        if path in ids and (ids[path] in lines or len(lines) < _MAX_FILES):
            lines[ids[path]].append(line)
    return {at: found[:_MAX_LINES_PER_FILE] for at, found in lines.items()}
