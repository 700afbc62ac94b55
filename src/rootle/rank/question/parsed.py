"""Parse a question into weighted terms, names and intent."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from rootle.protocols import WeightedTerm
from rootle.rank.question.intent import (
    Intent,
    asks_for_option,
    called_name,
    classify_intent,
    describes_change,
    is_composed,
)
from rootle.rank.question.test_request import asks_for_test, drop_purpose, may_concern_tests
from rootle.rank.question.version_question import asks_for_requirement, find_asked_version
from rootle.text.declared_names import find_declared_names
from rootle.text.terms import STOP_WORDS, WORD, split_identifier, whole_identifier, word_terms

# The weight of stop words. The weights 0, 0.15 and 0.4 were compared in the first prototype.
STOP_WEIGHT: Final = 0.15
# The weight of a term that joins two consecutive words, because they may be one identifier: "retry
# backoff" as retry_backoff.
PAIR_WEIGHT: Final = 0.5
MAX_TERMS: Final = 64
# The weight of terms that occur only in guessed names, or in the purpose at the end of a question.
GUESS_WEIGHT: Final = 0.5
# A question of up to six words names a topic, such as the subject of a file. A question of nine or
# more words describes one place in the code.
_TOPIC_WORDS: Final = 6
_PLACE_WORDS: Final = 9
# Questions with these intents ask about one place even if they are short
# (docs/decisions/0047-detail-depends-on-the-kind-of-question.md).
_PLACE_INTENTS: Final[frozenset[Intent]] = frozenset(("error", "test", "usage"))
# A request for a change that has fewer words, such as "handle redirects", names a topic. Tests
# seldom explain a topic.
_CHANGE_WORDS: Final = 5
# If fewer words remain without the guessed names, the text is a list of names. Then all names count
# equally.
_STATEMENT_WORDS: Final = 4
_COPY_WORD: Final = re.compile(
    r"\b(?:vendor(?:ed)?|third[- ]party|bundled|minified|generated|snapshots?|lock ?files?)\b", re.I
)
_TEXT_WORD: Final = re.compile(
    r"\b(?:translat\w*|locali[sz]\w*|locales?|i18n|l10n|gettext|fluent|xliff|msgid|messages?|labels?"
    r"|wording|captions?|texts?)\b",
    re.I,
)
_TABLE_WORD: Final = re.compile(
    r"\b(?:migrat\w*|schemas?|columns?|tables?|database|db|sql|backfill\w*|constraints?)\b", re.I
)
_QUALIFIED: Final = re.compile(r"[\w$]+(?:(?:::|\.|->|#|/|\\)[\w$]+)*(?:\(\))?[?!]?")
# A created thing is always new. In "create a new contact", the word would match "CreateNewUser".
_NEW: Final = re.compile(
    r"\b((?i:add|creat|make|making|register|build|insert|writ|open|start)\w{0,4}\s{1,3}(?:an?|the)\s)"
    r"\s{0,3}new\s"
)
_CLAUSE_END: Final = re.compile(r"[,;]\s")
_SENTENCE_END: Final = re.compile(r"[a-z)\]'\"][.:;]\s")
_CODE: Final = re.compile(r"\w\([^)]*\w|[={}]")
_MARKED: Final = re.compile(r"_|[a-z0-9][A-Z]|[A-Z]{2}[a-z]|::|->|\(\)|\w\.\w")

Stemmer = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class Question:
    """A parsed question."""

    text: str  # without guessed names and a final "for testing"; used for the vector search
    terms: tuple[WeightedTerm, ...]  # stemmed and distinct, in the order of the question
    words: tuple[str, ...]  # content words in lower case, with identifiers split
    names: tuple[str, ...]  # likely identifiers, normalized
    written_out: str  # all words joined without spaces
    is_symbol: bool  # the question is a single name
    is_about_tests: bool
    intent: Intent = "search"
    is_change: bool = False  # describes a change; changes usually include tests
    guesses: tuple[str, ...] = ()  # names that a language model guessed
    is_about_copies: bool = False  # mentions vendored or generated code
    is_about_texts: bool = False  # mentions translations or the texts of a user interface
    is_about_tables: bool = False  # mentions the tables of a database or migrations
    asks_for_option: bool = False  # documents describe the options of a program
    asks_for_requirement: bool = False  # of a version of a tool or a package
    is_composed: bool = False  # a description and names or code, as language models write
    code_terms: frozenset[str] = frozenset()  # terms that occur only in guessed code
    related: tuple[WeightedTerm, ...] = ()  # terms that code may use instead of these words
    version: str = ""  # the version whose changes the question asks for

    @property
    def content_terms(self) -> tuple[WeightedTerm, ...]:
        """The terms without stop words; all terms if there are only stop words."""
        content = tuple(term for term in self.terms if term.weight > STOP_WEIGHT)
        return content or self.terms

    @property
    def searched_terms(self) -> tuple[WeightedTerm, ...]:
        """The terms and the related terms."""
        return (*self.terms, *self.related)

    @property
    def detail(self) -> float:
        """How detailed the question is: from 0 for a topic to 1 for the description of a place."""
        if self.intent in _PLACE_INTENTS:
            return 1.0
        share = (len(self.words) - _TOPIC_WORDS) / (_PLACE_WORDS - _TOPIC_WORDS)
        return min(max(share, 0.0), 1.0)


def parse_question(text: str, stem: Stemmer) -> Question:
    """Parse a question. `stem` converts space-separated terms to the stems of the index."""
    text = _NEW.sub(r"\1", text)
    words = WORD.findall(text)
    statement = drop_purpose(text_without_guesses(text))
    bare = text.strip().strip("`'\"")
    is_symbol = _QUALIFIED.fullmatch(bare) is not None and len(words) > 0
    content = [
        part
        for word in words
        for part in split_identifier(word)
        if part not in STOP_WORDS or is_symbol
    ]
    distinct = tuple(dict.fromkeys(content))
    for_test = asks_for_test(statement, len(distinct))
    intent = classify_intent(statement, is_symbol=is_symbol, is_for_test=for_test, query=text)
    for_requirement = asks_for_requirement(text)
    if for_requirement:  # "which version" may also ask for the release with a change
        intent = "configuration"
    names = _names(text, words, is_symbol=is_symbol)
    given = names if statement == text else _names(statement, words, is_symbol=is_symbol)
    if intent == "usage":
        called = called_name(text)
        # The other names are guesses about the code that uses this name.
        names = given = (whole_identifier(called),) if called else given or names
    weights = _weigh_terms(words, frozenset(WORD.findall(statement)), is_symbol=is_symbol)
    terms = _stem_terms(weights, stem)
    return Question(
        statement,
        terms,
        distinct,
        names,
        "".join(whole_identifier(word) for word in words),
        is_symbol,
        for_test or may_concern_tests(statement, len(distinct)),
        intent,
        len(distinct) >= _CHANGE_WORDS and describes_change(text),
        tuple(name for name in names if name not in given),
        _COPY_WORD.search(text) is not None,
        _TEXT_WORD.search(text) is not None,
        _TABLE_WORD.search(text) is not None,
        asks_for_option(text),
        for_requirement,
        not is_symbol and is_composed(text),
        _find_code_terms(text, terms, stem),
        version=find_asked_version(text),
    )


def text_without_guesses(text: str) -> str:
    """Return a text without the names that follow its first clause.

    Language models describe what they search for and then add names that the code may have:
    "wait longer after each failed attempt, backoff, retry_delay". A wrong name must not hide the
    results of the description. If the text contains code, it is returned unchanged.
    """
    end = _CLAUSE_END.search(text)
    if end is None or _CODE.search(text) is not None:
        return text

    def keep(match: re.Match[str]) -> str:
        return "" if _MARKED.search(match.group()) else match.group()

    statement = text[: end.end()] + _QUALIFIED.sub(keep, text[end.end() :])
    return statement if len(WORD.findall(statement)) >= _STATEMENT_WORDS else text


def _find_code_terms(text: str, terms: Sequence[WeightedTerm], stem: Stemmer) -> frozenset[str]:
    """Return the terms that occur only in the code after a description."""
    code = _CODE.search(text)
    if code is None:
        return frozenset()
    ends = [found.end() for found in _SENTENCE_END.finditer(text, 0, code.start() + 1)]
    if not ends:
        return frozenset()
    described = [term for word in WORD.findall(text[: ends[-1]]) for term in word_terms(word)]
    return frozenset(term.text for term in terms) - frozenset(stem(" ".join(described)))


def _weigh_terms(
    words: Sequence[str], stated: Collection[str], *, is_symbol: bool
) -> list[tuple[str, float]]:
    """Return the weighted terms of all words. Words that are not in `stated` have less weight."""
    found: list[tuple[str, float]] = []
    for word in words:
        weight = 1.0 if word in stated else GUESS_WEIGHT
        for term in word_terms(word):
            is_stop = term in STOP_WORDS and not is_symbol
            found.append((term, STOP_WEIGHT if is_stop else weight))
    if not is_symbol:
        content = [word.lower() for word in words if word.lower() not in STOP_WORDS]
        for left, right in pairwise(content):
            if left.isalpha() and right.isalpha():
                found.append((left + right, PAIR_WEIGHT))
    return found


def _stem_terms(found: Sequence[tuple[str, float]], stem: Stemmer) -> tuple[WeightedTerm, ...]:
    """Return the distinct stems, each with its largest weight."""
    # One call stems all terms: they contain no white space, so each yields one stem.
    stemmed = stem(" ".join(term for term, _ in found))
    weights: dict[str, float] = {}
    for term, (_, weight) in zip(stemmed, found, strict=True):
        weights[term] = max(weight, weights.get(term, 0.0))
    return tuple(WeightedTerm(term, weight) for term, weight in weights.items())[:MAX_TERMS]


def _names(text: str, words: list[str], *, is_symbol: bool) -> tuple[str, ...]:
    if is_symbol:
        return (whole_identifier(words[-1]),)
    found = []
    for match in _QUALIFIED.finditer(text):
        name = match.group().rstrip(".?!")
        if _MARKED.search(name):
            found += [whole_identifier(part) for part in WORD.findall(name)[-2:]]
    found += map(whole_identifier, sorted(find_declared_names(text)))
    return tuple(dict.fromkeys(name for name in found if len(name) > 2))
