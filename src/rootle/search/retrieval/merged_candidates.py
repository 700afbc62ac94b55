"""The candidates of a query: the chunks and files to rank, and the inputs of the ranking."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from typing import Final

import numpy as np

from rootle.index.reader import FileChunks, FileState, IndexReader, Neighbors
from rootle.protocols import NO_HITS, Ids, RankedIds
from rootle.rank.adjacent_words import word_order
from rootle.rank.features import share_of_max
from rootle.rank.question.parsed import Question
from rootle.rank.ranking_inputs import ChunkInputs, FileInputs, Flags, Floats, Ints, RankingInputs
from rootle.rank.reciprocal_rank_fusion import first_positions, reciprocal_rank_fusion
from rootle.rank.span_choice import find_likely_chunks
from rootle.search.query.scope import MAX_CANDIDATE_FILES, ScopedQuery
from rootle.search.request import SearchRequest
from rootle.search.retrieval.legs import (
    SparseFindings,
    locate_hits,
    match_terms,
    read_best_texts,
    read_facts,
)

# Limits for chunks whose symbols match the question and for files that match as a whole. They
# become candidates even if neither leg ranks them high.
_MAX_SYMBOL_CHUNKS: Final = 20
_MAX_FILES_PER_FIELD: Final = 30
# To compare the order of words, only the texts of this many files, and of this many chunks per
# file, are read. In a repository with 6,500 files, this takes a twentieth of the query time.
_MAX_READ_FILES: Final = 16
_MAX_READ_CHUNKS: Final = 2  # per file
# Matching terms are looked up only for the most likely files; the others rank too low to matter.
_MAX_LIKELY_FILES: Final = 24
_MAX_MATCHED_CHUNKS: Final = 400
_DAY_S: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates of a scoped query."""

    scoped: ScopedQuery
    inputs: RankingInputs
    states: Mapping[int, FileState]  # of the candidate files, by id
    chunks: FileChunks  # all chunks of the candidate files
    likely_chunks: Ids  # the one that is likely to be shown from each candidate file, or -1
    degraded: tuple[str, ...] = ()  # legs that did not answer, and "stale"
    unranked_files: Collection[int] = ()  # files that were retrieved but exceed the limit
    sparse_hits: int = 0  # chunks found by each leg
    dense_hits: int = 0

    @property
    def has_words(self) -> bool:
        """Whether the word index answered."""
        return "sparse" not in self.degraded


@dataclass(frozen=True, slots=True)
class CandidateIds:
    """The ids of candidate chunks and files, each in ascending order."""

    chunks: Ids
    chunk_files: Ids  # the file of each chunk
    files: Ids
    unranked_files: Collection[int] = ()  # files that were retrieved but exceed the limit


def gather_candidates(
    request: SearchRequest,
    scoped: ScopedQuery,
    sparse: SparseFindings,
    neighbors: Neighbors | None,
    *,
    limit: int,
    degraded: tuple[str, ...],
) -> Candidates:
    """Fuse the hits of both legs and collect the inputs of the ranking.

    `limit` is the maximum number of chunks. `degraded` names the legs that did not answer.
    """
    index = request.session.index
    dense_hits = NO_HITS if neighbors is None else neighbors.hits
    located = locate_hits(index, sparse, dense_hits, scoped.chunk_ids)
    chosen = choose_candidates(sparse, dense_hits, located.find_files, limit, scoped)
    files = read_facts(index, neighbors, chosen.files)
    file_hits = (sparse.file_body, sparse.file_symbols, sparse.file_path)
    found = _Findings(
        scoped.question.question,
        chosen,
        sparse,
        dense_hits,
        lookup(file_hits, chosen.files),
        _file_cosines(files.chunks, chosen.files),
        files.path_positions.argsort(),
    )
    terms = _match_terms(found, None if "sparse" in degraded else index)
    order = _compare_word_order(found, index)
    inputs = _ranking_inputs(found, terms, order, list(files.states.values()), request.now_s)
    # The order of the files affects ties and rounding errors. Paths are a stable order, whereas ids
    # depend on the history of the index.
    inputs = inputs.reorder_files(found.path_order)
    unranked = chosen.unranked_files
    if scoped.matches is not None and limit >= MAX_CANDIDATE_FILES:
        ranked = frozenset(chosen.files.tolist())
        unranked = {*unranked, *(at for at in scoped.matches.places if at not in ranked)}
    return Candidates(
        scoped,
        inputs,
        files.states,
        files.chunks,
        find_likely_chunks(inputs),
        degraded,
        unranked,
        sparse_hits=len(sparse.body.ids),
        dense_hits=len(dense_hits.ids),
    )


