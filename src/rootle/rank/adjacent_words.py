"""Compare the order of words: which words of a question are also adjacent in a text.

Adjacent words are strong evidence in a large folder, where the single words of a question occur in
many files: an error message is quoted in one place, and a sentence is written in one document.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from rootle.text.terms import STOP_WORDS

# Words that share a prefix of this many bytes are treated as equal: "connection" and "connections".
_STEM_CHARS: Final = 7
_MAX_WORDS: Final = 60
# Maps ASCII letters to lower case. Digits and the bytes of non-ASCII characters stay unchanged, and
# all other bytes become spaces. Therefore names are split at underscores, but not at capitals.
_TO_WORDS: Final = bytes(
    at + 32 if 65 <= at <= 90 else at if at >= 128 or bytes((at,)).isalnum() else 32
    for at in range(256)
)

Triple = tuple[bytes, bytes, bytes]


@dataclass(frozen=True, slots=True)
class WordOrder:
    """Pairs and triples of adjacent words in a question, except those with only stop words."""

    words: frozenset[bytes]
    pairs: frozenset[tuple[bytes, bytes]]
    triples: frozenset[Triple]

    def shares_in(self, texts: Iterable[str]) -> tuple[float, float]:
        """Return the largest share of the pairs, and of the triples, that any one text contains."""
        best_pairs = best_triples = 0
        for text in texts:
            pairs, triples = self._count_in(_split(text))
            best_pairs, best_triples = max(best_pairs, pairs), max(best_triples, triples)
        return best_pairs / max(1, len(self.pairs)), best_triples / max(1, len(self.triples))

    def _count_in(self, words: Sequence[bytes]) -> tuple[int, int]:
        """Return how many of the pairs and of the triples some words in lower case contain."""
        found: set[tuple[bytes, ...]] = set()
        # A text repeats its words, so each distinct word is cut and looked up only once.
        known = {word for word in set(words) if word[:_STEM_CHARS] in self.words}
        hits = [at for at, word in enumerate(words) if word in known]
        for at, following in pairwise(hits):
            if following == at + 1:
                triple = tuple([word[:_STEM_CHARS] for word in words[at : at + 3]])
                found |= {triple[:2], triple}
        return len(found & self.pairs), len(found & self.triples)


def split_words(text: str) -> list[bytes]:
    """Return the words of a text in lower case, each cut to its first seven bytes."""
    return [word[:_STEM_CHARS] for word in _split(text)]


def _split(text: str) -> list[bytes]:
    return text.encode("utf-8", "surrogatepass").translate(_TO_WORDS).split()


_STOP_STEMS: Final = frozenset(word.encode()[:_STEM_CHARS] for word in STOP_WORDS)


def word_order(question: str) -> WordOrder:
    """Return the adjacent words of a question."""
    words = split_words(question)[:_MAX_WORDS]
    pairs = frozenset(pair for pair in pairwise(words) if not _STOP_STEMS.issuperset(pair))
    triples = frozenset(
        triple
        for triple in zip(words, words[1:], words[2:], strict=False)
        if not _STOP_STEMS.issuperset(triple)
    )
    return WordOrder(frozenset(words), pairs, triples)
