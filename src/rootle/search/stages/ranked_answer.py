"""Step 4: rank the candidate files, in as many groups as a page needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

import numpy as np

from rootle.index.reader import FileState, IndexReader
from rootle.protocols import Ids
from rootle.rank.confidence import Confidence
from rootle.rank.rankers.features_ranker import RankedFiles
from rootle.rank.rankers.registry import Ranker, SpanScores, rank_within
from rootle.rank.ranking_inputs import Floats
from rootle.rank.span_choice import ScoredSpan
from rootle.search.query.phrase_and_regex_filter import chunks_with_matches
from rootle.search.query.scope import MAX_CANDIDATE_FILES, Lines, ScopedQuery
from rootle.search.request import SearchRequest
from rootle.search.retrieval.merged_candidates import Candidates
from rootle.types import SymbolAnswer

# The minimum probability of a file that contains the requested name or the pasted text.
_CERTAIN: Final = 0.95


@dataclass(frozen=True, slots=True)
class RankedAnswer:
    """All files that answer a query, best first."""

    candidates: Candidates
    ranked: RankedFiles  # all candidate files
    order: Sequence[int]  # positions among the candidate files, without repetition
    score_spans: SpanScores
    confidence: Confidence | None  # None if the ranker is not calibrated
    degraded: tuple[str, ...]
    notes: tuple[str, ...]  # messages for the user
    as_of_s: float  # Unix time from which recency was counted
    valid_until_s: float = math.inf
    duplicates: Mapping[int, tuple[str, ...]] = field(default_factory=dict)  # file id -> paths
    translations: Mapping[int, tuple[str, ...]] = field(default_factory=dict)  # file id -> paths
    spans: Mapping[int, list[ScoredSpan]] | None = None  # by file id, if already selected
    reranker_scores: Mapping[int, float] = field(default_factory=dict)  # by position
    rest: RankedAnswer | None = None  # the files after those in `order`, ranked separately
    max_score: float = 1.0  # higher scores are shown as this score
    symbols: SymbolAnswer | None = None  # definitions and uses, if the question is about a name
    lines: Lines = field(default_factory=dict)  # lines that results must show
    # Whether the pasted message or the section about the version of the question was found.
    has_source: bool = False
    # Why the answer is wrong, for example because the requested name has no definition; "" if no
    # reason is known.
    undefined: str = ""

    @property
    def file_ids(self) -> Ids:
        """The ids of the files, best first, including those of `rest`."""
        groups = [one.candidates.inputs.files.ids[list(one.order)] for one in self.groups()]
        return groups[0] if len(groups) == 1 else np.concatenate(groups)

    @property
    def states(self) -> Mapping[int, FileState]:
        """The states of all candidate files, including those of `rest`, by id."""
        if self.rest is None:
            return self.candidates.states
        return {**self.candidates.states, **self.rest.states}

    @property
    def lowest_score(self) -> float:
        """The lowest shown score of the files in `order`."""
        return float(self.scores[list(self.order)].min(initial=self.max_score))

    @property
    def scores(self) -> Floats:
        """The shown score of each candidate file, before `max_score` is applied."""
        return self.confidence.scores if self.confidence else self.ranked.scores

    def groups(self) -> Iterator[RankedAnswer]:
        """Yield the groups of files that were ranked together, best first."""
        answer: RankedAnswer | None = self
        while answer is not None:
            yield answer
            answer = answer.rest

    def reaches(self, end: int) -> bool:
        """Return whether enough files are ranked: one after position `end`, or all of them."""
        groups = list(self.groups())
        return not groups[-1].candidates.unranked_files or end < sum(
            len(group.order) for group in groups
        )

    @property
    def confident(self) -> bool | None:
        """Whether the first results are likely to answer the question; None if unknown.

        It is also None for exact matches, because they certainly contain the requested text.
        """
        if self.confidence is None or self.candidates.scoped.question.parsed.is_exact:
            return None
        return self.confidence.confident


FindAnswer = Callable[[SearchRequest, ScopedQuery], RankedAnswer]  # retrieves and ranks


class AnswerStage(Protocol):
    """An optional stage that wraps retrieval and ranking. It may change the scope or the answer."""

    def __call__(
        self, find: FindAnswer, request: SearchRequest, scoped: ScopedQuery
    ) -> RankedAnswer: ...


class RankStep:
    """Ranks candidates with a ranker, or with a fallback if the ranker fails or is late."""

    def __init__(self, ranker: Ranker, timeout_ms: int, *, is_final: bool) -> None:
        """Set `is_final` if no reranker follows: then this step is traced as the final ranking."""
        self._ranker = ranker
        self._timeout_ms = timeout_ms
        self._is_final = is_final

    def __call__(self, request: SearchRequest, candidates: Candidates) -> RankedAnswer:
        """Return the ranked answer for the candidates of a query."""
        inputs, scoped = candidates.inputs, candidates.scoped
        count = len(inputs.chunks.ids)
        request.trace.record_retrieval(
            sparse_hits=candidates.sparse_hits, dense_hits=candidates.dense_hits, candidates=count
        )
        with request.trace.rerank_stage(count) if self._is_final else nullcontext():
            used, ranked = rank_within(self._ranker, inputs, self._timeout_ms)
            request.trace.record_ranker(used.name)
            confidence = used.confidence(inputs, ranked) if used.confidence else None
        failed = () if used is self._ranker else (self._ranker.name,)
        return RankedAnswer(
            candidates,
            ranked,
            ranked.order,
            used.score_spans,
            confidence,
            degraded=(*candidates.degraded, *failed, *scoped.degraded),
            notes=scoped.notes,
            as_of_s=request.now_s,
            valid_until_s=scoped.valid_until_s,
            lines=scoped.lines,
        )


def append_later_pages(
    find: FindAnswer, request: SearchRequest, scoped: ScopedQuery
) -> RankedAnswer:
    """Pipeline stage: rank more files until it is known whether a file follows the page.

    Only a limited number of files are ranked together. The other files that were retrieved are
    ranked in the same way, one group after the other, so that earlier pages do not change.
    """
    groups = [find(request, scoped)]
    while not groups[-1].reaches(request.offset + request.limit - _count(groups[:-1])):
        last = groups[-1]
        found = find(request, _scope_rest(request, scoped, last))
        if len(found.candidates.unranked_files) >= len(last.candidates.unranked_files):
            # The remaining files have no chunk, so they can never be ranked.
            ranked_all = replace(last.candidates, unranked_files=())
            groups[-1] = replace(last, candidates=ranked_all)
            break
        groups.append(replace(found, max_score=min(last.max_score, last.lowest_score)))
    answer = groups.pop()
    while groups:
        answer = replace(groups.pop(), rest=answer)
    return answer


def _count(groups: list[RankedAnswer]) -> int:
    return sum(len(group.order) for group in groups)


def _scope_rest(request: SearchRequest, scoped: ScopedQuery, answer: RankedAnswer) -> ScopedQuery:
    """Return a scope with only the files that were retrieved, but not ranked."""
    files = set(answer.candidates.unranked_files)
    if scoped.matches is None:
        return replace(scoped, files=files)
    places = scoped.matches.places
    matches = replace(scoped.matches, places={at: places[at] for at in places if at in files})
    chunk_ids = chunks_with_matches(matches, request.session.index, MAX_CANDIDATE_FILES)
    return replace(scoped, files=files, matches=matches, chunk_ids=chunk_ids)


def chunks_with_lines(index: IndexReader, lines: Lines) -> Ids:
    """Return the chunks that contain the first of the given lines of each file."""
    rows = ((row, found) for at, found in lines.items() for row in index.list_chunks(at))
    ids = [row.id for row, found in rows if row.start_line <= found[0] <= row.end_line]
    return np.array(ids, dtype=np.int64)


def put_first(answer: RankedAnswer, file_ids: Sequence[int]) -> RankedAnswer:
    """Return an answer that begins with the given files, which get the highest score."""
    ids = answer.candidates.inputs.files.ids
    places = {int(ids[at]): at for at in answer.order}
    first = [places[at] for at in file_ids if at in places]
    if not first:
        return answer
    order = (*first, *(at for at in answer.order if at not in set(first)))
    scores = answer.scores.copy()
    scores[first] = scores.max() if answer.confidence is None else max(scores.max(), _CERTAIN)
    return _reorder(answer, order, scores, is_certain=True)


def move_up(answer: RankedAnswer, at: int, place: int) -> RankedAnswer:
    """Move a file up to a place. It gets the score of the file that it displaces."""
    others = [one for one in answer.order if one != at]
    scores = answer.scores.copy()
    scores[at] = scores[answer.order[place]]
    return _reorder(answer, (*others[:place], at, *others[place:]), scores)


def put_last(answer: RankedAnswer, file_ids: Collection[int]) -> RankedAnswer:
    """Return an answer that ends with the given files; each place keeps its score."""
    ids = answer.candidates.inputs.files.ids
    return reorder(answer, sorted(answer.order, key=lambda at: int(ids[at]) in file_ids))


def reorder(answer: RankedAnswer, order: Sequence[int]) -> RankedAnswer:
    """Return an answer with the same files in another order; each place keeps its score."""
    if list(order) == list(answer.order):
        return answer
    scores = answer.scores.copy()
    scores[list(order)] = answer.scores[list(answer.order)]
    return _reorder(answer, tuple(order), scores)


def _reorder(
    answer: RankedAnswer, order: Sequence[int], scores: Floats, *, is_certain: bool = False
) -> RankedAnswer:
    confidence = answer.confidence
    if confidence is None:
        return replace(answer, order=order, ranked=replace(answer.ranked, scores=scores))
    is_confident = is_certain or confidence.confident
    confidence = replace(confidence, scores=scores, confident=is_confident)
    return replace(answer, order=order, confidence=confidence)
