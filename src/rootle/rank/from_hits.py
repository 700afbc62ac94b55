"""Evidence from nothing but hits: for backends that answer a query and no more.

The embedded index tells of whole files and of single fields. Here the same columns are made from
the texts of the candidates, so that one ranking serves every pair of indexes: what stands in a file
is what stands in those of its chunks that were found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rootle.protocols import TermStatistics
from rootle.rank.evidence import ChunkEvidence, Evidence, FileEvidence, Floats, Ints
from rootle.rank.features import best_of_file, three_of_file
from rootle.rank.question import Question, Stems
from rootle.text import WORD, TermTable, path_words, text_terms, whole_identifier


@dataclass(frozen=True, slots=True)
class CandidateChunk:
    """A chunk that a leg found, with what a backend keeps of it. A score of 0: not found by it."""

    id: int
    path: str
    text: str
    symbols: tuple[str, ...]
    scope: str
    bm25: float
    dense: float  # cosine
    days: float = 0.0  # since its file was modified
    size: int = 0  # bytes of its file


def evidence_from_hits(
    question: Question,
    hits: Sequence[CandidateChunk],
    stems: Stems,
    statistics: TermStatistics,
) -> Evidence:
    """What the ranking sees, from the hits of both legs, each chunk once."""
    hits = sorted(hits, key=lambda hit: hit.id)
    paths = sorted({hit.path for hit in hits})
    files = np.array([paths.index(hit.path) for hit in hits], dtype=np.int64)
    words = _Words(question, stems, statistics)
    bm25 = np.array([hit.bm25 for hit in hits], dtype=np.float64)
    dense = np.array([hit.dense for hit in hits], dtype=np.float64)
    symbols = words.weigh(words.found([" ".join(hit.symbols) for hit in hits]))
    in_text = words.found([hit.text for hit in hits])
    in_passage = in_text.mean(axis=1) if in_text.shape[1] else np.zeros(len(hits))
    defines, definers = _definitions(question, hits, files, len(paths), statistics)
    chunks = ChunkEvidence(
        np.array([hit.id for hit in hits], dtype=np.int64),
        files,
        bm25,
        dense,
        symbols,
        words.weigh(words.found([hit.scope for hit in hits])),
        defines,
    )
    return Evidence(
        question,
        chunks,
        FileEvidence(
            ids=np.arange(len(paths)),
            paths=tuple(paths),
            bm25=three_of_file(bm25, files, len(paths)),
            symbols=best_of_file(symbols, files, len(paths)),
            path_bm25=words.weigh(words.found([path_words(path) for path in paths])),
            dense_best=best_of_file(dense, files, len(paths)),
            dense_mean=_mean_of_file(dense, files, len(paths)),
            coverage=words.weigh(_any_of_file(in_text, files, len(paths))),
            passage=best_of_file(in_passage, files, len(paths)),
            definers=definers,
            days=_of_files([hit.days for hit in hits], files, len(paths)),
            sizes=_of_files([hit.size for hit in hits], files, len(paths)),
        ),
    )


class _Words:
    """The question's content terms with their rarity, and where they stand."""

    def __init__(self, question: Question, stems: Stems, statistics: TermStatistics) -> None:
        self._terms = [term.text for term in question.content_terms]
        self._stems = stems
        self._table = TermTable()
        total, frequencies = statistics.document_frequencies(self._terms)
        rarity = np.log1p((total + 1) / (np.array(frequencies, dtype=np.float64) + 0.5))
        self._rarity: Floats = rarity / max(float(rarity.sum()), 1e-12)

    def found(self, texts: Sequence[str]) -> Floats:
        """1 where a term stands in a text: shape (texts, terms)."""
        rows = np.zeros((len(texts), len(self._terms)))
        for row, text in enumerate(texts):
            here = set(self._stems(text_terms(text, self._table)))
            rows[row] = [term in here for term in self._terms]
        return rows

    def weigh(self, found: Floats) -> Floats:
        """The share of the question that was found, weighted by rarity; 0 to 1."""
        share: Floats = found @ self._rarity
        return share


def _definitions(
    question: Question,
    hits: Sequence[CandidateChunk],
    files: Ints,
    count: int,
    statistics: TermStatistics,
) -> tuple[np.ndarray[tuple[int], np.dtype[np.bool_]], Floats]:
    defines = np.zeros(len(hits), dtype=bool)
    definers = np.zeros(count)
    everywhere = statistics.definers(question.names) if question.names else {}
    for name in question.names:
        here = np.array([name in _names(hit) for hit in hits], dtype=bool)
        defines |= here
        own = sorted(set(files[here].tolist()))
        definers[own] += 1 / max(len(own), len(everywhere.get(name, ())), 1)
    return defines, definers


def _names(hit: CandidateChunk) -> set[str]:
    return {whole_identifier("".join(WORD.findall(name))) for name in hit.symbols}


def _mean_of_file(scores: Floats, files: Ints, count: int) -> Floats:
    sums = np.bincount(files, scores, minlength=count)
    return sums / np.maximum(np.bincount(files, minlength=count), 1)


def _of_files(values: Sequence[float], files: Ints, count: int) -> Floats:
    """What all chunks of a file say alike."""
    of_files = np.zeros(count)
    of_files[files] = values
    return of_files


def _any_of_file(found: Floats, files: Ints, count: int) -> Floats:
    rows = np.zeros((count, found.shape[1]))
    np.maximum.at(rows, files, found)
    return rows
