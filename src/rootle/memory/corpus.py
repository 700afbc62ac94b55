"""In-memory index of one user's memories. Ranks them by terms, meaning, dates and references."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

import numpy as np
import simsimd
from numpy.typing import NDArray

from rootle.memory.dates import DateRange
from rootle.memory.references import REFERENCE_WEIGHT
from rootle.memory.vocabulary import TermIds, TopicTerms
from rootle.protocols import Rows, Vector
from rootle.storage.quantization import quantize
from rootle.types import Memory

Floats = NDArray[np.float64]
Row = NDArray[np.int8]  # one row of `Rows`
IsVisible = Callable[[Memory], bool]
Place = tuple[str, str, str]  # root, path and symbol of the referenced code

# The weights up to the next blank line were tuned on conversations 26, 41, 43, 47 and 49 of LoCoMo
# and measured on the other five. The results are in docs/how-to/memory.md.
_K1: Final = 1.2
_B: Final = 0.3  # low, because memories are short and their length says little
# A term also raises the scores of the memories after and before the one that contains it. These
# are the factors, by the distance between the two memories. People who describe something in
# several sentences do not repeat its name in each of them.
_EARLIER_NEIGHBOR_WEIGHTS: Final = (0.6, 0.5, 0.4, 0.3)
_LATER_NEIGHBOR_WEIGHTS: Final = (0.5, 0.4, 0.3, 0.2)
# The longest pause between two memories of one episode. Only memories of one episode are neighbors.
_EPISODE_PAUSE_S: Final = 1_800
# A term also matches the memories about a subject that it names. Their score for the term is
# multiplied by this factor; a memory that contains the term itself gets the full score.
_NAMED_SUBJECT_WEIGHT: Final = 0.6
_COSINE_WEIGHT: Final = 0.11
# Added if the first word of the memory is a significant word of the topic.
_SUBJECT_WEIGHT: Final = 0.066
# Added if the memory was recorded in the date range of the topic; less is added for other dates.
_DATE_WEIGHT: Final = 0.22
_DATE_DECAY_DAYS: Final = 7.0
# Added to the corpus size to compute rarity; otherwise no term would be rare in a small corpus.
_SMOOTHING_MEMORIES: Final = 100

# The next two values were not tuned on LoCoMo, which has no corrected facts.
# The first one is added to the score of the newest memory whose score is close to the best. Older
# memories with such scores get less.
_RECENCY_WEIGHT: Final = 0.3
_RECENCY_MIN_SHARE: Final = 0.5  # scores of at least this share of the best one are close to it
# Memories with this cosine similarity are assumed to be about the same subject. Of six pairs of
# contradicting facts, five had 0.67 to 0.82. Of four other pairs, the highest value was 0.46.
_SAME_SUBJECT_COSINE: Final = 0.6
_EQUAL_SHARE: Final = 0.9  # scores of at least this share of a score are nearly equal to it
# The minimum score of a memory that matches by a term or a date. Lower scores also occur for topics
# that the memories do not cover.
_MIN_SCORE: Final = 0.2
# The minimum cosine similarity of a memory that matches by its meaning: the first for the whole
# topic, the second for the topic without its stop words. One in a hundred random pairs of a topic
# and a memory reaches the first minimum.
_MIN_COSINE: Final = 0.45
_MIN_SIGNIFICANT_COSINE: Final = 0.3

_NO_POSITIONS: Final = np.array([], dtype=np.int64)
_EPOCH_ORDINAL: Final = 719_163  # `date.toordinal` of 1970-01-01


@dataclass(frozen=True, slots=True)
class Entry:
    """A memory and the features used to rank it."""

    memory: Memory
    observed_s: float  # Unix time of the last observation
    terms: TermIds  # ids of the distinct terms
    counts: TermIds
    first_term: int
    vector: Row
    subjects: TermIds


@dataclass(frozen=True, slots=True)
class Topic:
    """A parsed topic or question."""

    terms: TopicTerms
    vector: Vector
    embed_significant: Callable[[], Vector]  # returns the vector of the topic without stop words
    dates: DateRange | None
    asks_for_present: bool
    about: frozenset[Place]


class Corpus:
    """Memories in chronological order, with an inverted index of their terms."""

    def __init__(self, entries: Sequence[Entry], vocabulary_size: int) -> None:
        entries = sorted(entries, key=lambda entry: (entry.observed_s, int(entry.memory.id)))
        self._memories = [entry.memory for entry in entries]
        observed_s = np.array([entry.observed_s for entry in entries])
        self._days = (observed_s // 86_400).astype(np.int64)
        self._near, self._near_weights = _find_neighbors(observed_s)
        self._first_terms = np.array([entry.first_term for entry in entries], dtype=np.int64)
        self._vectors: Rows = np.stack([entry.vector for entry in entries])
        self._norms = np.maximum(np.linalg.norm(self._vectors.astype(np.float32), axis=1), 1e-9)
        self._by_reference = _positions_by_reference(self._memories)
        self.roots = frozenset(root for root, _, _ in self._by_reference)
        self._by_subject = _positions_by_subject(entries)
        self._index_terms(entries, vocabulary_size)

    def _index_terms(self, entries: Sequence[Entry], vocabulary_size: int) -> None:
        terms = np.concatenate([entry.terms for entry in entries])
        counts = np.concatenate([entry.counts for entry in entries]).astype(np.float64)
        owners = np.repeat(np.arange(len(entries)), [len(entry.terms) for entry in entries])
        lengths = np.bincount(owners, counts, minlength=len(entries))
        norms = _K1 * (1 - _B + _B * lengths / max(1.0, lengths.mean()))
        order = np.argsort(terms, kind="stable")
        self._starts = np.searchsorted(terms[order], np.arange(vocabulary_size + 1))
        self._owners = owners[order]
        self._gains = (counts * (_K1 + 1) / (counts + norms[owners]))[order]

    def search(self, topic: Topic, top_k: int, is_visible: IsVisible | None = None) -> list[Memory]:
        """Return at most `top_k` relevant memories, best first; of equal scores, the newest first.

        Memories that say something similar, and may contradict each other, are returned newest
        first if their scores are nearly equal. Memories for which `is_visible` is false are left
        out.
        """
        scores, is_relevant = self._score(topic)
        if topic.asks_for_present:
            scores = scores + self._recency_scores(scores, is_relevant)
        scores = np.round(scores, 3)
        order = np.lexsort((-np.arange(len(scores)), -scores))
        relevant = order[is_relevant[order]].tolist()
        visible = (at for at in relevant if is_visible is None or is_visible(self._memories[at]))
        best = list(islice(visible, 2 * top_k))
        ordered = best if topic.dates is not None else self._newest_first(best, scores)
        # The scores stay in descending order: a newer memory gets the score of the older one.
        return [
            replace(self._memories[at], score=min(1.0, float(scores[rank])))
            for at, rank in zip(ordered[:top_k], best[:top_k], strict=True)
        ]

    def _newest_first(self, best: Sequence[int], scores: Floats) -> list[int]:
        """Return the positions of memories; sort similar ones by date, newest first.

        Only memories with nearly equal scores exchange their places.
        """
        ordered, done = list(best), set[int]()
        for place, at in enumerate(best):
            if at in done:
                continue
            similarities = self._cosines_between(at, best)
            places = [
                other
                for other in range(place, len(best))
                if best[other] not in done
                and scores[best[other]] >= _EQUAL_SHARE * scores[at]
                and (other == place or similarities[other] >= _SAME_SUBJECT_COSINE)
            ]
            done.update(best[other] for other in places)
            newest = sorted((best[other] for other in places), reverse=True)
            for other, position in zip(places, newest, strict=True):
                ordered[other] = position
        return ordered

    def _cosines_between(self, at: int, others: Sequence[int]) -> Floats:
        """Return the cosine similarity of the memory at a position to each of the others."""
        vectors = self._vectors[list(others)].astype(np.float64)
        products = vectors @ self._vectors[at].astype(np.float64)
        cosines: Floats = products / (self._norms[list(others)] * self._norms[at])
        return cosines

    def _score(self, topic: Topic) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the score of each memory, and whether it is relevant.

        Neighboring memories raise the score of a memory. However, a memory is relevant only if it
        matches on its own: by a term, a date, its meaning or a reference.
        """
        scores, has_term = self._term_scores(topic.terms)
        cosines = self._cosines(topic.vector)
        scores += _COSINE_WEIGHT * np.maximum(cosines, 0)
        significant = topic.terms.ids[topic.terms.weights == 1]
        is_about = (self._first_terms[:, None] == significant).any(axis=1)
        scores += _SUBJECT_WEIGHT * is_about
        has_match = has_term
        if topic.dates is not None:
            distance = distance_days(self._days, topic.dates)
            scores += _DATE_WEIGHT * np.exp(-distance / _DATE_DECAY_DAYS)
            has_match = has_match | (distance == 0)
        is_similar = cosines >= _MIN_COSINE
        if is_similar.any():
            # The topic without its stop words must be similar too, because stop words make a topic
            # such as "has the user ever …" similar to any memory.
            is_similar &= self._cosines(topic.embed_significant()) >= _MIN_SIGNIFICANT_COSINE
        is_relevant = (has_match & (scores >= _MIN_SCORE)) | is_similar
        referring = [at for place in topic.about for at in self._by_reference.get(place, ())]
        is_relevant[referring] = True
        scores[list(set(referring))] += REFERENCE_WEIGHT
        return scores, is_relevant

    def _cosines(self, vector: Vector) -> Floats:
        query = quantize(vector[None, :])
        # Multiplying floats would wake BLAS threads for a fraction of a millisecond of work.
        products = np.asarray(simsimd.cdist(query, self._vectors, "dot", threads=1)).reshape(-1)
        norm = max(float(np.linalg.norm(query.astype(np.float32))), 1e-9)
        cosines: Floats = products / (self._norms * norm)
        return cosines

    def _term_scores(self, topic: TopicTerms) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the BM25 score of each memory, and whether it matches a significant term.

        The score also counts terms in neighboring memories and the subjects that the terms name. A
        memory of average length that contains every term of the topic once has the score 1.
        """
        total, possible = np.zeros(len(self._memories)), 1e-9
        has_term = np.zeros(len(total), dtype=np.bool_)
        terms = zip(topic.ids.tolist(), topic.weights.tolist(), topic.subjects, strict=True)
        for term, weight, subjects in terms:
            postings = self._postings(term)
            owners = self._owners[postings]
            rarity = weight * self._rarity(len(owners))
            possible += rarity
            if not len(owners) and not len(subjects):  # most words of a topic are in no memory
                continue
            scores = self._spread_to_neighbors(owners, rarity * self._gains[postings])
            about = self._owners_of_subjects(subjects)
            gain = _NAMED_SUBJECT_WEIGHT * min(rarity, weight * self._rarity(len(about)))
            scores[about] = np.maximum(scores[about], gain)
            total += scores
            if weight == 1:
                has_term[owners] = has_term[about] = True
        return total / possible, has_term

    def _rarity(self, count: int) -> float:
        """Return the weight of a term or a subject that occurs in `count` memories."""
        corpus_size = len(self._memories) + _SMOOTHING_MEMORIES - count
        return float(np.log1p((corpus_size + 0.5) / (count + 0.5)))

    def _owners_of_subjects(self, subjects: TermIds) -> TermIds:
        """Return the positions of the memories about any of these subjects."""
        owners = [self._by_subject[one] for one in subjects.tolist() if one in self._by_subject]
        return np.unique(np.concatenate(owners)) if owners else _NO_POSITIONS

    def _postings(self, term: int) -> slice:
        """Return the range of a term in the index; an empty one for a term that was added later."""
        if not 0 <= term < len(self._starts) - 1:
            return slice(0, 0)
        return slice(int(self._starts[term]), int(self._starts[term + 1]))

    def _spread_to_neighbors(self, owners: TermIds, gains: Floats) -> Floats:
        """Return a term's scores for the memories that contain it, and for their neighbors."""
        scores = np.zeros(len(self._memories))
        np.maximum.at(scores, self._near[owners], self._near_weights[owners] * gains[:, None])
        return scores

    @staticmethod
    def _recency_scores(scores: Floats, is_relevant: NDArray[np.bool_]) -> Floats:
        """Return a bonus for each of the memories with the best scores, greater for newer ones."""
        best = is_relevant & (scores >= _RECENCY_MIN_SHARE * scores.max())
        return np.where(best, _RECENCY_WEIGHT * (np.cumsum(best) - 1) / max(1, best.sum() - 1), 0.0)


