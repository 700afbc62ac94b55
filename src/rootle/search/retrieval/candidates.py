"""Asks both legs and collects what they say about the candidates."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, Literal, Protocol

import numpy as np

from rootle.index.reader import FileState
from rootle.protocols import MAX_MATCH_TERMS, NO_HITS, Ids, Ranked, SparseIndex, WeightedTerm
from rootle.rank.fusion import first_positions, reciprocal_rank_fusion
from rootle.rank.question.parsed import Question
from rootle.rank.ranking_inputs import ChunkInputs, FileInputs, Flags, Floats, Ints, RankingInputs
from rootle.search.retrieval.file_vectors import DenseFindings, FileCosines

# A file that neither leg puts forward may still be the one that the question names.
_FILES_BY_PATH: Final = 30
_FIELD_HITS: Final = 60
# What stands lower in the fusion of all lists was never seen to win.
MAX_FILES: Final = 60
# The index is asked which terms stand where for so many files only: the others do not come near.
_LIKELY_FILES: Final = 24
_MAX_DEFINERS: Final = 200
_MATCHED_CHUNKS: Final = 400
_DAY_S: Final = 86_400.0

Level = Literal["chunks", "files"]


class SparseReader(Protocol):
    """The word index, as far as gathering needs it."""

    def stems(self, terms: str) -> list[str]: ...
    def query(
        self, terms: Sequence[WeightedTerm], k: int, files: Collection[int] | None = None
    ) -> Ranked: ...
    def field_scores(
        self,
        level: Level,
        fields: Sequence[str],
        terms: Sequence[WeightedTerm],
        k: int,
        *,
        files: Collection[int] | None = None,
    ) -> Ranked: ...
    def matches(
        self, terms: Sequence[str], k: int, *, among: Literal["chunk", "file"], ids: Sequence[int]
    ) -> tuple[Ids, Ints]: ...
    def file_frequencies(self, terms: Sequence[str]) -> tuple[int, Sequence[int]]: ...
    def definers(self, names: Sequence[str], k: int = ...) -> dict[str, list[int]]: ...


@dataclass(frozen=True, slots=True)
class SparseFindings:
    """All that the word index says of a question."""

    body: Ranked
    symbols: Ranked
    notes: Ranked  # comments and headings
    file_body: Ranked
    file_symbols: Ranked
    file_path: Ranked
    definers: dict[str, list[int]]


NO_SPARSE: Final = SparseFindings(
    body=NO_HITS,
    symbols=NO_HITS,
    notes=NO_HITS,
    file_body=NO_HITS,
    file_symbols=NO_HITS,
    file_path=NO_HITS,
    definers={},
)


def ask_sparse(
    index: SparseReader,
    question: Question,
    k: int,
    files: Collection[int] | None,
    served: SparseIndex | None = None,
) -> SparseFindings:
    """The best chunks and files by words, for each field of the word index.

    Where a server serves the leg, the chunks are those that it finds; names, paths and whole files
    are looked up here in any case.
    """
    terms = question.terms
    content = question.content_terms

    def chunks(*fields: str) -> Ranked:
        return index.field_scores("chunks", fields, content, _FIELD_HITS, files=files)

    return SparseFindings(
        (index if served is None else served).query(terms, k, files),
        chunks("symbols"),
        chunks("comments", "headings"),
        index.field_scores("files", ["body"], terms, _FIELD_HITS, files=files),
        index.field_scores("files", ["symbols"], content, _FIELD_HITS, files=files),
        index.field_scores("files", ["path"], content, _FIELD_HITS, files=files),
        index.definers(question.names, _MAX_DEFINERS) if question.names else {},
    )


@dataclass(frozen=True, slots=True)
class ChunkTable:
    """Where chunks belong: aligned with the rows of the matrix, in the order of chunk ids."""

    chunk_ids: Ids
    file_ids: Ids

    def files_of(self, chunk_ids: Ids) -> Ids:
        """The file of each chunk; -1 for one that is not in the table."""
        if not len(self.chunk_ids):
            return np.full(len(chunk_ids), -1, np.int64)
        at = self.chunk_ids.searchsorted(chunk_ids)
        at[at == len(self.chunk_ids)] = 0
        files = self.file_ids[at]
        files[self.chunk_ids[at] != chunk_ids] = -1
        return files


@dataclass(frozen=True, slots=True)
class Candidates:
    """Chunk ids with their files' ids, before anything else is known of them."""

    chunk_ids: Ids
    files: Ids  # of each chunk
    file_ids: Ids  # each file once


