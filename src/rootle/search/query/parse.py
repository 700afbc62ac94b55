"""Step 1: parse a question into operators, terms, names and intent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Final

from rootle.index.reader import IndexReader, SparseReader
from rootle.protocols import MAX_MATCH_TERMS, WeightedTerm
from rootle.rank.pasted_text import may_be_pasted
from rootle.rank.question.file_question import asks_for_file
from rootle.rank.question.language_detection import Language, detect_language
from rootle.rank.question.name_question import (
    NameQuestion,
    find_plain_operator,
    parse_name_question,
)
from rootle.rank.question.parsed import Question, parse_question
from rootle.rank.question.related_terms import find_related_terms, related_words
from rootle.search.query.operators import ParsedQuery, parse_query
from rootle.search.query.spelling import Correction, apply_corrections, find_corrections
from rootle.search.query_traits import NO_TRAITS, Traits
from rootle.search.request import SearchRequest
from rootle.serialization.dates import read_revision
from rootle.serialization.timestamps import format_timestamp
from rootle.text.stemmer import open_stemmer
from rootle.text.terms import WORD, split_identifier
from rootle.text.whole_names import contains_option
from rootle.types import QueryInterpretation

if TYPE_CHECKING:
    from rootle.rank.question.glossary import Translation

# If a chunk contains this share of the character pairs of a Chinese or Japanese question, the
# question is not translated. Unrelated texts in the same language have few pairs in common.
_MIN_SHARED_PAIRS: Final = 0.6
# The traits that depend on the words of a question.
_WORD_TRAITS: Final[Traits] = frozenset({"file", "names", "pasted", "version"})
_open_stemmer: Final = cache(open_stemmer)


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """A question after parsing."""

    question: Question  # its terms, names and intent, used to retrieve and rank
    parsed: ParsedQuery  # its operators
    language: Language | None = None  # None if it is probably English
    corrections: tuple[Correction, ...] = ()
    translations: tuple[str, ...] = ()  # English terms that were added
    meanings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # word -> translations
    expansion: str = ""  # words from a language model that were added to `question`
    name: NameQuestion | None = None  # if it is about one name
    plain_operator: str = ""  # an operator at its start that is searched as words
    traits: Traits = NO_TRAITS  # of the query


def parse(request: SearchRequest) -> ParsedQuestion:
    """Return the parsed question of a request, with all traits of the query."""
    question = _parse(request.parsed, request.session.index)
    if request.expansion:
        question = _expand(question, request.expansion)
    name = _find_name(question)
    operator = find_plain_operator(request.parsed.text) or ""
    traits = request.traits | _find_traits(question)
    if name is not None or operator:
        return replace(question, name=name, plain_operator=operator, traits=traits | {"name"})
    return replace(question, traits=traits)


def parse_text(text: str, index: IndexReader) -> ParsedQuestion:
    """Parse a text outside of a request. Raise QueryError if an operator is invalid."""
    return _parse(parse_query(text), index)


def ignore_phrases(question: ParsedQuestion) -> ParsedQuestion:
    """Return a question whose quotes are ignored."""
    plain = replace(question, parsed=replace(question.parsed, phrases=()))
    kept = question.traits - _WORD_TRAITS - {"exact"}
    return replace(plain, traits=kept | _find_traits(plain))


def _parse(parsed: ParsedQuery, index: IndexReader) -> ParsedQuestion:
    """Parse the words of a question, after translating them or correcting names if necessary."""
    stems = _open_stemmer()
    language = detect_language(parsed.text)
    translation = None if language is None else _translate(parsed.text, language, index.sparse)
    if translation is not None:
        question = parse_question(translation.for_words, stems)
        return ParsedQuestion(
            replace(question, text=translation.for_meaning),
            parsed,
            language,
            translations=translation.terms,
            meanings=translation.meanings,
        )
    question = parse_question(parsed.text, stems)
    # Quoted text is meant literally, a pasted error message has no typing errors, and a language
    # model that guesses a name does not misspell it.
    corrections: tuple[Correction, ...] = ()
    is_literal = parsed.is_exact or question.intent == "error" or question.is_composed
    if question.names and not is_literal:
        corrections = find_corrections(parsed.text, question.names, index)
    if corrections:
        question = parse_question(apply_corrections(parsed.text, corrections), stems)
    if not parsed.is_exact:
        question = replace(question, related=find_related_terms(question, stems))
    return ParsedQuestion(question, parsed, language, corrections)


def _find_name(question: ParsedQuestion) -> NameQuestion | None:
    parsed = question.parsed
    if question.translations or question.expansion:
        return None
    if parsed.is_exact or parsed.excluded:
        found = parse_name_question(parsed.words)
        return found if found is not None and found.is_operator else None
    found = parse_name_question(question.question.text if question.corrections else parsed.text)
    # Files would have to match both `path:` and the place, which a query cannot express.
    return None if found is not None and found.place and parsed.paths else found


def _find_traits(question: ParsedQuestion) -> Traits:
    """Return those of `_WORD_TRAITS` that a question has."""
    parsed = question.parsed
    traits: Traits = frozenset({"names"}) if _may_name_code(question) else NO_TRAITS
    if may_be_pasted(parsed.text, has_phrases=bool(parsed.phrases)):
        traits |= {"pasted"}
    if question.question.version:
        traits |= {"version"}
    if asks_for_file(parsed.text):
        traits |= {"file"}
    return traits


def _may_name_code(question: ParsedQuestion) -> bool:
    """Return whether a question may name the code that it is about.

    This is not so if the question has a phrase or a regex, was corrected or expanded, asks for
    tests, or was composed by a language model. Language models add names to a description to narrow
    it down. These names often belong to code that the described code uses. An option, such as
    "--verbose", always counts.
    """
    words = question.question
    is_literal = not (question.parsed.is_exact or question.corrections or question.expansion)
    is_about_code = not (words.is_composed or words.intent == "test")
    has_names = (bool(words.names) and is_about_code) or contains_option(words.text)
    return has_names and is_literal


def interpret(question: ParsedQuestion) -> QueryInterpretation:
    """Return the public record of how a question was parsed."""
    parsed = question.parsed
    return QueryInterpretation(
        intent=question.question.intent,
        phrases=parsed.phrases,
        regex=parsed.regex,
        excluded=parsed.excluded,
        paths=(*parsed.paths, *_negate(parsed.excluded_paths)),
        languages=(*parsed.languages, *_negate(parsed.excluded_languages)),
        corrected={one.typed: one.meant for one in question.corrections},
        translated=question.translations,
        expansion=question.expansion,
        related=related_words(question.question),
        kinds=parsed.kinds,
        authors=parsed.authors,
        since=_readable_date(parsed.since),
        until=_readable_date(parsed.until),
    )


def _readable_date(text: str) -> str:
    """Return a date or a revision as it was written; convert a Unix time, such as @0, to a date."""
    if revision := read_revision(text):
        return revision
    return format_timestamp(float(text[1:])) if re.fullmatch(r"@\d{1,11}", text) else text


def _expand(question: ParsedQuestion, expansion: str) -> ParsedQuestion:
    """Return a question with the words and names of an expansion added to its own.

    Operators in the expansion are treated as plain words, so an expansion cannot filter results.
    The intent is that of the question as typed.
    """
    typed = question.question
    expanded = parse_question(f"{typed.text} {expansion}", _open_stemmer())
    expanded = replace(expanded, intent=typed.intent)
    return replace(question, question=expanded, expansion=expansion)


def _translate(text: str, language: Language, index: SparseReader) -> Translation | None:
    if language in ("zh", "ja") and _occurs_verbatim(text, index):
        return None
    # The glossary is large, and few questions need it.
    from rootle.rank.question.glossary import translate

    return translate(text, language)


def _occurs_verbatim(text: str, index: SparseReader) -> bool:
    """Return whether some chunk contains most of the character pairs of a text."""
    words = (word for word in WORD.findall(text) if not word.isascii())
    pairs = (pair for word in words for pair in split_identifier(word) if not pair.isascii())
    terms = list(dict.fromkeys(pairs))[:MAX_MATCH_TERMS]
    best = index.query([WeightedTerm(term, 1.0) for term in terms], 1)
    _, masks = index.matches(terms, 1, among="chunk", ids=best.ids.tolist())
    return any(int(mask).bit_count() >= _MIN_SHARED_PAIRS * len(terms) for mask in masks)


def _negate(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"-{value}" for value in values)
