"""One page of a ranking as results: the best spans of each file, with their lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from typing import Final

import numpy as np

from rootle.index.local.snapshot import Snapshot
from rootle.index.reader import FileState
from rootle.protocols import Ids
from rootle.rank.confidence import Confidence
from rootle.rank.features import NAMES
from rootle.rank.rankers.feature_sum import RankedFiles
from rootle.rank.rankers.registry import SpanScores
from rootle.rank.ranking_inputs import Flags, Floats, RankingInputs
from rootle.rank.spans import ScoredSpan, choose_spans, has_room, initial_lines_of
from rootle.search.results.span_constraints import Rows, SpanConstraints, shown_spans
from rootle.search.results.working_tree import WorkingTree, WorkingTreeTexts
from rootle.search.retrieval.candidates import is_in_sorted, lookup
from rootle.search.retrieval.file_vectors import FileVectors, VectorScores
from rootle.serialization.timestamps import format_timestamp
from rootle.types import (
    EXTRACTED,
    FILES,
    DocumentSection,
    FileMetadata,
    ResultSource,
    SearchResult,
    Span,
)

# Four spans of a file are shown at most. Chunks of code do not overlap, so these are enough; of
# windows, which do, some are passed over, and more are looked at.
_SPANS_LOOKED_AT: Final = 4
_SPANS_IN_ALL: Final = 8
# So many chunks of a page's files are told apart by their words; the others have few of them.
_CHUNKS_BY_WORDS: Final = 200


@dataclass(frozen=True, slots=True)
class Ranking:
    """A question's files in their order, and what their spans are chosen by."""

    evidence: RankingInputs
    ranked: RankedFiles
    score_spans: SpanScores
    judgement: Confidence | None
    cosines: VectorScores | None  # None without the dense leg
    has_words: bool  # the word index answered
    degraded: tuple[str, ...]
    demands: SpanConstraints | None = None
    files: Mapping[int, FileState] = field(default_factory=dict)  # the candidates, by their ids
    spans: Mapping[int, list[ScoredSpan]] | None = None  # of each file, where all were chosen
    by_model: Mapping[int, float] = field(default_factory=dict)  # what a reranker said of them


@dataclass(frozen=True, slots=True)
class _Chunks:
    """All chunks of a page's files, file by file."""

    ids: Ids
    files: Ids
    scores: Floats
    by_words: Flags


def build_page(
    snapshot: Snapshot,
    rows_of_files: FileVectors,
    ranking: Ranking,
    page: Sequence[int],
    copies: Mapping[int, tuple[str, ...]],
    tree: WorkingTree | None,
    *,
    explain: bool,
) -> tuple[SearchResult, ...]:
    """The results for some positions among the candidate files, in that order.

    Their lines come from the files of a tree, or from the index where there is none.
    """
    evidence, ranked = ranking.evidence, ranking.ranked
    ids = evidence.files.ids[list(page)].tolist()
    chunks = _chunks_of(snapshot, rows_of_files, ranking, ids)
    if ranking.spans is None:
        chosen, rows = _chosen(snapshot, chunks, ids, ranking)
    else:
        chosen = [ranking.spans[file_id] for file_id in ids]
        rows = snapshot.chunks([span.chunk_id for spans in chosen for span in spans])
    texts = WorkingTreeTexts(tree, snapshot, ranking.files)
    shown = shown_spans(texts.excerpts, [span for spans in chosen for span in spans], rows)
    sources = _sources(evidence, chunks, [spans[0].chunk_id if spans else -1 for spans in chosen])
    scores = ranking.judgement.scores if ranking.judgement else ranked.scores
    results = []
    for at, file_id, spans, source in zip(page, ids, chosen, sources, strict=True):
        explanation = _explanation(ranking, at) if explain else None
        state = ranking.files[file_id]
        seen = _name_places(snapshot, state, tuple(islice(shown, len(spans))))
        result = _result(state, seen, source, float(scores[at]), explanation)
        own = copies.get(file_id)
        results.append(replace(result, duplicates=own) if own else result)
    return tuple(results)


