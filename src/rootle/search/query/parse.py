"""What a question asks for, before anything is searched: its signs, its kind, its names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from rootle.index.local.snapshot import Snapshot
from rootle.protocols import MAX_MATCH_TERMS, WeightedTerm
from rootle.rank.question.language_detection import detect_language
from rootle.rank.question.parsed import Question, parse_question
from rootle.search.query.spelling import Correction, corrected, corrections_of
from rootle.search.query.syntax import ParsedQuery, parse_query
from rootle.search.retrieval.candidates import SparseReader
from rootle.text.terms import STOP_WORDS, WORD, split_identifier
from rootle.types import QueryInterpretation

if TYPE_CHECKING:
    from rootle.rank.question.glossary import Translation

# Of the pairs of characters in a question; in the middle of other words few stay the same.
_SAME_SHARE: Final = 0.6


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """A question in all its parts."""

    question: Question
    parsed: ParsedQuery
    corrections: tuple[Correction, ...] = ()
    translations: tuple[str, ...] = ()


def understand(text: str, snapshot: Snapshot) -> ParsedQuestion:
    """Take a question apart; raises QueryError where its signs cannot be meant."""
    parsed = parse_query(text)
    stems = snapshot.sparse.stems
    translation = _translated(parsed.text, snapshot.sparse)
    if translation is not None:
        question = parse_question(translation.for_words, stems)
        question = replace(question, text=translation.for_meaning)
        return ParsedQuestion(question, parsed, translations=translation.terms)
    question = parse_question(parsed.text, stems)
    if parsed.is_exact:
        return ParsedQuestion(question, parsed)  # what is quoted is meant as it is typed
    corrections = corrections_of(parsed.text, question, snapshot)
    if corrections:
        question = parse_question(corrected(parsed.text, corrections), stems)
    return ParsedQuestion(question, parsed, corrections)


def _translated(text: str, index: SparseReader) -> Translation | None:
    language = detect_language(text)
    if language is None or (language in ("zh", "ja") and _stands_somewhere(text, index)):
        return None
    from rootle.rank.question.glossary import translate  # with a dictionary that few questions need

    return translate(text, language)


def _stands_somewhere(text: str, index: SparseReader) -> bool:
    """Whether some chunk says it in nearly the same characters: that is the answer then."""
    found = [term for word in WORD.findall(text) if not word.isascii()
             for term in split_identifier(word) if not term.isascii()]  # fmt: skip
    terms = list(dict.fromkeys(found))[:MAX_MATCH_TERMS]
    best = index.query([WeightedTerm(term, 1.0) for term in terms], 1)
    _, masks = index.matches(terms, 1, among="chunk", ids=best.ids.tolist())
    return any(int(mask).bit_count() >= _SAME_SHARE * len(terms) for mask in masks)


def interpret(asked: ParsedQuestion) -> QueryInterpretation:
    """The same as it is shown to those who ask for it."""
    parsed = asked.parsed
    return QueryInterpretation(
        intent=asked.question.intent,
        phrases=parsed.phrases,
        regex=parsed.regex,
        excluded=parsed.excluded,
        paths=(*parsed.paths, *_unwanted(parsed.excluded_paths)),
        languages=(*parsed.languages, *_unwanted(parsed.excluded_languages)),
        corrected={one.typed: one.meant for one in asked.corrections},
        translated=asked.translations,
    )


def remarks_on(asked: ParsedQuestion) -> tuple[str, ...]:
    """What a person should know who may have meant something else."""
    remarks = [
        f'no "{one.typed}" here; showing results for "{one.meant}"' for one in asked.corrections
    ]
    parsed = asked.parsed
    words = {word.lower() for word in WORD.findall(parsed.text)}
    if parsed.excluded and not STOP_WORDS.isdisjoint(words):
        listed = " and ".join(f'"{word}"' for word in parsed.excluded)
        remarks.append(
            f"lines with {listed} are left out; write {listed} without the - to ask for it"
        )
    return tuple(remarks)


def _unwanted(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"-{value}" for value in values)
