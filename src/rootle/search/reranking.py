"""A reranker's word on the first files: each is read by its best chunk, and ordered anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from rootle.index.local.snapshot import Snapshot
from rootle.protocols import Hit
from rootle.rank.ranking_inputs import Floats
from rootle.rank.signals import Signals
from rootle.rerank.request import MAX_DOCUMENT_CHARS
from rootle.search.results.deduplication import best_chunks
from rootle.search.results.page import Ranking

# So many files are read at most, the specification's own number of candidates: what stands lower
# is seldom looked at, and a model on a processor reads some ten chunks a second.
READ: Final = 20


def documents_of(snapshot: Snapshot, ranking: Ranking, order: Sequence[int]) -> list[str]:
    """For each file its path and the chunk that is likely to be shown of it."""
    ids = ranking.evidence.files.ids.tolist()
    best = best_chunks(ranking.evidence)
    chosen = [
        int(best[at]) if best[at] >= 0 else next((c.id for c in snapshot.chunks_of(ids[at])), -1)
        for at in order
    ]
    rows = snapshot.chunks(chosen)
    known = [rows[chunk_id] for chunk_id in chosen if chunk_id in rows]
    places = [(row.file_id, row.start, row.end) for row in known]
    texts = {row.id: text for row, text in zip(known, snapshot.excerpts(places), strict=True)}
    paths = ranking.evidence.files.paths
    return [
        f"{paths[at]}\n{texts.get(c, '')[:MAX_DOCUMENT_CHARS]}"
        for at, c in zip(order, chosen, strict=True)
    ]


def reordered(
    ranking: Ranking, order: Sequence[int], hits: Sequence[Hit], signals: Signals | None = None
) -> tuple[Ranking, tuple[int, ...]]:
    """The ranking with the scores of the hits, and their order; what was not read comes after.

    Signals count beside the scores of the hits, as they do beside any ranker's.
    """
    first = [order[hit.index] for hit in hits]
    rest = [at for at in order if at not in set(first)]
    shown = np.zeros(len(ranking.ranked.scores))
    shown[first] = _from_0_to_1(np.array([hit.score for hit in hits]))
    if signals is not None:
        shown = sum(signals.changes(shown, ranking.evidence.files).values(), start=shown)
        first.sort(key=lambda at: -shown[at])
    scores = np.minimum(ranking.ranked.scores, 1.0) * shown[first[-1]]
    scores[first] = shown[first]
    ranked = replace(ranking.ranked, order=(*first, *rest), scores=scores)
    said = {order[hit.index]: hit.score for hit in hits}
    judgement = replace(ranking.judgement, scores=scores) if ranking.judgement else None
    ranking = replace(ranking, ranked=ranked, judgement=judgement, by_model=said)
    return ranking, (*first, *rest)


def _from_0_to_1(scores: Floats) -> Floats:
    """As they are where they are shares already; else by the logistic function, as of logits."""
    if scores.min() >= 0 and scores.max() <= 1:
        return scores
    squeezed: Floats = 1 / (1 + np.exp(-np.clip(scores, -60, 60)))
    return squeezed
