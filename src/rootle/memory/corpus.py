"""The memories of one user, side by side in arrays: which of them fit a topic?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import simsimd
from numpy.typing import NDArray

from rootle.memory.dates import DateRange
from rootle.memory.vocabulary import Numbers
from rootle.protocols import Rows, Vector
from rootle.storage.quantization import quantize
from rootle.types import Memory

Floats = NDArray[np.float64]
Row = NDArray[np.int8]  # of `Rows`

# All numbers below were tuned on the conversations 26, 41, 43, 47 and 49 of LoCoMo and measured on
# the other five; docs/how-to/memory.md has the figures.
_K1: Final = 1.2
_B: Final = 0.3  # memories are short: their length says little
# What a word that was said nearby counts, by how many memories before and after it. Who tells
# something in several sentences does not repeat what they are about.
_BEFORE: Final = (0.6, 0.5, 0.4, 0.3)
_AFTER: Final = (0.5, 0.4, 0.3, 0.2)
# Between two that were told nearby lies no longer pause.
_PAUSE_S: Final = 1_800
_COSINE: Final = 0.11
_SUBJECT: Final = 0.066  # the memory begins with a word of the topic
_TIME: Final = 0.22  # it was told in the days that the topic names
_TIME_FADES_DAYS: Final = 7.0
# With few memories no word is rare: as many more are thought of, none of which has it.
_UNSEEN: Final = 100

# These three are not from LoCoMo, which has neither files nor facts that took the place of others.
_TIED: Final = 0.5
_NEWEST: Final = 0.3  # for the newest of those that fit nearly as well as the best
_NEARLY: Final = 0.5
# Below this a memory shares no more with a topic than it does with one of strangers.
_FITS: Final = 0.2
# So alike by their meaning alone is one in a hundred pairs of a topic and a memory.
_MEANS_IT: Final = 0.45


@dataclass(frozen=True, slots=True)
class Entry:
    """A memory, and what it is found by."""

    memory: Memory
    told_s: float
    words: Numbers  # each once
    counts: Numbers
    first_word: int
    vector: Row


@dataclass(frozen=True, slots=True)
class Topic:
    """What is asked for."""

    words: Numbers
    weights: Floats
    vector: Vector
    days: DateRange | None
    is_about_now: bool
    about: frozenset[tuple[str, str, str]]  # root, path and symbol of what is in play


class Corpus:
    """Memories in the order in which they were told."""

    def __init__(self, entries: Sequence[Entry], vocabulary: int) -> None:
        entries = sorted(entries, key=lambda entry: (entry.told_s, int(entry.memory.id)))
        self._memories = [entry.memory for entry in entries]
        told = np.array([entry.told_s for entry in entries])
        self._days = (told // 86_400).astype(np.int64)
        self._episodes = np.cumsum(np.diff(told, prepend=told[:1]) > _PAUSE_S)
        self._first_words = np.array([entry.first_word for entry in entries], dtype=np.int64)
        self._vectors: Rows = np.stack([entry.vector for entry in entries])
        self._lengths = np.maximum(np.linalg.norm(self._vectors.astype(np.float32), axis=1), 1e-9)
        self._ties = _places_of(self._memories)
        self._index_words(entries, vocabulary)

    def _index_words(self, entries: Sequence[Entry], vocabulary: int) -> None:
        words = np.concatenate([entry.words for entry in entries])
        counts = np.concatenate([entry.counts for entry in entries]).astype(np.float64)
        owners = np.repeat(np.arange(len(entries)), [len(entry.words) for entry in entries])
        lengths = np.bincount(owners, counts, minlength=len(entries))
        norms = _K1 * (1 - _B + _B * lengths / max(1.0, lengths.mean()))
        order = np.argsort(words, kind="stable")
        self._starts = np.searchsorted(words[order], np.arange(vocabulary + 1))
        self._owners = owners[order]
        self._gains = (counts * (_K1 + 1) / (counts + norms[owners]))[order]

    def best(self, topic: Topic, top_k: int) -> list[Memory]:
        """At most top_k that fit, best first; of two that fit alike the newer one first."""
        scores, fits = self._judged(topic)
        if topic.is_about_now:
            scores = scores + self._newness(scores, fits)
        scores = np.round(scores, 3)
        order = np.lexsort((-np.arange(len(scores)), -scores))
        return [
            replace(self._memories[at], score=min(1.0, float(scores[at])))
            for at in order[fits[order]][:top_k].tolist()
        ]

    def _judged(self, topic: Topic) -> tuple[Floats, NDArray[np.bool_]]:
        """How well each memory fits, and whether it fits at all.

        What stands nearby lifts a memory; to be shown it needs something of its own.
        """
        scores, has_word = self._said(topic)
        cosines = self._cosines(topic.vector)
        scores += _COSINE * np.maximum(cosines, 0)
        scores += _SUBJECT * np.isin(self._first_words, topic.words[topic.weights == 1])
        shown = has_word
        if topic.days is not None:
            away = self._days_away(topic.days)
            scores += _TIME * np.exp(-away / _TIME_FADES_DAYS)
            shown = shown | (away == 0)
        shown = (shown & (scores >= _FITS)) | (cosines >= _MEANS_IT)
        tied = [at for place in topic.about for at in self._ties.get(place, ())]
        shown[tied] = True
        scores[list(set(tied))] += _TIED
        return scores, shown

    def _cosines(self, vector: Vector) -> Floats:
        query = quantize(vector[None, :])
        # A product of floats would wake the threads of a BLAS, for a fraction of a millisecond.
        products = np.asarray(simsimd.cdist(query, self._vectors, "dot", threads=1)).reshape(-1)
        length = max(float(np.linalg.norm(query.astype(np.float32))), 1e-9)
        cosines: Floats = products / (self._lengths * length)
        return cosines

    def _said(self, topic: Topic) -> tuple[Floats, NDArray[np.bool_]]:
        """BM25 of each memory and those around it, where 1 is every word once.

        And which of them have a word of the topic that says something.
        """
        total, possible = np.zeros(len(self._memories)), 1e-9
        has_word = np.zeros(len(total), dtype=np.bool_)
        for word, weight in zip(topic.words.tolist(), topic.weights.tolist(), strict=True):
            here = self._place_of(word)
            owners = self._owners[here]
            seen = len(self._memories) + _UNSEEN - len(owners)
            rarity = weight * np.log1p((seen + 0.5) / (len(owners) + 0.5))
            possible += rarity
            total += self._with_those_around(owners, rarity * self._gains[here])
            if weight == 1:
                has_word[owners] = True
        return total / possible, has_word

    def _place_of(self, word: int) -> slice:
        """Where the memories with a word stand; nowhere for one that came after this was made."""
        if not 0 <= word < len(self._starts) - 1:
            return slice(0, 0)
        return slice(int(self._starts[word]), int(self._starts[word + 1]))

    def _with_those_around(self, owners: Numbers, gains: Floats) -> Floats:
        """What a word gives to each memory: to those that have it, and to those nearby."""
        found = np.zeros(len(self._memories))
        found[owners] = gains
        for away, (before, after) in enumerate(zip(_BEFORE, _AFTER, strict=True), start=1):
            for step, share in ((away, before), (-away, after)):
                near = owners + step
                is_near = (near >= 0) & (near < len(found))
                is_near[is_near] = self._episodes[near[is_near]] == self._episodes[owners[is_near]]
                places = near[is_near]
                found[places] = np.maximum(found[places], share * gains[is_near])
        return found

    def _days_away(self, days: DateRange) -> Floats:
        first, last = (day.toordinal() - _EPOCH for day in (days.first, days.last))
        return np.maximum(np.maximum(self._days - last, 2 * (first - self._days)), 0.0)

    @staticmethod
    def _newness(scores: Floats, fits: NDArray[np.bool_]) -> Floats:
        """More for each that is newer among those that fit nearly as well as the best."""
        good = fits & (scores >= _NEARLY * scores.max())
        return np.where(good, _NEWEST * (np.cumsum(good) - 1) / max(1, good.sum() - 1), 0.0)


_EPOCH: Final = 719_163  # the ordinal of 1970-01-01


def _places_of(memories: Sequence[Memory]) -> dict[tuple[str, str, str], list[int]]:
    """The positions of the memories that are tied to a place.

    One about a symbol is about its file too.
    """
    places: dict[tuple[str, str, str], list[int]] = {}
    for at, memory in enumerate(memories):
        for about in memory.about:
            for place in {about.place, (about.root, about.path, "")}:
                places.setdefault(place, []).append(at)
    return places
