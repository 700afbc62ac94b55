"""Convert the text of a document to the records that the indexes store."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from rootle.ingest.chunking.chunk_size_defaults import ChunkLimits
from rootle.ingest.chunking.chunker import Chunk, ChunkedText, split_text
from rootle.ingest.workers.jobs import AnalyzedText, ChunkRecord
from rootle.protocols import Embedder, Rows, WordEmbedder
from rootle.storage.quantization import quantize
from rootle.syntax.blocks.outline import has_blocks
from rootle.text.languages import UNKNOWN
from rootle.text.stemmer import open_stemmer
from rootle.text.terms import (
    TermTable,
    compose,
    find_words,
    join_terms,
    path_words,
    place_terms,
    text_terms,
    whole_identifier,
)
from rootle.types import DocumentSection

KnownVectors = Callable[[Sequence[int]], Mapping[int, bytes]]


class _ChunkVectors(NamedTuple):
    keys: Sequence[int]  # the keys of the embedded texts, from `vector_key`
    packed: Sequence[bytes]  # int8 vectors; b"" for a pending embedding
    computed: int  # the number of vectors that had to be computed
    embedding_ms: float


class Analyzer:
    """Splits texts into chunks, tokenizes the chunks and embeds them.

    The table of terms is reused for the next document. Without an embedder, vectors that are not
    already known stay empty.
    """

    def __init__(self, limits: ChunkLimits, embedder: Embedder | None) -> None:
        self._limits = limits
        self._embedder = embedder
        self._terms = TermTable(open_stemmer())

    def analyze(
        self,
        uri: str,
        text: str,
        language: str,
        known: KnownVectors | None = None,
        *,
        title: str = "",
        sections: Sequence[DocumentSection] = (),
        embed: bool = True,
    ) -> AnalyzedText:
        """Return the chunks of a text.

        The vectors that `known` returns for the keys of the chunks are not computed again. Without
        `embed`, all other vectors are empty.
        """
        terms = self._terms
        split = self._split(uri, text, language, sections)
        chunks = [(chunk, text[chunk.start : chunk.end]) for chunk in split.chunks]
        words = [find_words(body) for _, body in chunks]
        heading = document_heading(uri, title)
        heading_words = find_words(heading)
        vectors = self._make_vectors(
            [embedded_text(heading, body) for _, body in chunks],
            [heading_words + found for found in words],
            known,
            embed=embed,
        )
        place = place_terms(uri, terms)
        if title:
            place = f"{place} {text_terms(title, terms)}"
        records = tuple(
            self._make_record(chunk, join_terms(found, terms), key, vector)
            for (chunk, _), found, key, vector in zip(
                chunks, words, vectors.keys, vectors.packed, strict=True
            )
        )
        return AnalyzedText(
            records,
            split.skipped_chars,
            place,
            join_terms(heading_words, terms),
            vectors.computed,
            vectors.embedding_ms,
        )

    def _make_record(self, chunk: Chunk, body: str, key: int, vector: bytes) -> ChunkRecord:
        """Return the record of a chunk; `body` are the terms of its text."""
        terms = self._terms
        return ChunkRecord(
            chunk.start_line,
            chunk.end_line,
            chunk.start,
            chunk.end,
            tuple(map(compose, chunk.symbols)),
            compose(chunk.scope),
            body,
            text_terms(" ".join(chunk.symbols), terms),
            " ".join(_defined_names(chunk)),
            text_terms(chunk.scope, terms),
            text_terms(chunk.comments, terms),
            key,
            vector,
        )

    def _make_vectors(
        self,
        texts: Sequence[str],
        words: Sequence[Sequence[str]],
        known: KnownVectors | None,
        *,
        embed: bool,
    ) -> _ChunkVectors:
        """Return the vectors of `texts`; `words` are the words of each text."""
        keys = [vector_key(text) for text in texts]
        vectors = dict(known(keys)) if known is not None else {}
        missing = [at for at, key in enumerate(keys) if key not in vectors]
        if not embed or self._embedder is None:
            missing = []
        started = time.perf_counter()
        rows = self._embed(texts, words, missing)
        embedding_ms = (time.perf_counter() - started) * 1000
        vectors.update((keys[at], row.tobytes()) for at, row in zip(missing, rows, strict=True))
        packed = [vectors.get(key, b"") for key in keys]
        return _ChunkVectors(keys, packed, len(missing), embedding_ms)

    def _split(
        self, uri: str, text: str, language: str, sections: Sequence[DocumentSection]
    ) -> ChunkedText:
        if not sections:
            return self._split_text(uri, language, text)
        from rootle.ingest.chunking.document_sections import split_sections

        # The sections of a text are its blocks, such as the operations of an OpenAPI document.
        inner = UNKNOWN if has_blocks(language) else language
        split = partial(self._split_text, uri, inner)
        return split_sections(text, sections, split, self._limits.max_file_chars, language)

    def _split_text(self, uri: str, language: str, text: str) -> ChunkedText:
        if self._limits.chunkers:
            from rootle.ingest.chunking.plugin_splitter import split_with_plugin

            split = split_with_plugin(uri, text, language, self._limits)
            if split is not None:
                return split
        return split_text(text, language, self._limits, uri)

    def _embed(
        self, texts: Sequence[str], words: Sequence[Sequence[str]], positions: Sequence[int]
    ) -> Rows:
        """Return the vectors of the texts at these positions."""
        if not positions or self._embedder is None:
            return np.zeros((0, 0), np.int8)
        if isinstance(self._embedder, WordEmbedder):
            return quantize(self._embedder.embed_words([words[at] for at in positions]))
        return quantize(self._embedder.embed([texts[at] for at in positions]))


def document_heading(uri: str, title: str) -> str:
    """Return the words of a document's path and its title, which are embedded with each chunk."""
    words = path_words(uri)
    return f"{words} {title}" if title else words


def embedded_text(heading: str, body: str) -> str:
    """Return the text to embed for a chunk: the heading of its document, then the chunk."""
    return f"{heading}\n{body}"


def vector_key(text: str) -> int:
    """Return a signed 64-bit hash of an embedded text.

    The probability of a collision among a million chunks is below 10^-7.
    """
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _defined_names(chunk: Chunk) -> list[str]:
    """Return the names that a chunk defines, each in its normalized spelling."""
    names = [whole_identifier("".join(find_words(name))) for name in chunk.symbols]
    return [name for name in dict.fromkeys(names) if name]