def with_spans_if_some_are_hidden(
    snapshot: Snapshot, rows_of_files: FileVectors, ranking: Ranking
) -> Ranking:
    """Where lines may not be shown, the spans of all files, and only files that have some."""
    if ranking.demands is None or ranking.demands.unwanted is None:
        return ranking
    order = ranking.ranked.order
    ids = ranking.evidence.files.ids[list(order)].tolist()
    chunks = _chunks_of(snapshot, rows_of_files, ranking, ids)
    chosen, _ = _chosen(snapshot, chunks, ids, ranking)
    left = tuple(at for at, spans in zip(order, chosen, strict=True) if spans)
    ranked = replace(ranking.ranked, order=left)
    return replace(ranking, ranked=ranked, spans=dict(zip(ids, chosen, strict=True)))


def _chosen(
    snapshot: Snapshot, chunks: _Chunks, file_ids: Sequence[int], ranking: Ranking
) -> tuple[list[list[ScoredSpan]], Rows]:
    """For each file the spans that are shown, and the chunks that they come from."""
    best, at_first = _best_chunks(chunks, file_ids), _lines_at_first(ranking)
    rows = snapshot.chunks([at for found in best for at, _ in found[:_SPANS_LOOKED_AT]])
    chosen = []
    for file_id, found in zip(file_ids, best, strict=True):
        spans = _chosen_of(snapshot, rows, file_id, found[:_SPANS_LOOKED_AT], ranking)
        if len(found) > _SPANS_LOOKED_AT and has_room(spans, at_first):
            rows.update(snapshot.chunks([at for at, _ in found[_SPANS_LOOKED_AT:]]))
            spans = _chosen_of(snapshot, rows, file_id, found, ranking)
        chosen.append(spans)
    return chosen, rows


def _chosen_of(
    snapshot: Snapshot,
    rows: Rows,
    file_id: int,
    found: Sequence[tuple[int, float]],
    ranking: Ranking,
) -> list[ScoredSpan]:
    spans = [
        ScoredSpan(row.id, row.start_line, row.end_line, score)
        for chunk_id, score in found
        if (row := rows.get(chunk_id)) is not None
    ]
    if not spans:
        # Its path or its names alone brought it here: it is shown by its beginning.
        for row in snapshot.chunks_of(file_id)[:1]:
            rows[row.id] = row
            spans.append(ScoredSpan(row.id, row.start_line, row.end_line, 0.0))
    if ranking.demands is not None:
        spans = ranking.demands.met_by(spans, file_id, rows, snapshot)
    return choose_spans(spans, _lines_at_first(ranking))


def _lines_at_first(ranking: Ranking) -> int:
    is_exact = ranking.demands is not None and ranking.demands.exact is not None
    return initial_lines_of(is_symbol=ranking.evidence.question.is_symbol, is_exact=is_exact)


def _chunks_of(
    snapshot: Snapshot, rows_of_files: FileVectors, ranking: Ranking, file_ids: Sequence[int]
) -> _Chunks:
    """Scores for every chunk of some files, also for those that neither leg put forward."""
    rows, _, _ = rows_of_files.rows_of(np.array(sorted(file_ids), dtype=np.int64))
    dense = np.zeros(len(rows))
    if ranking.cosines is not None and len(ranking.cosines.values):
        dense = ranking.cosines.of(rows).astype(np.float64)
    if (is_dead := np.isnan(dense)).any():
        rows, dense = rows[~is_dead], dense[~is_dead]
    ids = snapshot.dense.chunk_ids[rows]
    question = ranking.evidence.question
    bm25 = np.zeros(len(ids))
    if ranking.has_words and len(ids):
        found = snapshot.sparse.field_scores(
            "chunks", ["body"], question.terms, min(len(ids), _CHUNKS_BY_WORDS), files=file_ids
        )
        order = ids.argsort()  # a file that was written again has newer chunks than the next one
        bm25[order] = lookup([found], ids[order])[0]
    known = ranking.evidence.chunks
    defines = is_in_sorted(ids, known.ids[known.defines])
    scores = ranking.score_spans(bm25, dense, defines, is_symbol=question.is_symbol)
    return _Chunks(ids, snapshot.dense.file_ids[rows], scores, bm25 > 0)


