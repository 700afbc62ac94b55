"""Pipeline stage: add notes for the user, and suggestions if nothing was found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from rootle.index.reader import IndexReader
from rootle.rank.question.parsed import Question
from rootle.search.query.operators import ParsedQuery
from rootle.search.query.parse import ParsedQuestion
from rootle.search.query.scope import ScopedQuery
from rootle.search.query.spelling import find_nearest_name
from rootle.search.request import SearchRequest
from rootle.search.stages.filter_notes import note_filters
from rootle.search.stages.low_confidence import check_confidence, note_unread
from rootle.search.stages.ranked_answer import FindAnswer, RankedAnswer
from rootle.search.stages.unindexed_text import (
    ExplainExclusions,
    no_exclusions,
    note_excluded,
    note_excluded_entries,
    note_unindexed,
    note_unindexed_file,
)
from rootle.serialization.brief import CORRECTED
from rootle.text.terms import STOP_WORDS, WORD, whole_identifier
from rootle.types import SearchQuery

_EMPTY_INDEX: Final = (
    "the index is empty: run `rootle index` in a folder with text files; "
    "`rootle status --skipped` lists the skipped files"
)
_FALLBACK: Final = "nothing matches: try broader keywords or check the spelling"
_MAX_NAMES: Final = 3


class Notes:
    """Adds notes about changes to the question, low confidence and empty answers."""

    def __init__(
        self, no_results_suggestion: str, explain_exclusions: ExplainExclusions = no_exclusions
    ) -> None:
        """`no_results_suggestion` is added to answers without results, unless it is empty."""
        self._no_results_suggestion = no_results_suggestion
        self._explain_exclusions = explain_exclusions

    def __call__(
        self, find: FindAnswer, request: SearchRequest, scoped: ScopedQuery
    ) -> RankedAnswer:
        """Return the answer with its notes."""
        answer = find(request, scoped)
        if _may_lack_words(answer):
            answer = check_confidence(answer, request.session.index)
        question = scoped.question
        notes = (*answer.notes, *_question_notes(question))
        if not answer.order:
            own = (self._no_results_suggestion,) if self._no_results_suggestion else ()
            notes = (*(notes or self._suggestions(request, question)), *own)
        if not answer.order or answer.confident is False:
            notes = (
                *notes,
                *note_unread(request.session.index),
                *note_excluded(request.query, question.parsed, self._explain_exclusions),
            )
        if not answer.order or _depends_on_all_text(request.query, question.parsed):
            notes = (*notes, *note_unindexed(request, scoped))
        else:
            notes = (*notes, *note_unindexed_file(request, scoped))
        return answer if notes == answer.notes else replace(answer, notes=notes)

    def _suggestions(self, request: SearchRequest, question: ParsedQuestion) -> tuple[str, ...]:
        """Return suggestions for a question without results, best first."""
        index = request.session.index
        if not index.dense.count:
            return (_EMPTY_INDEX, *note_excluded_entries(self._explain_exclusions))
        found = (*note_filters(request, question), *_similar_names(question.question, index))
        return found or (_FALLBACK,)


def _may_lack_words(answer: RankedAnswer) -> bool:
    """Return whether the question may be about words that no indexed text contains."""
    if answer.undefined:
        return bool(answer.order)
    if answer.symbols is not None or answer.confident is None or not answer.order:
        return False  # the index contains the name, or the confidence is unknown
    inputs = answer.candidates.inputs
    # A language model guesses some of the words in a composed query.
    return not answer.confident or bool(inputs.unknown and not inputs.question.is_composed)


def _depends_on_all_text(query: SearchQuery, parsed: ParsedQuery) -> bool:
    """Return whether the answer may be wrong if the index does not contain all text."""
    return parsed.is_exact or query.file_paths is not None or bool(parsed.paths)


def _question_notes(question: ParsedQuestion) -> list[str]:
    """Return notes about a question that was changed or may have been misunderstood."""
    notes = [
        f'{CORRECTED}"{one.typed}"; showing results for "{one.meant}"'
        for one in question.corrections
    ]
    parsed = question.parsed
    if not parsed.excluded:
        return notes
    words = {word.lower() for word in WORD.findall(parsed.text)}
    if not STOP_WORDS.isdisjoint(words):
        listed = " and ".join(f'"{word}"' for word in parsed.excluded)
        notes.append(
            f"lines with {listed} are left out; write {listed} without the - to search for it"
        )
    return notes


def _similar_names(question: Question, index: IndexReader) -> Iterator[str]:
    """Yield a note with defined names that are similar to unknown words of the question."""
    names = dict.fromkeys((*question.names, *map(whole_identifier, question.words)))
    unknown = [name for name in names if not index.sparse.is_known(name)]
    near = [find_nearest_name(name, index) for name in unknown]
    found = [f'"{name}"' for name in near if name is not None]
    if found:
        yield f"similar names that are defined here: {', '.join(found[:_MAX_NAMES])}"
