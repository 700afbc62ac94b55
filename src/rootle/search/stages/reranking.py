"""Pipeline stage: reorder the first files with a reranker, which reads the best chunk of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from rootle.concurrency.deadline import DeadlineExecutor
from rootle.config.fields import NO_MODEL, Config
from rootle.index.reader import IndexReader
from rootle.protocols import Hit, Reranker
from rootle.rank.ranking_inputs import Floats
from rootle.rank.signals import Signals
from rootle.rerank.request import MAX_DOCUMENT_CHARS, rerank_documents
from rootle.search.query.scope import ScopedQuery
from rootle.search.request import SearchRequest
from rootle.search.stages.ranked_answer import FindAnswer, RankedAnswer

# The maximum number of files that are reranked, as in the specification. Users seldom look at lower
# files, and a model on a CPU reads about ten chunks per second.
MAX_RERANKED_FILES: Final = 20


class Reranking:
    """Reranks answers within a deadline. If the reranker fails or is late, the order is kept."""

    def __init__(self, reranker: Reranker, config: Config, signals: Signals | None) -> None:
        """`signals` adjust the scores of the reranker."""
        self._reranker = reranker
        self._signals = signals
        self._max_files = min(MAX_RERANKED_FILES, config.max_merged_candidates)
        model = config.reranker_model_id
        self._name = (config.reranker_provider if model == NO_MODEL else "") or model
        self._executor = DeadlineExecutor("reranker", config.reranker_timeout_ms)

    def __call__(
        self, find: FindAnswer, request: SearchRequest, scoped: ScopedQuery
    ) -> RankedAnswer:
        """Return the reranked answer, or the same order with "reranker" in `degraded`."""
        answer = find(request, scoped)
        first = answer.order[: self._max_files]
        if not first:
            return answer
        text = scoped.question.question.text
        with request.trace.rerank_stage(len(first), self._name):
            documents = read_documents(request.session.index, answer, first)
            call = self._executor.start(partial(rerank_documents, self._reranker, text, documents))
            hits = call.result()
        if hits is None:
            return replace(answer, degraded=(*answer.degraded, "reranker"))
        request.trace.record_ranker(self._name)
        return apply_hits(answer, first, hits, self._signals)

    def close(self) -> None:
        """Stop the threads."""
        self._executor.close()


def read_documents(index: IndexReader, answer: RankedAnswer, order: Sequence[int]) -> list[str]:
    """Return the path of each file, followed by the chunk that is likely to be shown from it."""
    files = answer.candidates.inputs.files
    ids, best = files.ids.tolist(), answer.candidates.likely_chunks
    chosen = [
        int(best[at]) if best[at] >= 0 else next((c.id for c in index.list_chunks(ids[at])), -1)
        for at in order
    ]
    rows = index.chunks(chosen)
    known = [rows[chunk_id] for chunk_id in chosen if chunk_id in rows]
    excerpts = index.excerpts([(row.file_id, row.start, row.end) for row in known])
    texts = {row.id: text for row, text in zip(known, excerpts, strict=True)}
    return [
        f"{files.paths[at]}\n{texts.get(chunk_id, '')[:MAX_DOCUMENT_CHARS]}"
        for at, chunk_id in zip(order, chosen, strict=True)
    ]


def apply_hits(
    answer: RankedAnswer, order: Sequence[int], hits: Sequence[Hit], signals: Signals | None = None
) -> RankedAnswer:
    """Put the files of the hits first, in the order of the hits and with their scores.

    Signals adjust the scores of the hits like the scores of any ranker.
    """
    first = [order[hit.index] for hit in hits]
    rest = [at for at in order if at not in set(first)]
    ranked = answer.ranked
    shown = np.zeros(len(ranked.scores))
    shown[first] = _normalize(np.array([hit.score for hit in hits]))
    if signals is not None:
        files = answer.candidates.inputs.files
        shown = sum(signals.changes(shown, files).values(), start=shown)
        first.sort(key=lambda at: -shown[at])
    scores = np.minimum(ranked.scores, 1.0) * shown[first[-1]]
    scores[first] = shown[first]
    confidence = replace(answer.confidence, scores=scores) if answer.confidence else None
    return replace(
        answer,
        ranked=replace(ranked, scores=scores),
        order=(*first, *rest, *answer.order[len(order) :]),
        confidence=confidence,
        reranker_scores={order[hit.index]: hit.score for hit in hits},
    )


def _normalize(scores: Floats) -> Floats:
    """Return scores from 0 to 1. If any score is outside this range, all are treated as logits."""
    if scores.min() >= 0 and scores.max() <= 1:
        return scores
    normalized: Floats = 1 / (1 + np.exp(-np.clip(scores, -60, 60)))
    return normalized
