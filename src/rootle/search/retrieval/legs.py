"""The two legs of retrieval: BM25 over words, and nearest neighbours over vectors."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from rootle.errors import UnavailableError
from rootle.index.reader import DenseReader, SparseReader
from rootle.protocols import (
    NO_HITS,
    Embedder,
    Matrix,
    QueryEmbedder,
    Ranked,
    SparseIndex,
    Vector,
    WordEmbedder,
)
from rootle.rank.question.parsed import Question

_FIELD_HITS: Final = 60
_MAX_DEFINERS: Final = 200


@dataclass(frozen=True, slots=True)
class SparseFindings:
    """BM25 hits of a question by field, and the chunks that define its names."""

    body: Ranked
    symbols: Ranked
    notes: Ranked  # comments and headings
    file_body: Ranked
    file_symbols: Ranked
    file_path: Ranked
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
    index: SparseReader,
    question: Question,
    k: int,
    files: Collection[int] | None,
    server: SparseIndex | None = None,
) -> SparseFindings:
    """Return the best chunks and files by words, for each field of the word index.

    A server replaces the search for chunks only; symbols, paths and whole files come from `index`.
    """
    terms = question.terms
    content = question.content_terms
    scores = index.field_scores
    return SparseFindings(
        (index if server is None else server).query(terms, k, files),
        scores("chunks", ("symbols",), content, _FIELD_HITS, files=files),
        scores("chunks", ("comments", "headings"), content, _FIELD_HITS, files=files),
        scores("files", ("body",), terms, _FIELD_HITS, files=files),
        scores("files", ("symbols",), content, _FIELD_HITS, files=files),
        scores("files", ("path",), content, _FIELD_HITS, files=files),
        index.definers(question.names, _MAX_DEFINERS) if question.names else {},
    )


class QuestionEncoder:
    """Embeds questions with the model that the index was made with."""

    def __init__(self, open_embedder: Callable[[], Embedder]) -> None:
        """Take a function that opens the embedder when the first question needs it."""
        self._open_embedder = open_embedder
        self._opened: _Encoder | None = None

    @property
    def is_immediate(self) -> bool:
        """Whether the embedder is open and looks words up in memory, so that it cannot be late."""
        return self._opened is not None and self._opened.is_immediate

    def encode(self, text: str, index: DenseReader) -> Vector:
        """Return the vector of a question; raise UnavailableError if it does not fit the index."""
        embedder, opened = self._open_embedder(), self._opened
        if opened is None or opened.embedder is not embedder:
            self._opened = opened = _open_encoder(embedder)
        vectors = opened.embed(text)
        # An empty index may not know its number of dimensions yet.
        fits = vectors.shape == (1, index.dimensions) or not index.count
        if not (fits and np.isfinite(vectors).all()):
            raise UnavailableError(
                f"the embedder returned an array of shape {vectors.shape} for a question, expected "
                f"{index.dimensions} finite numbers; check embeddingModelID"
            )
        vector: Vector = vectors[0]
        return vector


class _Encoder(NamedTuple):
    """An embedder and the result of its protocol checks, which are slow."""

    embedder: Embedder
    embed: Callable[[str], Matrix]  # returns one row
    is_immediate: bool


def _open_encoder(embedder: Embedder) -> _Encoder:
    is_immediate = isinstance(embedder, WordEmbedder)
    if isinstance(embedder, QueryEmbedder):
        embed_query = embedder.embed_query
        return _Encoder(embedder, lambda text: embed_query(text)[None, :], is_immediate)
    return _Encoder(embedder, lambda text: embedder.embed([text]), is_immediate)
