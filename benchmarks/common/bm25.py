"""Plain BM25 over windows of 50 lines: the baseline of every quality benchmark.

Every text file that git tracks is cut into windows. Words are runs of letters, split at case
changes and lower-cased, without stemming or stop words.

The formula is equation 3.15 of Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25
and Beyond" (2009). Adding one inside the logarithm keeps every weight above zero. A word that
occurs twice in the query counts twice.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.git import tracked_texts
from benchmarks.common.metrics import Hit

K1, B = 1.2, 0.75
WINDOW_LINES = 50
LETTERS = re.compile(r"[^\W\d_]+")
CASE_CHANGE = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

Column = NDArray[Any]


def length_norms(lengths: Column) -> Column:
    """Return K1 * (1 - B + B * length / mean length) for each document."""
    mean = lengths.mean() if lengths.any() else 1.0
    norms: Column = K1 * (1 - B + B * lengths / mean)
    return norms


def term_scores(counts: Column, norms: Column, documents: int) -> Column:
    """Return one word's contribution to the score of each document that contains it.

    `counts` and `norms` cover the documents that contain the word; `documents` is the number of all
    documents.
    """
    rarity = np.log(1 + (documents - len(counts) + 0.5) / (len(counts) + 0.5))
    scores: Column = rarity * counts * (K1 + 1) / (counts + norms)
    return scores


@dataclass(frozen=True, slots=True)
class Window:
    """A range of lines in a file."""

    path: str
    start_line: int
    end_line: int

    def as_hit(self) -> Hit:
        return Hit(self.path, ((self.start_line, self.end_line),))


@dataclass(frozen=True, slots=True)
class FileCounts:
    """Word counts of one file's windows: three columns with one row per word and window."""

    ends: tuple[int, ...]  # the last line of each window
    words: Column  # word numbers in the vocabulary
    counts: Column
    windows: Column  # window numbers, from 0 in each file, ascending


class Bm25Index:
    """BM25 over one work tree at a time; word counts of unchanged files are reused."""

    def __init__(self) -> None:
        self._vocabulary: dict[str, int] = {}
        self._by_digest: dict[bytes, FileCounts] = {}

    def index(self, root: Path) -> None:
        """Index the tracked files of a work tree as they are on disk."""
        known, self._by_digest = self._by_digest, {}
        self._windows: list[Window] = []
        files: list[FileCounts] = []
        offsets = []  # the number of each file's first window
        for path, content in tracked_texts(root):
            digest = hashlib.blake2b(content, digest_size=16).digest()
            counted = known.get(digest) or self._by_digest.get(digest) or self._count(content)
            self._by_digest[digest] = counted
            offsets.append(len(self._windows))
            starts = range(1, counted.ends[-1] + 1, WINDOW_LINES) if counted.ends else ()
            self._windows += map(Window, [path] * len(counted.ends), starts, counted.ends)
            files.append(counted)
        self._words = _concatenate([one.words for one in files])
        self._counts = _concatenate([one.counts for one in files]).astype(np.float64)
        self._window_of = _concatenate(
            [one.windows + offset for one, offset in zip(files, offsets, strict=True)]
        )
        lengths = np.bincount(self._window_of, self._counts, len(self._windows))
        self._norms = length_norms(lengths)

    def search(self, query: str, k: int = 10, *, per_file: bool = False) -> list[Window]:
        """Return the best k windows, or the best window of each of the best k files."""
        scores = np.zeros(len(self._windows))
        for word, times in Counter(split_words(query)).items():
            rows = np.flatnonzero(self._words == self._vocabulary.get(word, -1))
            found = self._window_of[rows]
            scores[found] += times * term_scores(
                self._counts[rows], self._norms[found], len(scores)
            )
        best: dict[object, Window] = {}
        for number in np.argsort(-scores, kind="stable"):  # ties stay in path order
            if len(best) == k or scores[number] <= 0:
                break
            window = self._windows[number]
            best.setdefault(window.path if per_file else window, window)
        return list(best.values())

    def _count(self, content: bytes) -> FileCounts:
        lines = content.decode(errors="replace").splitlines()
        ends: list[int] = []
        words: list[int] = []
        counts: list[int] = []
        windows: list[int] = []
        for number, start in enumerate(range(0, len(lines), WINDOW_LINES)):
            part = lines[start : start + WINDOW_LINES]
            found = Counter(split_words("\n".join(part)))
            ends.append(start + len(part))
            words += [self._vocabulary.setdefault(word, len(self._vocabulary)) for word in found]
            counts += found.values()
            windows += [number] * len(found)
        columns = (np.array(one, np.int32) for one in (words, counts, windows))
        return FileCounts(tuple(ends), *columns)


def split_words(text: str) -> Iterator[str]:
    """Yield the lower-case words of a text, splitting identifiers in camel case."""
    for letters in LETTERS.findall(text):
        for part in CASE_CHANGE.split(letters):
            yield part.lower()


def search_windows(root: Path, queries: Sequence[str], k: int = 10) -> list[tuple[Hit, ...]]:
    """Return the best k windows of a folder for each query."""
    index = Bm25Index()
    index.index(root)
    return [tuple(one.as_hit() for one in index.search(query, k)) for query in queries]


def _concatenate(columns: list[Column]) -> Column:
    return np.concatenate([np.zeros(0, np.int32), *columns])
