"""One file's text into everything that the indexes hold of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b

import numpy as np

from rootle.ingest.chunking.chunker import Chunk, ChunkedText, cut_text
from rootle.ingest.chunking.limits import ChunkLimits
from rootle.ingest.workers.jobs import AnalyzedText, ChunkRecord
from rootle.protocols import Embedder, Rows, WordEmbedder
from rootle.storage.quantization import quantize
from rootle.text.stemmer import open_stemmer
from rootle.text.terms import (
    WORD,
    TermTable,
    join_terms,
    path_words,
    place_terms,
    text_terms,
    whole_identifier,
)

KnownVectors = Callable[[Sequence[int]], Mapping[int, bytes]]


class Analyzer:
    """Cuts, splits into words and embeds; keeps its word table between files.

    Without an embedder the vectors that are not known stay empty.
    """

    def __init__(self, limits: ChunkLimits, embedder: Embedder | None) -> None:
        self._limits = limits
        self._embedder = embedder
        self._terms = TermTable(open_stemmer())

    @property
    def readers(self) -> tuple[tuple[str, str], ...]:
        """The endings of files that a plugin reads."""
        return self._limits.readers

    def analyze(
        self,
        path: str,
        text: str,
        language: str,
        known: KnownVectors | None = None,
        *,
        embed: bool = True,
    ) -> AnalyzedText:
        """The chunks of a text; without `embed` their vectors are empty.

        Vectors that `known` finds are taken as they are.
        """
        cut = self._cut(path, text, language)
        pieces = [(piece, text[piece.start : piece.end]) for piece in cut.pieces]
        terms = self._terms
        words = [WORD.findall(body) for _, body in pieces]
        bodies = [join_terms(found, terms) for found in words]
        symbols = [text_terms(" ".join(piece.symbols), terms) for piece, _ in pieces]
        place = path_words(path)
        texts = [embedded_text(place, body) for _, body in pieces]
        keys = [embedding_key(text) for text in texts]
        have = dict(known(keys)) if known is not None else {}
        missing = [at for at, key in enumerate(keys) if key not in have]
        if not embed or self._embedder is None:
            missing = []
        of_place = WORD.findall(place)
        started = time.perf_counter()
        rows = self._embed(texts, [of_place + found for found in words], missing)
        embedding_ms = (time.perf_counter() - started) * 1000
        have.update((keys[at], row.tobytes()) for at, row in zip(missing, rows, strict=True))
        prefix = place_terms(path, terms)
        chunks = tuple(
            ChunkRecord(
                piece.start_line,
                piece.end_line,
                piece.start,
                piece.end,
                piece.symbols,
                piece.scope,
                f"{body} {prefix}",
                symbol,
                " ".join(_defined(piece)),
                text_terms(piece.scope, terms),
                text_terms(piece.comments, terms),
                key,
                have.get(key, b""),
            )
            for (piece, _), body, symbol, key in zip(pieces, bodies, symbols, keys, strict=True)
        )
        return AnalyzedText(
            chunks,
            cut.skipped_chars,
            " ".join(bodies),
            " ".join(symbols),
            join_terms(of_place, terms),
            len(missing),
            embedding_ms,
        )

    def _cut(self, path: str, text: str, language: str) -> ChunkedText:
        if self._limits.chunkers:
            from rootle.ingest.chunking.plugin_splitter import cut_by_plugin

            cut = cut_by_plugin(path, text, language, self._limits)
            if cut is not None:
                return cut
        return cut_text(text, language, self._limits)

    def _embed(
        self, texts: Sequence[str], words: Sequence[Sequence[str]], wanted: Sequence[int]
    ) -> Rows:
        """The vectors of the texts at the wanted positions."""
        if not wanted or self._embedder is None:
            return np.zeros((0, 0), np.int8)
        if isinstance(self._embedder, WordEmbedder):
            return quantize(self._embedder.embed_words([words[at] for at in wanted]))
        return quantize(self._embedder.embed([texts[at] for at in wanted]))


def embedded_text(place: str, body: str) -> str:
    """What is embedded of a chunk: the words of its file's path, then its own text."""
    return f"{place}\n{body}"


def embedding_key(text: str) -> int:
    """A signed 64-bit hash of what is embedded; 1 in 10^7 for a clash among a million chunks."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _defined(piece: Chunk) -> list[str]:
    """The names that a piece defines, each in one spelling."""
    names = [whole_identifier("".join(WORD.findall(name))) for name in piece.symbols]
    return [name for name in dict.fromkeys(names) if name]
