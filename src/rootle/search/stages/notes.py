"""Pipeline stage: add notes for the user, and suggestions if nothing was found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

from rootle.index.reader import SKIPPED_CODE, FileState, IndexReader
from rootle.rank.question.file_question import find_contained_names
from rootle.rank.question.parsed import Question
from rootle.search.query.operators import ParsedQuery
from rootle.search.query.parse import ParsedQuestion
from rootle.search.query.scope import ScopedQuery
from rootle.search.query.spelling import find_nearest_name
from rootle.search.request import SearchRequest
from rootle.search.stages.filter_notes import note_filters
from rootle.search.stages.low_confidence import check_confidence, note_unread
from rootle.search.stages.message_uses import describe_key_uses
from rootle.search.stages.ranked_answer import FindAnswer, RankedAnswer
from rootle.search.stages.unindexed_text import (
    ExplainExclusions,
    no_exclusions,
    note_excluded,
    note_excluded_entries,
    note_named_files,
    note_unindexed,
)
from rootle.serialization.brief import CORRECTED
from rootle.text.terms import STOP_WORDS, WORD, file_stem, split_identifier, whole_identifier
from rootle.types import SearchQuery

_EMPTY_INDEX: Final = (
    "the index is empty: run `rootle index` in a folder with text files; "
    "`rootle status --skipped` lists the skipped files"
)
_FALLBACK: Final = "nothing matches: try broader keywords or check the spelling"
_MAX_NAMES: Final = 3
_MAX_UNINDEXED: Final = 10_000  # files whose names are compared with a question
_LIKELY: Final = 0.5  # the score of a result that probably answers the question
# The name of a file that is a rare word: it has this many characters, and few files contain it.
_MIN_NAME_CHARS: Final = 5
_FEW_FILES: Final = 4
_RARE_SHARE: Final = 0.01


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
        if scoped.matches is not None and not question.parsed.has_filters:
            notes = (*describe_key_uses(request.session.index, scoped.matches), *notes)
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
        elif answer.scores[answer.order[0]] < _LIKELY and (
            named := _find_named_files(request, question)
        ):
            notes = (*notes, *note_named_files(named))
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


def _find_named_files(request: SearchRequest, question: ParsedQuestion) -> list[FileState]:
    """Return the generated and the too large files whose names a question without filters contains.

    A name of one word counts only if few indexed files contain this word.
    """
    if question.parsed.has_filters or request.query.languages:
        return []
    index = request.session.index
    every = (state for state in index.unindexed_files() if state.skip in SKIPPED_CODE)
    states = {state.path: state for state in islice(every, _MAX_UNINDEXED)}
    named = find_contained_names(states, question.question.text)
    return [states[path] for path in named if _has_rare_name(path, index)]


def _has_rare_name(path: str, index: IndexReader) -> bool:
    """Return whether the name of a file has several words, or one word that is rare."""
    name = file_stem(path).partition(".")[0]
    if len(split_identifier(name)) > 1:
        return True
    if len(name) < _MIN_NAME_CHARS:
        return False
    total, counts = index.sparse.file_frequencies(index.sparse.stems(whole_identifier(name)))
    return max(counts, default=0) <= max(_FEW_FILES, total * _RARE_SHARE)


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
