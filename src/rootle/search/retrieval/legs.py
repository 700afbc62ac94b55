"""The two legs of retrieval, and what the index contains about their candidates.

One leg is BM25 over words. The other one is the search for the nearest neighbors of a vector.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from rootle.errors import UnavailableError
from rootle.index.reader import DenseReader, FileChunks, FileState, IndexReader, Neighbors
from rootle.protocols import (
    MAX_MATCH_TERMS,
    NO_HITS,
    DenseIndex,
    Embedder,
    Ids,
    Matrix,
    QueryEmbedder,
    QuestionEmbedder,
    RankedIds,
    SparseIndex,
    Vector,
    WordEmbedder,
)
from rootle.rank.question.parsed import Question
from rootle.rank.ranking_inputs import Floats
from rootle.search.session import Session

_FIELD_HITS: Final = 60
_MAX_DEFINERS: Final = 200


@dataclass(frozen=True, slots=True)
class SparseFindings:
    """BM25 hits of a question by field, and the chunks that define its names."""

    body: RankedIds
    symbols: RankedIds
    notes: RankedIds  # comments and headings
    file_body: RankedIds
    file_symbols: RankedIds
    file_path: RankedIds
    definers: dict[str, list[int]]  # name -> chunk ids


NO_SPARSE: Final = SparseFindings(
    body=NO_HITS,
    symbols=NO_HITS,
    notes=NO_HITS,
    file_body=NO_HITS,
    file_symbols=NO_HITS,
    file_path=NO_HITS,
    definers={},
)


def search_sparse(
    index: IndexReader,
    question: Question,
    k: int,
    allowed: Collection[int] | None,
    server: SparseIndex | None = None,
) -> SparseFindings:
    """Return the best chunks and files for each field of the word index.

    A server replaces only the search for chunks. Symbols, paths and whole files are always searched
    in `index`.
    """
    terms, content = question.searched_terms, question.content_terms
    if server is None:
        body = index.sparse.query(terms, k, allowed)
    else:
        body = _keep_allowed(server.query(terms, k, allowed), index, allowed)
    scores = index.sparse.field_scores
    return SparseFindings(
        body,
        scores("chunks", ("symbols",), content, _FIELD_HITS, files=allowed),
        scores("chunks", ("comments", "headings"), content, _FIELD_HITS, files=allowed),
        scores("files", ("body",), terms, _FIELD_HITS, files=allowed),
        scores("files", ("symbols",), content, _FIELD_HITS, files=allowed),
        scores("files", ("path",), content, _FIELD_HITS, files=allowed),
        index.sparse.definers(question.names, _MAX_DEFINERS) if question.names else {},
    )


class DenseLeg:
    """Embeds questions and finds the nearest chunks."""

    def __init__(
        self,
        open_embedder: Callable[[], Embedder],
        k: int,
        *,
        server: DenseIndex | None = None,
        model: str = "",
    ) -> None:
        """`open_embedder` returns the embedder. It is called for every question.

        A server replaces the vectors of the index. If the vectors were made by a model whose
        fingerprint is not `model`, a search fails; an empty string accepts any model.
        """
        self._open_embedder = open_embedder
        self._k = k
        self._server = server
        self._model = model
        self._encoder: _Encoder | None = None

    @property
    def is_immediate(self) -> bool:
        """Whether the leg answers at once, so that it needs no deadline.

        This is the case if the embedder is already open and looks words up in memory, and no server
        is used.
        """
        encoder = self._encoder
        return encoder is not None and encoder.is_immediate and self._server is None

    def search(
        self,
        session: Session,
        question: Question,
        allowed: Collection[int] | None,
        *,
        is_alone: bool,
    ) -> Neighbors | None:
        """Return the nearest chunks, or None (not a failure) if no chunk has a vector yet."""
        index = session.index.dense
        if index.pending and index.pending == index.count:
            return None
        if self._model not in ("", session.embedding_model):
            raise UnavailableError(
                f"the vectors in the index are from {session.embedding_model}, "
                f"not from {self._model}"
            )
        vector = self._encode(question, index)
        is_empty = not vector.any()
        if self._server is None or is_empty:
            k = 0 if is_empty else self._k
            return index.nearest(vector, k, allowed, is_alone=is_alone)
        hits = _keep_allowed(self._server.query(vector, self._k, allowed), session.index, allowed)
        if not len(hits.ids) and _has_chunks(session.index, allowed):
            raise UnavailableError("the vector server returned no results")
        return Neighbors(hits, vector)

    def _encode(self, question: Question, index: DenseReader) -> Vector:
        """Return the vector of a question. Raise UnavailableError if it does not fit the index."""
        embedder, encoder = self._open_embedder(), self._encoder
        if encoder is None or encoder.embedder is not embedder:
            self._encoder = encoder = _open_encoder(embedder)
        vectors = encoder.embed(question)
        if not _fits(vectors, index):
            vectors = encoder.embed(question)  # try again, in case a server failed once
        if not _fits(vectors, index):
            raise UnavailableError(
                f"the embedder returned an array of shape {vectors.shape} for a question, expected "
                f"{index.dimensions} finite numbers; check embeddingModelID"
            )
        vector: Vector = vectors[0]
        return vector


@dataclass(frozen=True, slots=True)
class LocatedChunks:
    """The files of some chunks."""

    chunk_ids: Ids  # ascending
    file_ids: Ids  # -1 for an unknown chunk

    def find_files(self, chunk_ids: Ids) -> Ids:
        """Return the file of each chunk."""
        return self.file_ids[self.chunk_ids.searchsorted(chunk_ids)]


@dataclass(frozen=True, slots=True)
class MatchedTerms:
    """The chunks in which terms occur."""

    frequencies: Sequence[int]  # the number of files with each of the terms
    rarity: Floats  # of each searched term; only the rarest terms are searched
    texts: Sequence[str]  # the searched terms
    file_ids: Ids  # of each chunk that contains a searched term
    masks: Ids  # for each of these chunks, the terms that it contains, as bits


@dataclass(frozen=True, slots=True)
class IndexedFacts:
    """The states, chunks and paths of the candidate files in the index."""

    states: Mapping[int, FileState]  # by file id
    chunks: FileChunks  # all chunks, with their cosines if vectors were searched
    path_positions: Ids  # the position of each file in the order of all paths


def locate_hits(
    index: IndexReader, sparse: SparseFindings, dense: RankedIds, required: Ids
) -> LocatedChunks:
    """Return the files of all chunks that the legs found, and of the required chunks."""
    defining = [np.array(ids, dtype=np.int64) for ids in sparse.definers.values()]
    found = [sparse.body.ids, sparse.symbols.ids, dense.ids, required, *defining]
    chunk_ids = np.sort(np.concatenate(found))
    return LocatedChunks(chunk_ids, index.dense.find_files(chunk_ids))


def read_facts(index: IndexReader, neighbors: Neighbors | None, file_ids: Ids) -> IndexedFacts:
    """Return what the index contains about candidate files."""
    if neighbors is None:
        chunks = index.dense.list_chunks(file_ids)
    else:
        chunks = index.dense.cosines(neighbors, file_ids)
    return IndexedFacts(index.files(file_ids.tolist()), chunks, index.path_positions(file_ids))


def match_terms(
    index: IndexReader, terms: Sequence[str], limit: int, file_ids: Sequence[int]
) -> MatchedTerms:
    """Search some files for at most `limit` chunks that contain the rarest of the terms."""
    total, frequencies = index.sparse.file_frequencies(terms)
    rarity = np.log1p((total + 1) / (np.array(frequencies) + 0.5))
    # If too many chunks match, the index returns those with the last terms. Therefore the rarest
    # terms come last.
    kept = rarity.argsort(kind="stable")[-MAX_MATCH_TERMS:]
    texts = [terms[at] for at in kept]
    ids, masks = index.sparse.matches(texts, limit, among="file", ids=file_ids)
    return MatchedTerms(frequencies, rarity[kept], texts, index.dense.find_files(ids), masks)


def read_best_texts(
    index: IndexReader, chunk_ids: Ids, file_ids: Ids, wanted: Collection[int], per_file: int
) -> Mapping[int, Sequence[str]]:
    """Return the texts of the first chunks of each wanted file, at most `per_file`.

    `file_ids` has the file of each chunk.
    """
    best: dict[int, list[int]] = {file_id: [] for file_id in wanted}
    for chunk_id, file_id in zip(chunk_ids.tolist(), file_ids.tolist(), strict=True):
        found = best.get(file_id)
        if found is not None and len(found) < per_file:
            found.append(chunk_id)
    rows = index.chunks([chunk_id for found in best.values() for chunk_id in found])
    places = [(row.file_id, row.start, row.end) for row in rows.values()]
    texts: dict[int, list[str]] = defaultdict(list)
    for (file_id, _, _), text in zip(places, index.excerpts(places), strict=True):
        texts[file_id].append(text)
    return texts


def _fits(vectors: Matrix, index: DenseReader) -> bool:
    """Return whether the vector of a question can be compared with those of an index."""
    # An empty index may not know its number of dimensions yet.
    fits = vectors.shape == (1, index.dimensions) or not index.count
    return fits and bool(np.isfinite(vectors).all())


class _Encoder(NamedTuple):
    """An embedder and the protocols that it supports, which are checked only once for speed."""

    embedder: Embedder
    embed: Callable[[Question], Matrix]  # returns one row
    is_immediate: bool  # the embedder looks words up in memory


def _open_encoder(embedder: Embedder) -> _Encoder:
    is_immediate = isinstance(embedder, WordEmbedder)
    if isinstance(embedder, QueryEmbedder):
        embed_query = embedder.embed_query
        return _Encoder(embedder, lambda one: embed_query(one.text)[None, :], is_immediate)
    if isinstance(embedder, QuestionEmbedder):
        return _Encoder(embedder, partial(_embed_question, embedder), is_immediate)
    return _Encoder(embedder, lambda one: embedder.embed([one.text]), is_immediate)


def _embed_question(embedder: QuestionEmbedder, question: Question) -> Matrix:
    if not question.related:
        return embedder.embed([question.text])
    return embedder.embed_question(question.text, question.related)[None, :]


def _keep_allowed(
    found: RankedIds, index: IndexReader, allowed: Collection[int] | None
) -> RankedIds:
    """Drop hits in files that are not allowed, in case a server ignores the filter."""
    if allowed is None:
        return found
    files = index.dense.find_files(found.ids)
    kept = np.isin(files, np.fromiter(allowed, np.int64, len(allowed)))
    return found if kept.all() else replace(found, ids=found.ids[kept], scores=found.scores[kept])


def _has_chunks(index: IndexReader, allowed: Collection[int] | None) -> bool:
    if allowed is None:
        return index.dense.count > 0
    files = np.fromiter(sorted(allowed), np.int64, len(allowed))
    return len(index.dense.list_chunks(files).chunk_ids) > 0