def _find_neighbors(observed_s: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Return the memories whose scores the terms of each memory raise, with a factor for each.

    There is one row for each memory, in chronological order. It contains the positions of the
    memory itself, with the factor 1, and of its neighbors. A neighbor of another episode is
    replaced with the memory itself and the factor 0.
    """
    pauses = np.diff(observed_s, prepend=observed_s[:1])
    episodes = np.cumsum(pauses > _EPISODE_PAUSE_S)
    positions = np.arange(len(observed_s))
    near, factors = [positions], [np.ones(len(positions))]
    weights = zip(_EARLIER_NEIGHBOR_WEIGHTS, _LATER_NEIGHBOR_WEIGHTS, strict=True)
    for distance, (earlier, later) in enumerate(weights, start=1):
        for step, weight in ((distance, earlier), (-distance, later)):
            at = np.clip(positions + step, 0, len(positions) - 1)
            is_near = (at == positions + step) & (episodes[at] == episodes)
            near.append(np.where(is_near, at, positions))
            factors.append(np.where(is_near, weight, 0.0))
    return np.stack(near, axis=1), np.stack(factors, axis=1)


def distance_days(days: NDArray[np.int64], dates: DateRange) -> Floats:
    """Return the distance in days from a date range; 0 inside it. `days` count from 1970-01-01.

    Facts are usually recorded after the event, so each day before the range counts twice.
    """
    first, last = (day.toordinal() - _EPOCH_ORDINAL for day in (dates.first, dates.last))
    return np.maximum(np.maximum(days - last, 2 * (first - days)), 0.0)


def _positions_by_reference(memories: Sequence[Memory]) -> dict[Place, list[int]]:
    """Return each file or symbol with the positions of the memories that refer to it.

    A memory about a symbol is about its file too.
    """
    positions: dict[Place, list[int]] = {}
    for at, memory in enumerate(memories):
        for about in memory.about:
            for place in {about.place, (about.root, about.path, "")}:
                positions.setdefault(place, []).append(at)
    return positions


def _positions_by_subject(entries: Sequence[Entry]) -> dict[int, TermIds]:
    """Return each subject with the positions of the memories about it."""
    positions: dict[int, list[int]] = {}
    for at, entry in enumerate(entries):
        for subject in entry.subjects.tolist():
            positions.setdefault(subject, []).append(at)
    return {subject: np.array(own, dtype=np.int64) for subject, own in positions.items()}
