"""What a question asks for: its terms with their weights, the names in it, what it is about."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from rootle.protocols import WeightedTerm
from rootle.rank.question.intent import Intent, intent_of, tells_change
from rootle.text.terms import STOP_WORDS, WORD, split_identifier, whole_identifier, word_terms

# Tried with 0, .15 and .4 by the spike that the ranking started from.
STOP_WEIGHT: Final = 0.15
# Two neighbouring words may stand as one identifier: "retry backoff" as retry_backoff.
PAIR_WEIGHT: Final = 0.5
MAX_TERMS: Final = 64
# Up to six words name a topic, which a whole file is about; from nine on they tell of one place.
_TOPIC_WORDS: Final = 6
_PLACE_WORDS: Final = 9
# "Handle redirects" names a topic, and its tests are no better an answer than those of any other.
_CHANGE_WORDS: Final = 5
_TEST_WORDS: Final = frozenset({"test", "tests", "testing", "tested", "spec", "specs", "fixture"})
_QUALIFIED: Final = re.compile(r"[\w$]+(?:(?:::|\.|->|#|/|\\)[\w$]+)*(?:\(\))?[?!]?")
_MARKED: Final = re.compile(r"_|[a-z0-9][A-Z]|[A-Z]{2}[a-z]|::|->|\(\)|\w\.\w")

Stems = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class Question:
    """A question taken apart."""

    text: str
    terms: tuple[WeightedTerm, ...]  # stemmed, each once, in the order of the question
    words: tuple[str, ...]  # content words, lower case, parts of identifiers apart
    names: tuple[str, ...]  # what looks like identifiers in it, in one spelling
    written_out: str  # all its words run together
    is_symbol: bool  # nothing but one name
    is_about_tests: bool
    intent: Intent = "search"
    is_change: bool = False  # tells in some words what is to be changed, which means tests as well

    @property
    def content_terms(self) -> tuple[WeightedTerm, ...]:
        """The terms without stop words; all of them where there is nothing else."""
        content = tuple(term for term in self.terms if term.weight > STOP_WEIGHT)
        return content or self.terms

    @property
    def detail(self) -> float:
        """0 for a question of few words, 1 for one that describes a single place in many."""
        share = (len(self.words) - _TOPIC_WORDS) / (_PLACE_WORDS - _TOPIC_WORDS)
        return min(max(share, 0.0), 1.0)


def parse_question(text: str, stems: Stems) -> Question:
    """Take a question apart; `stems` turns terms with spaces between into those of the index."""
    words = WORD.findall(text)
    bare = text.strip().strip("`'\"")
    is_symbol = _QUALIFIED.fullmatch(bare) is not None and len(words) > 0
    content = [
        part
        for word in words
        for part in split_identifier(word)
        if part not in STOP_WORDS or is_symbol
    ]
    different = tuple(dict.fromkeys(content))
    return Question(
        text,
        _terms(words, stems, is_symbol=is_symbol),
        different,
        _names(text, words, is_symbol=is_symbol),
        "".join(whole_identifier(word) for word in words),
        is_symbol,
        any(word.lower() in _TEST_WORDS for word in words),
        intent_of(text, is_symbol=is_symbol),
        len(different) >= _CHANGE_WORDS and tells_change(text),
    )


def _terms(words: list[str], stems: Stems, *, is_symbol: bool) -> tuple[WeightedTerm, ...]:
    found: list[tuple[str, float]] = []
    for word in words:
        for term in word_terms(word):
            is_stop = term in STOP_WORDS and not is_symbol
            found.append((term, STOP_WEIGHT if is_stop else 1.0))
    if not is_symbol:
        content = [word.lower() for word in words if word.lower() not in STOP_WORDS]
        for left, right in pairwise(content):
            if left.isalpha() and right.isalpha():
                found.append((left + right, PAIR_WEIGHT))
    # All at once: a term has no white space in it, so each comes back as one.
    stemmed = stems(" ".join(term for term, _ in found))
    weights: dict[str, float] = {}
    for stem, (_, weight) in zip(stemmed, found, strict=True):
        weights[stem] = max(weight, weights.get(stem, 0.0))
    return tuple(WeightedTerm(term, weight) for term, weight in weights.items())[:MAX_TERMS]


def _names(text: str, words: list[str], *, is_symbol: bool) -> tuple[str, ...]:
    if is_symbol:
        return (whole_identifier(words[-1]),)
    found = []
    for match in _QUALIFIED.finditer(text):
        name = match.group().rstrip(".?!")
        if _MARKED.search(name):
            found += [whole_identifier(part) for part in WORD.findall(name)[-2:]]
    return tuple(dict.fromkeys(name for name in found if len(name) > 2))
