"""Baseline: git grep, ranking files by the number of query words that they contain.

    (needs git)
    python -m benchmarks.peers.git_grep --root DIR

Each word is searched literally, ignoring case. Files are ranked by the number of different words
they contain, then by the number of lines with any of them. The result for a file is the window of
50 lines with the largest number of different words.
"""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.peers import adapter

_WORD = re.compile(r"\w{3,}")
_STOP_WORDS = frozenset(
    "the and are does for from has have how into its that this what when where which who why will "
    "with can".split()
)

LinesByWord = Mapping[str, set[int]]


def open_search(root: Path) -> adapter.Search:
    def search(query: str, k: int) -> Sequence[adapter.Passage]:
        lines: dict[str, dict[str, set[int]]] = defaultdict(dict)  # path -> word -> lines
        for word in dict.fromkeys(_WORD.findall(query.lower())):
            if word not in _STOP_WORDS:
                for path, line in grep(root, word):
                    lines[path].setdefault(word, set()).add(line)
        best = sorted(lines, key=lambda path: (-len(lines[path]), -count_lines(lines[path]), path))
        return [best_window(path, lines[path]) for path in best[:k]]

    return search


def grep(root: Path, word: str) -> list[tuple[str, int]]:
    """Return path and line of each occurrence."""
    command = ["git", "-C", str(root), "grep", "-z", "-n", "-I", "-i", "-F", "-e", word, "--", "."]
    output = subprocess.run(command, capture_output=True, text=True, errors="replace").stdout
    parts = [line.split("\0", 2) for line in output.split("\n") if line.count("\0") >= 2]
    return [(path, int(number)) for path, number, _ in parts if number.isdigit()]


def count_lines(lines: LinesByWord) -> int:
    """Return the number of lines with any of the words."""
    return len(set[int]().union(*lines.values()))


def best_window(path: str, lines: LinesByWord) -> adapter.Passage:
    """Return the first of the windows with the largest number of different words."""

    def rank(start: int) -> tuple[int, int]:
        end = start + adapter.WINDOW_LINES
        words = sum(
            any(start <= line < end for line in line_numbers) for line_numbers in lines.values()
        )
        return -words, start

    start = min(set[int]().union(*lines.values()), key=rank)
    return adapter.Passage(path, start, start + adapter.WINDOW_LINES - 1)


if __name__ == "__main__":
    adapter.serve(open_search, adapter.make_parser())