def _best_chunks(chunks: _Chunks, file_ids: Sequence[int]) -> list[list[tuple[int, float]]]:
    """For each file its best chunks as pairs of id and score, best first; only good ones."""
    # The chunks of a file stand together, the files in the order of their ids.
    starts = chunks.files.searchsorted(file_ids).tolist()
    ends = chunks.files.searchsorted(file_ids, side="right").tolist()
    best = []
    for start, end in zip(starts, ends, strict=True):
        scores = chunks.scores[start:end]
        top = (-scores).argsort(kind="stable")[:_SPANS_IN_ALL]
        pairs = zip(chunks.ids[start:end][top].tolist(), scores[top].tolist(), strict=True)
        best.append([(chunk_id, score) for chunk_id, score in pairs if score > 0])
    return best


def _result(
    state: FileState,
    shown: tuple[Span, ...],
    source: ResultSource,
    score: float,
    explanation: Mapping[str, float] | None,
) -> SearchResult:
    first = shown[0] if shown else Span(1, 1, "", "")
    return SearchResult(
        file_path=state.path,
        start_line=first.start_line,
        end_line=first.end_line,
        snippet=first.snippet,
        score=round(min(1.0, score), 5),
        source=source,
        metadata=_metadata(state),
        scope=first.scope,
        more_spans=shown[1:],
        explanation=explanation,
        place=first.place,
    )


def _name_places(snapshot: Snapshot, state: FileState, spans: tuple[Span, ...]) -> tuple[Span, ...]:
    """Label the spans of a document that has sections, such as slides."""
    if state.source == FILES and state.encoding != EXTRACTED:
        return spans
    sections = snapshot.sections_of(state.id)
    return tuple(replace(span, place=_place_of(span, sections)) for span in spans)


def _place_of(span: Span, sections: Sequence[DocumentSection]) -> str | None:
    for section in sections:
        if section.start_line <= span.start_line <= section.end_line:
            return section.label
    return None


def _explanation(ranking: Ranking, at: int) -> Mapping[str, float]:
    ranked = ranking.ranked
    gave = dict(zip(NAMES, ranked.features[at].tolist(), strict=True))
    if ranked.learned is not None:
        gave["learned"] = float(ranked.learned[at])
    gave |= {name: float(values[at]) for name, values in ranked.signals.items()}
    read = {"reranker": round(ranking.by_model[at], 5)} if at in ranking.by_model else {}
    return {**read, **{name: round(value, 5) for name, value in gave.items() if value}}


def _sources(evidence: RankingInputs, chunks: _Chunks, shown: Sequence[int]) -> list[ResultSource]:
    """Which leg found each of some chunks."""
    ids, candidates = np.array(shown, dtype=np.int64), evidence.chunks
    # A cosine may be below zero; 0 means that the leg did not find the chunk.
    by_words = is_in_sorted(ids, candidates.ids[candidates.bm25 != 0]).tolist()
    by_meaning = is_in_sorted(ids, candidates.ids[candidates.dense != 0]).tolist()
    # Beyond what the legs put forward: what its place among the lines of its file rests on.
    has_words = is_in_sorted(ids, np.sort(chunks.ids[chunks.by_words])).tolist()
    return [
        _source(words=words, meaning=meaning, has_words=has)
        for words, meaning, has in zip(by_words, by_meaning, has_words, strict=True)
    ]


def _source(*, words: bool, meaning: bool, has_words: bool) -> ResultSource:
    if meaning:
        return "merged" if words else "dense"
    return "sparse" if words or has_words else "merged"


def _metadata(state: FileState) -> FileMetadata:
    return FileMetadata(_stamp(state.last_modified_s), state.language, state.size)


@lru_cache(maxsize=4_096)  # a commit touches many files
def _stamp(time_s: float) -> str:
    return format_timestamp(time_s)