def choose_candidates(
    sparse: SparseFindings,
    dense_hits: RankedIds,
    find_files: Callable[[Ids], Ids],
    limit: int,
    scoped: ScopedQuery,
) -> CandidateIds:
    """Return the best chunks, and files that contain them or match as a whole.

    At most `limit` chunks are returned. If more are found, those that contain an exact match or
    define a name of the question are preferred.
    """
    fused = reciprocal_rank_fusion([sparse.body, dense_hits], limit)
    defining = np.array([c for ids in sparse.definers.values() for c in ids], dtype=np.int64)
    # Names are looked up in all files, so chunks of files outside the scope are dropped.
    defining, required = (
        _filter_by_scope(ids, find_files, scoped) for ids in (defining, scoped.chunk_ids)
    )
    symbols = sparse.symbols.ids[:_MAX_SYMBOL_CHUNKS]
    lists = [ids for ids in (defining, fused, required) if len(ids)]
    chunk_ids = sorted_unique(np.concatenate([symbols, *lists]))
    if len(chunk_ids) > limit or limit < MAX_CANDIDATE_FILES:
        best = _first_unique((required, defining, fused, symbols), limit)
        return _cut_candidates(best, sparse, find_files, limit)
    files = find_files(chunk_ids)
    by_field = [field.ids[:_MAX_FILES_PER_FIELD] for field in _file_fields(sparse)]
    of_lists = [files[chunk_ids.searchsorted(ids)] for ids in lists]
    wanted = dict.fromkeys(_interleave([*by_field, *of_lists]))
    wanted.pop(-1, None)
    return _select_files(chunk_ids, files, list(wanted))


def _filter_by_scope(ids: Ids, find_files: Callable[[Ids], Ids], scoped: ScopedQuery) -> Ids:
    if scoped.files is None or not len(ids):
        return ids
    files = np.fromiter(scoped.files, np.int64, len(scoped.files))
    return ids[np.isin(find_files(ids), files)]


def _interleave(lists: Sequence[Ids]) -> Iterable[int]:
    """Return the first id of each list, then the second id of each list, and so on."""
    distinct = [dict.fromkeys(ids.tolist()) for ids in lists]
    return [one for ids in zip_longest(*distinct) for one in ids if one is not None]


def _file_fields(sparse: SparseFindings) -> tuple[RankedIds, ...]:
    return (sparse.file_path, sparse.file_body, sparse.file_symbols)


def _select_files(chunk_ids: Ids, files: Ids, wanted: Sequence[int]) -> CandidateIds:
    """Return the first wanted files, and their chunks. `files` contains the file of each chunk."""
    file_ids = np.array(sorted(wanted[:MAX_CANDIDATE_FILES]), dtype=np.int64)
    kept = is_among(files, file_ids)
    rest = wanted[MAX_CANDIDATE_FILES:]
    return CandidateIds(chunk_ids[kept], files[kept], file_ids, rest)


def _cut_candidates(
    best: Ids, sparse: SparseFindings, find_files: Callable[[Ids], Ids], limit: int
) -> CandidateIds:
    """Return the best chunks and their files, and files that match as a whole, up to the limit."""
    whole_files = (field.ids[:_MAX_FILES_PER_FIELD] for field in _file_fields(sparse))
    found = _first_unique((find_files(best), *whole_files), limit + 1)
    chunk_ids = np.sort(best)
    return _select_files(chunk_ids, find_files(chunk_ids), found[found >= 0][:limit].tolist())


