"""Plain BM25 over windows of lines: the floor that a search of code has to be well above.

    python -m benchmarks.common.bm25 --root DIR [--per-file]

Every text file that git tracks is cut into windows of 50 lines; words are split at everything that
is no letter and where the case changes, and lower-cased; there are no stems and no stop words. An
adapter of `benchmarks/quality/public_benchmark.py`: reads `{"query": …, "topK": 10}` as JSON lines and answers each
with a JSON line. A file may come several times, unless `--per-file` keeps its best window alone.

The formula is that of Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and
Beyond" (2009), equation 3.15, with the weight of a word kept above zero by adding one inside the
logarithm, and a word of the question counting as often as it stands there.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

K1, B = 1.2, 0.75
WINDOW_LINES = 50
SNIFFED_BYTES = 8_000  # a file with a zero byte among so many is no text, as git has it
LETTERS = re.compile(r"[^\W\d_]+")
CASE_CHANGE = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class Window:
    path: str
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Counted:
    """The words of one file's windows: three columns, a row for each word of each window."""

    ends: tuple[int, ...]  # the last line of each window
    words: np.ndarray  # numbers of the vocabulary
    counts: np.ndarray
    windows: np.ndarray  # from 0 in each file, rising


class Bm25:
    """Answers questions about one tree at a time; what did not change is not counted again."""

    def __init__(self) -> None:
        self._vocabulary: dict[str, int] = {}
        self._counted: dict[bytes, Counted] = {}  # by a digest of the content

    def read(self, root: Path) -> None:
        """Take in the tracked files of a work tree as they lie on the disk."""
        known, self._counted = self._counted, {}
        self._windows: list[Window] = []
        columns: list[Counted] = []
        firsts = []  # the number of each file's first window
        for path, content in tracked_texts(root):
            digest = hashlib.blake2b(content, digest_size=16).digest()
            counted = known.get(digest) or self._counted.get(digest) or self._count(content)
            self._counted[digest] = counted
            firsts.append(len(self._windows))
            starts = range(1, counted.ends[-1] + 1, WINDOW_LINES) if counted.ends else ()
            self._windows += map(Window, [path] * len(counted.ends), starts, counted.ends)
            columns.append(counted)
        self._words = joined([one.words for one in columns])
        self._counts = joined([one.counts for one in columns]).astype(np.float64)
        self._of_window = joined(
            [one.windows + first for one, first in zip(columns, firsts, strict=True)]
        )
        lengths = np.bincount(self._of_window, self._counts, len(self._windows))
        mean = lengths.mean() if lengths.any() else 1.0
        self._dampers = K1 * (1 - B + B * lengths / mean)

    def search(self, question: str, k: int = 10, *, per_file: bool = False) -> list[Window]:
        """The best k windows, or the best window of each of the best k files, best first."""
        scores = np.zeros(len(self._windows))
        for word, times in Counter(words_of(question)).items():
            rows = np.flatnonzero(self._words == self._vocabulary.get(word, -1))
            where, counts = self._of_window[rows], self._counts[rows]
            rarity = np.log(1 + (len(scores) - len(rows) + 0.5) / (len(rows) + 0.5))
            scores[where] += times * rarity * counts * (K1 + 1) / (counts + self._dampers[where])
        best: dict[object, Window] = {}
        for number in np.argsort(-scores, kind="stable"):  # equal scores stay in order of the path
            if len(best) == k or scores[number] <= 0:
                break
            window = self._windows[number]
            best.setdefault(window.path if per_file else window, window)
        return list(best.values())

    def _count(self, content: bytes) -> Counted:
        lines = content.decode(errors="replace").splitlines()
        ends: list[int] = []
        words: list[int] = []
        counts: list[int] = []
        windows: list[int] = []
        for number, start in enumerate(range(0, len(lines), WINDOW_LINES)):
            part = lines[start : start + WINDOW_LINES]
            found = Counter(words_of("\n".join(part)))
            ends.append(start + len(part))
            words += [self._vocabulary.setdefault(word, len(self._vocabulary)) for word in found]
            counts += found.values()
            windows += [number] * len(found)
        return Counted(tuple(ends), *(np.array(one, np.int32) for one in (words, counts, windows)))


def words_of(text: str) -> Iterable[str]:
    for letters in LETTERS.findall(text):
        for part in CASE_CHANGE.split(letters):
            yield part.lower()


def joined(columns: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.zeros(0, np.int32), *columns])


def tracked_texts(root: Path) -> Iterable[tuple[str, bytes]]:
    """Path and content of each text file that git tracks and that is there, in order of path."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--stage"]
    listed = subprocess.run(command, capture_output=True, check=True).stdout
    for entry in listed.decode(errors="surrogateescape").split("\0"):
        path = entry.partition("\t")[2]
        if not entry.startswith("100"):  # neither links nor submodules
            continue
        try:
            content = (root / path).read_bytes()
        except OSError:
            continue
        if b"\0" not in content[:SNIFFED_BYTES]:
            yield path, content


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--per-file", action="store_true", help="the best window of each file")
    args = parser.parse_args()
    engine = Bm25()
    engine.read(args.root)
    for line in filter(str.strip, sys.stdin):
        asked = json.loads(line)
        started = time.perf_counter()
        windows = engine.search(asked["query"], asked.get("topK", 10), per_file=args.per_file)
        ms = (time.perf_counter() - started) * 1000
        results = [
            {"filePath": one.path, "startLine": one.start_line, "endLine": one.end_line}
            for one in windows
        ]
        print(json.dumps({"ms": ms, "results": results}), flush=True)


if __name__ == "__main__":
    main()