def choose_candidates(
    sparse: SparseFindings,
    dense: DenseFindings | None,
    table: ChunkTable,
    limit: int,
    allowed: Collection[int] | None,
    also: Ids = NO_HITS.ids,
) -> Candidates:
    """The chunks that both legs put forward, fused and cut, and the files that go with them.

    After them come the chunks of `also`, as far as there is room.
    """
    legs = [sparse.body] + ([dense.hits] if dense else [])
    fused = reciprocal_rank_fusion(legs, limit)
    asked = np.array([c for ids in sparse.definers.values() for c in ids], dtype=np.int64)
    if allowed is not None and len(asked):  # they were looked up among all files
        permitted = np.fromiter(allowed, np.int64, len(allowed))
        asked = asked[np.isin(table.files_of(asked), permitted)]
    in_turn = [ids for ids in (asked, fused, also) if len(ids)]
    chunk_ids = sorted_unique(np.concatenate([sparse.symbols.ids[:20], *in_turn]))
    files = table.files_of(chunk_ids)
    # Each once, in the order of their first place; dictionaries keep it.
    wanted = dict.fromkeys(sparse.file_path.ids[:_FILES_BY_PATH].tolist())
    wanted |= dict.fromkeys(sparse.file_body.ids[:_FILES_BY_PATH].tolist())
    wanted |= dict.fromkeys(sparse.file_symbols.ids[:_FILES_BY_PATH].tolist())
    for ids in in_turn:
        if len(wanted) <= MAX_FILES:  # one of them may be nobody's
            wanted |= dict.fromkeys(files[chunk_ids.searchsorted(ids)].tolist())
    wanted.pop(-1, None)
    file_ids = np.array(sorted(islice(wanted, MAX_FILES)), dtype=np.int64)
    kept = is_in_sorted(files, file_ids)
    return Candidates(chunk_ids[kept], files[kept], file_ids)


def is_in_sorted(ids: Ids, among: Ids) -> Flags:
    """Which ids stand in a sorted list; for a few hundred ids `np.isin` takes ten times as long."""
    if not len(among):
        return np.zeros(len(ids), dtype=bool)
    at = among.searchsorted(ids)
    at[at == len(among)] = 0
    found: Flags = among[at] == ids
    return found


def sorted_unique(ids: Ids) -> Ids:
    """Each id once, in order. `np.unique` would import all of `numpy.ma` for the same."""
    ordered = np.sort(ids)
    return ordered[first_positions(ordered)]


def lookup(rankings: Sequence[Ranked], ids: Ids) -> Floats:
    """The scores of some ids, which are in order, one row a ranking; 0 where they are not in it."""
    scores = np.zeros((len(rankings), len(ids)))
    found = np.concatenate([ranking.ids for ranking in rankings])
    if len(found) and len(ids):
        row = np.arange(len(rankings)).repeat([len(ranking.ids) for ranking in rankings])
        at = ids.searchsorted(found)
        at[at == len(ids)] = 0
        is_asked = ids[at] == found
        given = np.concatenate([ranking.scores for ranking in rankings])
        scores[row[is_asked], at[is_asked]] = given[is_asked]
    return scores


