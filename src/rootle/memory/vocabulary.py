"""Term ids of memories and topics: the terms of `rootle.text.terms`, stemmed and numbered."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rootle.text.stemmer import open_stemmer
from rootle.text.terms import STOP_WORDS, TermTable, text_terms

# Words that occur in nearly every memory and topic.
_DOMAIN_WORDS: Final = ("user", "remember", "memory")
_STOP_WORDS: Final = " ".join((*sorted(STOP_WORDS), *_DOMAIN_WORDS))
# The weight of a stop word next to other words; `rank.question` uses the same value.
_STOP_WORD_WEIGHT: Final = 0.15
# Maximum number of distinct terms in a topic. A message with a pasted log has thousands, but states
# its purpose in the first ones.
_MAX_TOPIC_TERMS: Final = 128

TermIds = NDArray[np.int64]


class _StemIds(dict[str, int]):
    """Stem -> id. Looking up a new stem assigns the next id."""

    def __missing__(self, stem: str) -> int:
        self[stem] = number = len(self)
        return number


class Vocabulary:
    """The stems of all memories, numbered in order of appearance. Not thread-safe."""

    def __init__(self) -> None:
        stem = open_stemmer()
        self._table = TermTable(stem)
        self._ids = _StemIds()
        # Stop words get the first ids, so that an id alone identifies them.
        self._stop_words = len({self._ids[one] for one in stem(_STOP_WORDS)})

    def __len__(self) -> int:
        return len(self._ids)

    def encode_memory(self, text: str) -> list[int]:
        """Return the id of each word, in order; add unknown stems."""
        return list(map(self._ids.__getitem__, self._stem(text)))

    def encode_topic(self, text: str) -> TermIds:
        """Return the distinct ids of the words. Stems that no memory contains have negative ids."""
        stems = list(dict.fromkeys(self._stem(text)))[:_MAX_TOPIC_TERMS]
        return np.array(
            [self._ids.get(stem, -1 - at) for at, stem in enumerate(stems)], dtype=np.int64
        )

    def weigh(self, terms: TermIds) -> NDArray[np.float64]:
        """Return the weight of each term: 1, or less for a stop word."""
        is_stop_word = (terms >= 0) & (terms < self._stop_words)
        # A topic such as "what does the user like" consists only of stop words.
        return np.where(is_stop_word & ~is_stop_word.all(), _STOP_WORD_WEIGHT, 1.0)

    def _stem(self, text: str) -> list[str]:
        return text_terms(text, self._table).split()
