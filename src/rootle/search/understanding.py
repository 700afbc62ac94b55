"""What a question asks for, before anything is searched: its signs, its kind, its names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rootle.index.snapshot import Snapshot
from rootle.rank.foreign import language_of_question
from rootle.rank.question import STOP_WORDS, Question, parse_question
from rootle.search.query_syntax import ParsedQuery, parse_query
from rootle.search.spelling import Correction, corrected, corrections_of
from rootle.text import WORD
from rootle.types import Understood

if TYPE_CHECKING:
    from rootle.rank.glossary import Translation


@dataclass(frozen=True, slots=True)
class Asked:
    """A question in all its parts."""

    question: Question
    parsed: ParsedQuery
    corrections: tuple[Correction, ...] = ()
    translations: tuple[str, ...] = ()


def understand(text: str, snapshot: Snapshot) -> Asked:
    """Take a question apart; raises QueryError where its signs cannot be meant."""
    parsed = parse_query(text)
    stems = snapshot.sparse.stems
    translation = _translated(parsed.text)
    if translation is not None:
        question = parse_question(translation.for_words, stems)
        question = replace(question, text=translation.for_meaning)
        return Asked(question, parsed, translations=translation.terms)
    question = parse_question(parsed.text, stems)
    if parsed.is_exact:
        return Asked(question, parsed)  # what is quoted is meant as it is typed
    corrections = corrections_of(parsed.text, question, snapshot)
    if corrections:
        question = parse_question(corrected(parsed.text, corrections), stems)
    return Asked(question, parsed, corrections)


def _translated(text: str) -> Translation | None:
    language = language_of_question(text)
    if language is None:
        return None
    from rootle.rank.glossary import translate  # with a dictionary that few questions need

    return translate(text, language)


def understood(asked: Asked) -> Understood:
    """The same as it is shown to those who ask for it."""
    parsed = asked.parsed
    return Understood(
        intent=asked.question.intent,
        phrases=parsed.phrases,
        regex=parsed.regex,
        excluded=parsed.excluded,
        paths=(*parsed.paths, *_unwanted(parsed.excluded_paths)),
        languages=(*parsed.languages, *_unwanted(parsed.excluded_languages)),
        corrected={one.typed: one.meant for one in asked.corrections},
        translated=asked.translations,
    )


def remarks_on(asked: Asked) -> tuple[str, ...]:
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