def build_evidence(
    question: Question,
    sparse: SparseFindings,
    index: SparseReader | None,
    candidates: Candidates,
    table: ChunkTable,
    states: Sequence[FileState],
    now_s: float,
    dense: Ranked,
    cosines: FileCosines | None,
) -> RankingInputs:
    """Everything that the ranking sees, from what was found.

    `dense` are the nearest chunks, `cosines` those of the candidate files.
    """
    chunk_ids, file_ids = candidates.chunk_ids, candidates.file_ids
    positions = file_ids.searchsorted(candidates.files)
    bm25, nearness, symbols, notes = lookup(
        [sparse.body, dense, sparse.symbols, sparse.notes], chunk_ids
    )
    defined_by, definers = _definitions(sparse, candidates, positions)
    chunks = ChunkInputs(chunk_ids, positions, bm25, nearness, symbols, notes, defined_by)
    by_text, by_symbols, by_path = lookup(
        [sparse.file_body, sparse.file_symbols, sparse.file_path], file_ids
    )
    best, mean = (cosines.best, cosines.mean) if cosines else np.zeros((2, len(file_ids)))
    likely = _likely_files([by_text, by_path, best])
    words = _words_of(question, index, table, file_ids, likely)
    files = FileInputs(
        file_ids,
        tuple([state.path for state in states]),
        by_text,
        by_symbols,
        by_path,
        best,
        mean,
        words.in_file,
        words.in_passage,
        definers,
        (now_s - _modified_s(states)) / _DAY_S,
        np.array([state.size for state in states], dtype=np.float64),
    )
    return RankingInputs(question, chunks, files, words.unknown)


def _modified_s(states: Sequence[FileState]) -> Floats:
    """Return `last_modified_s` of some files. The property would be called sixty times a query."""
    return np.array(
        [
            state.mtime_ns / 1e9
            if state.is_dirty or state.committed_s is None
            else state.committed_s
            for state in states
        ],
        dtype=np.float64,
    )


def with_authors(evidence: RankingInputs, states: Mapping[int, FileState]) -> RankingInputs:
    """The same, and who wrote the candidate files."""
    files = evidence.files
    authors = tuple(states[file_id].author for file_id in files.ids.tolist())
    return replace(evidence, files=replace(files, authors=authors))


def _definitions(
    sparse: SparseFindings, candidates: Candidates, positions: Ints
) -> tuple[Flags, Floats]:
    defines = np.zeros(len(candidates.chunk_ids), dtype=bool)
    definers = np.zeros(len(candidates.file_ids))
    for chunk_ids in sparse.definers.values():
        here = is_in_sorted(candidates.chunk_ids, np.sort(np.array(chunk_ids, dtype=np.int64)))
        defines |= here
        files = sorted_unique(positions[here])
        if len(files):
            definers[files] += 1 / len(files)
    return defines, definers


def _likely_files(columns: Sequence[Floats]) -> Ints:
    """Positions of the files that are worth a closer look: the best by the sum of some scores."""
    scores = sum(column / max(float(column.max(initial=0.0)), 1e-12) for column in columns)
    return np.sort((-np.asarray(scores)).argsort(kind="stable")[:_LIKELY_FILES])


@dataclass(frozen=True, slots=True)
class _WordsFound:
    """How much of the question stands where, from 0 to 1."""

    in_file: Floats  # the share of its words in each file, rare ones counting more
    in_passage: Floats  # the largest share of them in one chunk of each file
    unknown: float  # the share of them that stands nowhere


def _words_of(
    question: Question,
    index: SparseReader | None,
    table: ChunkTable,
    file_ids: Ids,
    likely: Ints,
) -> _WordsFound:
    """Which words stand in each of the likely files."""
    count = len(file_ids)
    terms = [term.text for term in question.content_terms if term.weight >= 1]
    if index is None or not terms or not count:
        return _WordsFound(np.zeros(count), np.zeros(count), 0.0)
    total, frequencies = index.file_frequencies(terms)
    rarity = np.log1p((total + 1) / (np.array(frequencies) + 0.5))
    # The rarest come last: what they stand in is not cut off.
    keep = rarity.argsort(kind="stable")[-MAX_MATCH_TERMS:]
    texts = [terms[at] for at in keep]
    ids, masks = index.matches(texts, _MATCHED_CHUNKS, among="file", ids=file_ids[likely].tolist())
    at = file_ids.searchsorted(table.files_of(ids))
    in_file, most = np.zeros(count, np.int64), np.zeros(count, np.int64)
    np.bitwise_or.at(in_file, at, masks)
    np.maximum.at(most, at, _bits(masks, len(texts)).sum(axis=1))
    weights = rarity[keep] / rarity[keep].sum()
    shares = _bits(in_file, len(texts)) @ weights
    return _WordsFound(shares, most / len(texts), frequencies.count(0) / len(terms))


def _bits(masks: Ints, count: int) -> Ints:
    """The lowest bits of each mask, one column a bit."""
    return (masks[:, None] >> np.arange(count)) & 1
