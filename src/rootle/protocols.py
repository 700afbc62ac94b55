"""Every socket that a part can be plugged into. Backends fit a Protocol by their shape."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rootle.types import Findings, Memory, MemoryReference, Record, SearchQuery, SearchResponse

Matrix = NDArray[np.float32]  # one vector a row
Vector = NDArray[np.float32]
Rows = NDArray[np.int8]  # vectors as they are stored: each scaled so that its largest part is ±127
Ids = NDArray[np.int64]
Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Ranked:
    """Ids with their scores, best first; equal scores in the order of the ids."""

    ids: Ids
    scores: Scores
    # The state of the truth that a server's index has seen; None for one that is always current.
    generation: int | None = None

    def is_behind(self, generation: int) -> bool:
        return self.generation is not None and self.generation < generation


NO_HITS: Final = Ranked(np.zeros(0, np.int64), np.zeros(0, np.float32))

MAX_MATCH_TERMS: Final = 20  # that fit into one mask of the word index


@dataclass(frozen=True, slots=True)
class WeightedTerm:
    """A term of a question as it stands in the index, and how much it counts."""

    text: str
    weight: float


class Embedder(Protocol):
    """Texts to vectors."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever the same text would get another vector."""

    @property
    def dimensions(self) -> int:
        """Length of a vector; 0 where only an answer of its server will tell."""

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One unit vector a text, in their order, shape (len(texts), dimensions).

        A text without any known word gets the zero vector.
        """


@runtime_checkable
class WordEmbedder(Protocol):
    """An Embedder that also accepts texts as lists of words, as found by `text.terms.WORD`."""

    def embed_words(self, texts: Sequence[Sequence[str]]) -> Matrix: ...


@runtime_checkable
class QueryEmbedder(Protocol):
    """An Embedder whose model takes questions in another way than what answers them."""

    def embed_query(self, text: str) -> Vector:
        """A unit vector, to be compared with those of `embed`.

        Raises UnavailableError where the model does not answer in the time that a question has.
        """


@runtime_checkable
class QueuedEmbedder(Protocol):
    """An Embedder that is too slow, or too likely to fail, for files to wait for it.

    Chunks are found by their words first and get their vectors from a queue.
    """

    @property
    def batch_size(self) -> int: ...

    def embed_batch(self, texts: Sequence[str], timeout_s: float) -> Matrix:
        """What `embed` gives, for at most `batch_size` texts. Raises UnavailableError."""


class DenseIndex(Protocol):
    """Nearest neighbours among the embeddings of chunks."""

    def query(self, vector: Vector, k: int, files: Collection[int] | None = None) -> Ranked:
        """At most k chunk ids, best first, by cosine similarity; only of `files` where given."""


class SparseIndex(Protocol):
    """Chunks that share words with a question."""

    def query(
        self, terms: Sequence[WeightedTerm], k: int, files: Collection[int] | None = None
    ) -> Ranked:
        """At most k chunk ids, best first, by BM25; only of `files` where given."""


@dataclass(frozen=True, slots=True)
class Hit:
    """What a reranker says of one document."""

    index: int  # in the list that it was given
    score: float  # on a scale of the model's own: negative ones and ones above 1 are usual


class Reranker(Protocol):
    """Reads a question together with each document, and says which answer it best."""

    def rerank(self, query: str, documents: Sequence[str]) -> list[Hit]:
        """Best first; no document twice, one that is missing was not read. [] for no documents.

        Raises RerankError where it cannot, whatever the reason.
        """


class MemoryStore(Protocol):
    """Keeps what was told, each user's memories apart; nothing in it is ever rewritten."""

    def add(self, text: str, user_id: str, about: Sequence[MemoryReference] = ()) -> Memory | None:
        """Keep a text; what was told before is one memory with a count.

        None where the store tells only later what it made of it. Raises UnavailableError.
        """

    def search(
        self, topic: str, user_id: str, top_k: int, about: Sequence[MemoryReference] = ()
    ) -> list[Memory]:
        """At most top_k memories that fit the topic, best first.

        `about` names files and symbols that are in play: memories that are tied to one of them fit
        too. Raises UnavailableError.
        """


class TextEmbedder(Protocol):
    """The one thing that `vectordb_search` wants of a model."""

    def embed(self, texts: Sequence[str]) -> Any:  # Any: rows of floats, in lists or an array
        """One vector a text, in their order."""


class VectorBackend(Protocol):
    """Texts with their vectors: what `vectordb_search` searches. Any engine can be made one."""

    def query(
        self,
        vector: Any,  # Any: a row of what the embedder gives
        top_k: int,
        text: str | None = None,
    ) -> Sequence[Record]:
        """At most `top_k` records, best first. A backend that knows words uses the text too."""

    def upsert(self, records: Sequence[Record], vectors: Any) -> None:  # Any: as of `embed`
        """Add records, one vector each; one whose source is known already is replaced."""

    def delete_all(self) -> None: ...

    def count(self) -> int: ...


class AnsweringBackend(VectorBackend, Protocol):
    """One that needs no vector: it embeds questions itself, and knows its doubts."""

    def answer(self, text: str, top_k: int) -> Findings: ...


class Searcher(Protocol):
    """Anything that answers a question."""

    def search(self, query: SearchQuery) -> SearchResponse: ...


@dataclass(frozen=True, slots=True)
class WebResult:
    """A page that a search engine of the web found."""

    title: str
    url: str
    body: str  # what it says of the question, in a few lines


class WebProvider(Protocol):
    """A search engine of the web."""

    @property
    def label(self) -> str:
        """Its name for people."""

    def search(self, query: str, max_results: int) -> Sequence[WebResult]:
        """At most so many results, best first. Raises Unavailable to have the next one asked."""


class TextCache(Protocol):
    """Texts that are kept for a while."""

    def fetch(self, key: str, make: Callable[[], str]) -> str:
        """What is kept for a key, or what `make` gives; what `make` raises is not kept."""
