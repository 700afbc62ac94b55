"""Find the terms that code uses for the everyday words of a question.

The table was built from words and phrases that language models wrote (training/README.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rootle.models.shipped import QUESTION_WORDS_V1, model_file, read_question_terms
from rootle.protocols import WeightedTerm
from rootle.rank.question.intent import Intent
from rootle.rank.question.parsed import Question
from rootle.text.terms import STOP_WORDS, WORD

# The number of words in the longest phrase of the table.
MAX_PHRASE_WORDS: Final = 5
# Error messages and names of functions are meant literally.
_LITERAL_INTENTS: Final[frozenset[Intent]] = frozenset(("error", "symbol", "usage"))
# Questions with fewer words name a topic.
_MIN_WORDS: Final = 4
# The maximum number of related terms. With 16 terms, searches in large repositories find less. With
# 40 terms, searches take longer.
_MAX_TERMS: Final = 32
# The weights in the table are multiplied by this factor. The weight of a word of the question is 1.
# Tuned on the tune splits of the labeled questions.
_WEIGHT: Final = 0.2
WEIGHT_STEPS: Final = 64.0  # the weights in the table are multiples of 1 / 64


def find_related_terms(
    question: Question,
    stem: Callable[[str], list[str]],
    table: RelatedTermTable | None = None,
) -> tuple[WeightedTerm, ...]:
    """Return stems that code uses for the words of a question, most likely first.

    The result is empty for names, error messages and topics of a few words. It is also empty for
    queries that a language model composed, because they already use the words of code. `stem`
    converts space-separated words to the stems of the index. By default, `table` is the table in
    the package.
    """
    is_literal = question.intent in _LITERAL_INTENTS or question.is_composed
    if is_literal or len(question.words) < _MIN_WORDS:
        return ()
    words = [word.lower() for word in WORD.findall(question.text)]
    known = {term.text for term in question.terms}
    weights: dict[str, float] = {}
    for term, weight in _find_terms(words, stem(" ".join(words)), table or _read_table()):
        if term not in known:
            weights[term] = max(weight, weights.get(term, 0.0))
    best = sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:_MAX_TERMS]
    return tuple(WeightedTerm(term, weight * _WEIGHT) for term, weight in best)


def find_terms_of_words(
    stems: Sequence[str], table: RelatedTermTable | None = None
) -> Mapping[str, frozenset[str]]:
    """Return the stems that code uses for single words. Words that the table lacks are left out."""
    found = (table or _read_table()).find([phrase_key([stem]) for stem in stems])
    return {
        stem: frozenset(term for term, _ in terms)
        for stem, terms in zip(stems, found, strict=True)
        if terms is not None
    }


def phrase_key(stems: Sequence[str]) -> int:
    """Return the key of a phrase in the table."""
    digest = blake2b(" ".join(stems).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


class RelatedTermTable:
    """Maps phrases to terms, using arrays that are read in a millisecond."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], terms: Sequence[str]) -> None:
        """Create a table from the arrays of the model file and the stems of its terms.

        The phrase with the key `keys[i]` (ascending) has the list `lists[i]`. The rows of list j
        are those from `starts[j]` to `starts[j + 1]` of `terms` and `weights`.
        """
        self._keys = arrays["keys"]
        self._list_of = arrays["lists"]
        self._starts = arrays["starts"]
        self._terms = arrays["terms"]
        self._weights = arrays["weights"]
        self._texts = terms

    def find(self, keys: Sequence[int]) -> list[Sequence[tuple[str, float]] | None]:
        """Return the terms and weights of each phrase, or None if the table lacks the phrase."""
        wanted = np.array(keys, np.uint64)
        at = self._keys.searchsorted(wanted)
        at[at == len(self._keys)] = 0
        lists = self._list_of[at].tolist()
        for place in np.flatnonzero(self._keys[at] != wanted).tolist():
            lists[place] = None
        return [None if number is None else self._list(number) for number in lists]

    def _list(self, number: int) -> Sequence[tuple[str, float]]:
        start, end = self._starts[number : number + 2].tolist()
        texts = [self._texts[at] for at in self._terms[start:end].tolist()]
        return list(zip(texts, (self._weights[start:end] / WEIGHT_STEPS).tolist(), strict=True))


def related_words(question: Question) -> tuple[str, ...]:
    """Return the related terms of a question as readable words instead of stems."""
    words = _read_terms() if question.related else {}
    return tuple(words.get(term.text, term.text) for term in question.related)


@cache
def _read_table() -> RelatedTermTable:
    with np.load(model_file(QUESTION_WORDS_V1, "phrases.npz")) as arrays:
        return RelatedTermTable(dict(arrays), list(_read_terms()))


@cache
def _read_terms() -> Mapping[str, str]:
    """Return a word for each stem of the table."""
    return read_question_terms()


def _find_terms(
    words: Sequence[str], stems: Sequence[str], table: RelatedTermTable
) -> Iterator[tuple[str, float]]:
    """Yield the terms of each phrase. A phrase within a longer known phrase is ignored."""
    places = [
        (at, size)
        for at in range(len(words))
        for size in range(min(MAX_PHRASE_WORDS, len(words) - at), 0, -1)
        if size > 1 or words[at] not in STOP_WORDS
    ]
    found = table.find([phrase_key(stems[at : at + size]) for at, size in places])
    end = 0
    for (at, size), terms in zip(places, found, strict=True):
        if terms is not None and at >= end:
            end = at + size
            yield from terms
