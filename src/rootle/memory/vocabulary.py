"""Convert memories and topics to term ids: their terms are stemmed and numbered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rootle.memory.subjects import Subjects, SubjectTable
from rootle.text.stemmer import open_stemmer
from rootle.text.terms import STOP_WORDS, WORD, TermTable, text_terms

# Words that occur in nearly every memory and topic.
_DOMAIN_WORDS: Final = ("user", "remember", "memory")
# Endings after an apostrophe, as in "the user's" and "don't".
_ENDINGS: Final = ("s", "t", "d", "ll", "m", "re", "ve")
_STOP_WORDS: Final = STOP_WORDS.union(_DOMAIN_WORDS, _ENDINGS)
# The weight of a stop word in a topic with other words; `rank.question` uses the same value.
_STOP_WORD_WEIGHT: Final = 0.15
# Words that say little about the subject of a question if another word names the subject.
_GENERAL_WORDS: Final = (
    "prefer preference favourite favorite kind type thing detail information setting choice style "
    "current need rule convention policy team service best"
)
_GENERAL_WORD_WEIGHT: Final = 0.3
# Maximum number of distinct terms in a topic. A message with a pasted log has thousands of terms,
# but the first ones state its purpose.
_MAX_TOPIC_TERMS: Final = 128

TermIds = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TopicTerms:
    """The distinct terms of a topic, with the weight of each and the subjects that it names."""

    ids: TermIds
    weights: NDArray[np.float64]
    subjects: tuple[TermIds, ...]


class _StemIds(dict[str, int]):
    """Maps each stem to its id. Looking up a new stem assigns the next id."""

    def __missing__(self, stem: str) -> int:
        self[stem] = number = len(self)
        return number


class Vocabulary:
    """The stems of all memories, numbered in order of appearance. Not thread-safe."""

    def __init__(self) -> None:
        stem = open_stemmer()
        self._table = TermTable(stem)
        self._ids = _StemIds()
        # Stop words get the lowest ids, so that an id shows whether its word is a stop word.
        self._stop_words = len({self._ids[one] for one in stem(" ".join(sorted(_STOP_WORDS)))})
        self._general = frozenset(stem(_GENERAL_WORDS))
        self._subjects = SubjectTable(self.stem)
        self._subject_numbers = _StemIds()

    def __len__(self) -> int:
        return len(self._ids)

    def stem(self, text: str) -> list[str]:
        """Return the stem of each word, in order."""
        return text_terms(text, self._table).split()

    def encode_memory(self, stems: Sequence[str]) -> list[int]:
        """Return the ids of stems, in order. New stems are added to the vocabulary."""
        return list(map(self._ids.__getitem__, stems))

    def subjects_of_memory(self, stems: Sequence[str]) -> TermIds:
        """Return the ids of the subjects of a memory."""
        return self._subject_ids(self._subjects.subjects_of_fact(stems))

    def parse_topic(self, text: str) -> TopicTerms:
        """Return the distinct terms of a topic. Stems that no memory contains have negative ids."""
        stems = self.stem(text)
        named: dict[str, Subjects] = {}
        for stem, subjects in zip(stems, self._subjects.subjects_of_question(stems), strict=True):
            named[stem] = named.get(stem, subjects) | subjects
        named = dict(list(named.items())[:_MAX_TOPIC_TERMS])
        ids = [self._ids.get(stem, -1 - at) for at, stem in enumerate(named)]
        terms = np.array(ids, dtype=np.int64)
        return TopicTerms(
            terms, self._weigh(terms, named), tuple(map(self._subject_ids, named.values()))
        )

    def _weigh(self, terms: TermIds, named: Mapping[str, Subjects]) -> NDArray[np.float64]:
        """Return the weight of each term: 1, or less for a stop word or a general word."""
        is_stop_word = (terms >= 0) & (terms < self._stop_words)
        # If a topic consists only of stop words, such as "what does the user like", they count
        # fully.
        weights = np.where(is_stop_word & ~is_stop_word.all(), _STOP_WORD_WEIGHT, 1.0)
        is_general = np.array([stem in self._general for stem in named], dtype=np.bool_)
        names_subject = np.array([bool(subjects) for subjects in named.values()], dtype=np.bool_)
        if (names_subject & ~is_general).any():
            weights[is_general] = np.minimum(weights[is_general], _GENERAL_WORD_WEIGHT)
        return weights

    def _subject_ids(self, subjects: Subjects) -> TermIds:
        return np.array(sorted(map(self._subject_numbers.__getitem__, subjects)), dtype=np.int64)


def significant_words(text: str) -> str:
    """Return the words of a text without stop words; the text itself if there are no others."""
    words = [word for word in WORD.findall(text) if word.lower() not in _STOP_WORDS]
    return " ".join(words) or text