def _first_unique(lists: Iterable[Ids], limit: int) -> Ids:
    """Return the first distinct ids of some lists, in order of their first occurrence."""
    distinct = dict.fromkeys(chain.from_iterable(ids.tolist() for ids in lists))
    return np.array(list(islice(distinct, limit)), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class _Findings:
    """The findings of both legs about the candidates of a question."""

    question: Question
    chosen: CandidateIds
    sparse: SparseFindings
    dense_hits: RankedIds
    file_scores: Floats  # BM25: rows for text, symbols and path, one column per file
    file_cosines: Floats  # rows for the best and the mean cosine of each file's chunks
    path_order: Ints  # positions of the files in the order of their paths


@dataclass(frozen=True, slots=True)
class _TermMatches:
    """The shares of the question's terms that occur, as numbers from 0 to 1."""

    coverage: Floats  # in each file, weighted by rarity
    passage: Floats  # in the best chunk of each file
    described: Floats  # like `passage`, but without the terms of guessed code
    unknown: float  # terms outside of guessed code that occur nowhere


def _ranking_inputs(
    found: _Findings,
    terms: _TermMatches,
    order: Floats,
    states: Sequence[FileState],
    now_s: float,
) -> RankingInputs:
    chosen, sparse = found.chosen, found.sparse
    positions = chosen.files.searchsorted(chosen.chunk_files)
    body, dense, symbols, notes = lookup(
        [sparse.body, found.dense_hits, sparse.symbols, sparse.notes], chosen.chunks
    )
    defines, definers = _definitions(found, positions)
    chunks = ChunkInputs(chosen.chunks, positions, body, dense, symbols, notes, defines)
    body_scores, symbol_scores, path_scores = found.file_scores
    best_cosines, mean_cosines = found.file_cosines
    files = FileInputs(
        chosen.files,
        tuple([state.path for state in states]),
        body_scores,
        symbol_scores,
        path_scores,
        best_cosines,
        mean_cosines,
        terms.coverage,
        terms.passage,
        definers,
        (now_s - _modified_s(states)) / _DAY_S,
        np.array([state.size for state in states], dtype=np.float64),
        terms.described,
        order[0],
        order[1],
        tuple([state.author for state in states]),
    )
    return RankingInputs(found.question, chunks, files, terms.unknown)


def _file_cosines(chunks: FileChunks, file_ids: Ids) -> Floats:
    """Return the best and the mean cosine of each file's chunks; 0 for a file without chunks."""
    best_and_mean = np.zeros((2, len(file_ids)))
    if chunks.cosines is None or not len(chunks.file_ids):
        return best_and_mean
    starts = first_positions(chunks.file_ids)
    at = file_ids.searchsorted(chunks.file_ids[starts])
    counts = np.diff(np.append(starts, len(chunks.file_ids)))
    best_and_mean[0, at] = np.maximum.reduceat(chunks.cosines, starts)
    best_and_mean[1, at] = np.add.reduceat(chunks.cosines, starts) / counts
    return best_and_mean


def _definitions(found: _Findings, positions: Ints) -> tuple[Flags, Floats]:
    """Return which chunks define a name of the question, and the column `FileInputs.definers`."""
    chosen = found.chosen
    defines = np.zeros(len(chosen.chunks), dtype=bool)
    definers = np.zeros(len(chosen.files))
    for chunk_ids in found.sparse.definers.values():
        here = is_among(chosen.chunks, np.array(chunk_ids, dtype=np.int64))
        defines |= here
        files = sorted_unique(positions[here])
        if len(files):
            definers[files] += 1 / len(files)
    return defines, definers


def _match_terms(found: _Findings, index: IndexReader | None) -> _TermMatches:
    """Return the shares of the terms that occur; all are 0 without the word index."""
    file_ids = found.chosen.files
    count = len(file_ids)
    terms = [term.text for term in found.question.content_terms if term.weight >= 1]
    if index is None or not terms or not count:
        return _TermMatches(np.zeros(count), np.zeros(count), np.zeros(count), 0.0)
    likely = file_ids[_likely_files(found)].tolist()
    matched = match_terms(index, terms, _MAX_MATCHED_CHUNKS, likely)
    frequencies, texts, masks = matched.frequencies, matched.texts, matched.masks
    at = file_ids.searchsorted(matched.file_ids)
    in_file, in_chunk = np.zeros(count, np.int64), np.zeros(count, np.int64)
    np.bitwise_or.at(in_file, at, masks)
    np.maximum.at(in_chunk, at, _bits(masks, len(texts)).sum(axis=1))
    weights = matched.rarity / matched.rarity.sum()
    # A matrix product would add the weights of each row in an order that depends on the row, so
    # that equal files could get different sums.
    coverage = (_bits(in_file, len(texts)) * weights).sum(axis=1)
    passage = in_chunk / len(texts)
    code = found.question.code_terms
    if code.isdisjoint(terms) or code.issuperset(terms):
        return _TermMatches(coverage, passage, passage, list(frequencies).count(0) / len(terms))
    known = [
        frequency for term, frequency in zip(terms, frequencies, strict=True) if term not in code
    ]
    is_described = np.array([text not in code for text in texts])
    described = np.zeros(count, np.int64)
    np.maximum.at(described, at, _bits(masks, len(texts))[:, is_described].sum(axis=1))
    return _TermMatches(
        coverage,
        passage,
        described / max(1, int(is_described.sum())),
        known.count(0) / len(known),
    )


def _compare_word_order(found: _Findings, index: IndexReader) -> Floats:
    """Return `FileInputs.pairs` and `FileInputs.triples`, as two rows."""
    chosen = found.chosen
    shares = np.zeros((2, len(chosen.files)))
    if not found.question.detail or not len(chosen.chunks):
        return shares  # for most questions, the ranking ignores these rows
    order = word_order(found.question.text)
    if not order.pairs:
        return shares
    body, dense = lookup([found.sparse.body, found.dense_hits], chosen.chunks)
    best = (-share_of_max(body) - share_of_max(dense)).argsort(kind="stable")
    likely = chosen.files[_likely_files(found, _MAX_READ_FILES)].tolist()
    read = read_best_texts(
        index, chosen.chunks[best], chosen.chunk_files[best], likely, _MAX_READ_CHUNKS
    )
    for file_id, texts in read.items():
        shares[:, chosen.files.searchsorted(file_id)] = order.shares_in(texts)
    return shares


def _likely_files(found: _Findings, count: int = _MAX_LIKELY_FILES) -> Ints:
    """Return the positions of the files with the best sum of normalized scores."""
    body, _, path = found.file_scores
    columns = (body, path, found.file_cosines[0])
    scores = sum(column / max(float(column.max(initial=0.0)), 1e-12) for column in columns)
    by_path = found.path_order
    best = by_path[(-np.asarray(scores)[by_path]).argsort(kind="stable")]
    return np.sort(best[:count])


def _bits(masks: Ints, count: int) -> Ints:
    """Return the `count` lowest bits of each mask, one column per bit."""
    return (masks[:, None] >> np.arange(count)) & 1


def _modified_s(states: Sequence[FileState]) -> Floats:
    """Return `last_modified_s` of each file, NaN if unknown, without a property call per file."""
    return np.array(
        # numpy converts None to NaN.
        [state.mtime_ns / 1e9 if state.is_dirty else state.committed_s for state in states],
        dtype=np.float64,
    )


def is_among(ids: Ids, values: Ids) -> Flags:
    """Return which ids are among the values. For a few ids, `np.isin` takes ten times as long."""
    if not len(values):
        return np.zeros(len(ids), dtype=bool)
    values = np.sort(values)
    at = values.searchsorted(ids)
    at[at == len(values)] = 0
    found: Flags = values[at] == ids
    return found


def sorted_unique(ids: Ids) -> Ids:
    """Return the distinct ids in ascending order. (`np.unique` would import `numpy.ma`.)"""
    ordered = np.sort(ids)
    return ordered[first_positions(ordered)]


def lookup(rankings: Sequence[RankedIds], ids: Ids) -> Floats:
    """Return the scores of ascending ids, one row per ranking; 0 if the ranking lacks the id."""
    scores = np.zeros((len(rankings), len(ids)))
    found = np.concatenate([ranking.ids for ranking in rankings])
    if len(found) and len(ids):
        row = np.arange(len(rankings)).repeat([len(ranking.ids) for ranking in rankings])
        at = ids.searchsorted(found)
        at[at == len(ids)] = 0
        is_known = ids[at] == found
        values = np.concatenate([ranking.scores for ranking in rankings])
        scores[row[is_known], at[is_known]] = values[is_known]
    return scores
