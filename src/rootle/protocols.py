"""Interfaces of all replaceable components. Implementations need not inherit from them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rootle.types import (
        Memory,
        MemoryOrigin,
        MemoryReference,
        Record,
        SearchQuery,
        SearchResponse,
    )

Matrix = NDArray[np.float32]  # one vector per row
Vector = NDArray[np.float32]
Rows = NDArray[np.int8]  # quantized vectors, each scaled so that its largest component is ±127
Ids = NDArray[np.int64]
Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class RankedIds:
    """Ids and their scores in descending order; equal scores are ordered by id."""

    ids: Ids
    scores: Scores
    # The index generation that the search server received last. None for a local index, which is
    # never out of date.
    generation: int | None = None

    def is_behind(self, generation: int) -> bool:
        return self.generation is not None and self.generation < generation


NO_HITS: Final = RankedIds(np.zeros(0, np.int64), np.zeros(0, np.float32))

# The maximum number of terms that the full-text index can look for at once. For each chunk, it
# returns a mask in which one bit per term reports whether the term occurs.
MAX_MATCH_TERMS: Final = 20


@dataclass(frozen=True, slots=True)
class WeightedTerm:
    """A query term in its indexed form, with its weight."""

    text: str
    weight: float


class Embedder(Protocol):
    """Converts texts to vectors."""

    @property
    def fingerprint(self) -> str:
        """An identifier that changes whenever the same text would get a different vector."""

    @property
    def dimensions(self) -> int:
        """The length of a vector; 0 while it is unknown because no server has responded yet."""

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one unit vector per text, with shape (len(texts), dimensions).

        The vector of a text without any known word is zero.
        """


@runtime_checkable
class WordEmbedder(Protocol):
    """An Embedder that also accepts texts as lists of words, as split by `text.terms.WORD`."""

    def embed_words(self, texts: Sequence[Sequence[str]]) -> Matrix: ...


@runtime_checkable
class QueryEmbedder(Protocol):
    """An Embedder whose model encodes queries differently from documents."""

    def embed_query(self, text: str) -> Vector:
        """Return a unit vector that is comparable with the vectors from `embed`.

        Raises UnavailableError if the model does not respond within the deadline of a query.
        """


@runtime_checkable
class QuestionEmbedder(Embedder, Protocol):
    """An Embedder that combines a question with terms that code may use instead of its words."""

    def embed_question(self, text: str, related: Sequence[WeightedTerm]) -> Vector:
        """Return the vector of a question. `related` are stemmed terms of the full-text index."""


@runtime_checkable
class QueuedEmbedder(Protocol):
    """An Embedder that is too slow or too unreliable for indexing to wait for it.

    New chunks can be found by full-text search at once. They are embedded later, from a queue.
    """

    @property
    def batch_size(self) -> int: ...

    def embed_batch(self, texts: Sequence[str], timeout_s: float) -> Matrix:
        """Return the result of `embed` for at most `batch_size` texts.

        Raises UnavailableError if the model does not respond in time or rejects the texts.
        """


class DenseIndex(Protocol):
    """Finds the nearest neighbors among the embeddings of chunks."""

    def query(self, vector: Vector, k: int, files: Collection[int] | None = None) -> RankedIds:
        """Return the ids of the k best chunks by cosine similarity, only from `files` if given."""


class SparseIndex(Protocol):
    """Finds chunks that share terms with a query."""

    def query(
        self, terms: Sequence[WeightedTerm], k: int, files: Collection[int] | None = None
    ) -> RankedIds:
        """Return the ids of the k best chunks by BM25, only from `files` if given."""


@dataclass(frozen=True, slots=True)
class Hit:
    """The score that a reranker gave to one document."""

    index: int  # position in the list of documents
    score: float  # on the scale of the model; it may be negative or above 1


class Reranker(Protocol):
    """Scores documents by reading each of them together with the query."""

    def rerank(self, query: str, documents: Sequence[str]) -> list[Hit]:
        """Return a score for each document that the model has read, in descending order.

        Raises RerankError on any failure.
        """


class QueryExpander(Protocol):
    """Finds words that the answer to a question is likely to contain."""

    def expand(self, question: str) -> str:
        """Return the words on one line, without search operators.

        Raises UnavailableError on any failure.
        """


class MemoryStore(Protocol):
    """Stores the memories of users. The text of a stored memory never changes."""

    def add(
        self,
        text: str,
        user_id: str,
        about: Sequence[MemoryReference] = (),
        origin: MemoryOrigin | None = None,
    ) -> Memory | None:
        """Store a text, or increase the count of a memory with the same text.

        The project of `origin` is added to the memory's `stored_in`, and the memory becomes
        personal if `origin` is personal. Returns None if the store processes the text later. Raises
        UnavailableError if the store fails.
        """

    def search(
        self, topic: str, user_id: str, top_k: int, about: Sequence[MemoryReference] = ()
    ) -> list[Memory]:
        """Return at most top_k memories that match the topic, best first.

        Memories that reference a file or symbol in `about` match too. Raises UnavailableError if
        the store fails.
        """


class TextEmbedder(Protocol):
    """The interface of an embedding model for `vectordb_search`."""

    def embed(self, texts: Sequence[str]) -> Any:  # Any: rows of floats, in lists or an array
        """Return one vector per text."""


class VectorBackend(Protocol):
    """A collection of texts with vectors that `vectordb_search` searches."""

    def query(
        self,
        vector: Any,  # Any: one row of the result of `TextEmbedder.embed`
        top_k: int,
        text: str | None = None,
    ) -> Sequence[Record]:
        """Return at most `top_k` records, best first; a hybrid backend uses the text too."""

    def upsert(
        self, records: Sequence[Record], vectors: Any
    ) -> None:  # Any: as returned by `embed`
        """Add records with their vectors; replace records that have the same source."""

    def delete_all(self) -> None: ...

    def count(self) -> int: ...


class Searcher(Protocol):
    """An object with a `search` method, such as an app."""

    def search(self, query: SearchQuery) -> SearchResponse: ...


@dataclass(frozen=True, slots=True)
class WebResult:
    """A page in the results of a web search engine."""

    title: str
    url: str
    body: str  # an excerpt of a few lines


class WebProvider(Protocol):
    """A web search engine."""

    @property
    def label(self) -> str:
        """The name of the engine, for display."""

    def search(self, query: str, max_results: int) -> Sequence[WebResult]:
        """Return at most `max_results` results, best first.

        Raises Unavailable if the next engine should be used.
        """


class TextCache(Protocol):
    """A cache of texts."""

    def fetch(self, key: str, make: Callable[[], str]) -> str:
        """Return the cached text, or call `make` and cache its result. Errors are not cached."""
