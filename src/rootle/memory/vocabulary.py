"""What a memory says, as terms: the words of `rootle.text.terms`, stemmed and numbered."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rootle.text.stemmer import open_stemmer
from rootle.text.terms import STOP_WORDS, TermTable, text_terms

# What nearly every memory is about, and every topic names.
_OF_MEMORIES: Final = ("user", "remember", "memory")
_LITTLE_WORDS: Final = " ".join((*sorted(STOP_WORDS), *_OF_MEMORIES))
# What a word that says little counts beside others; `rank.question` has the same number.
_LITTLE: Final = 0.15
# Of a topic. A message with a log pasted into it has thousands, and its first ones say why.
_MOST_WORDS: Final = 128

Numbers = NDArray[np.int64]


class _Numbers(dict[str, int]):
    """Stem -> its number, the next one for a new stem."""

    def __missing__(self, stem: str) -> int:
        self[stem] = number = len(self)
        return number


class Vocabulary:
    """The stems of all memories, numbered as they come. Not for several threads at once."""

    def __init__(self) -> None:
        stem = open_stemmer()
        self._table = TermTable(stem)
        self._numbers = _Numbers()
        # These come first, so that their number tells them apart.
        self._little = len({self._numbers[one] for one in stem(_LITTLE_WORDS)})

    def __len__(self) -> int:
        return len(self._numbers)

    def of_memory(self, text: str) -> list[int]:
        """The number of each word, in order; new ones are learnt."""
        return list(map(self._numbers.__getitem__, self._stems(text)))

    def of_topic(self, text: str) -> Numbers:
        """The number of each word, once; negative ones for words that stand in no memory."""
        stems = list(dict.fromkeys(self._stems(text)))[:_MOST_WORDS]
        return np.array(
            [self._numbers.get(stem, -1 - at) for at, stem in enumerate(stems)], dtype=np.int64
        )

    def weights(self, numbers: Numbers) -> NDArray[np.float64]:
        """What each word counts: 1, or little for one that needs no answer."""
        is_little = (numbers >= 0) & (numbers < self._little)
        # "What does the user like" has no other words.
        return np.where(is_little & ~is_little.all(), _LITTLE, 1.0)

    def _stems(self, text: str) -> list[str]:
        return text_terms(text, self._table).split()
