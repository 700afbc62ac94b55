"""git grep, as a person without an index uses it: the files with most of the question's words.

    (git)
    python -m benchmarks.peers.git_grep --root DIR

Every word is searched as it stands, without regard to case. A file's place is that of how many
different words it has, then of how many lines they stand on. Shown are the 50 lines with most of
them.
"""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from pathlib import Path

from benchmarks.peers.adapter import WINDOW_LINES, Passage, Search, run

_WORD = re.compile(r"\w{3,}")
_EVERYWHERE = frozenset(
    "the and are does for from has have how into its that this what when where which who why will "
    "with can".split()
)


def open_search(root: Path) -> Search:
    def search(question: str, k: int):
        lines: dict[str, dict[str, set[int]]] = defaultdict(dict)  # by path, by word
        for word in dict.fromkeys(_WORD.findall(question.lower())):
            if word not in _EVERYWHERE:
                for path, line in grep(root, word):
                    lines[path].setdefault(word, set()).add(line)
        best = sorted(lines, key=lambda path: (-len(lines[path]), -lines_with(lines[path]), path))
        return [window(path, lines[path]) for path in best[:k]]

    return search


def grep(root: Path, word: str) -> list[tuple[str, int]]:
    command = ["git", "-C", str(root), "grep", "-z", "-n", "-I", "-i", "-F", "-e", word, "--", "."]
    found = subprocess.run(command, capture_output=True, text=True, errors="replace").stdout
    parts = [line.split("\0", 2) for line in found.split("\n") if line.count("\0") >= 2]
    return [(path, int(number)) for path, number, _ in parts if number.isdigit()]


def lines_with(words: dict[str, set[int]]) -> int:
    return len(set().union(*words.values()))


def window(path: str, words: dict[str, set[int]]) -> Passage:
    """The window with most different words, the first of them."""

    def worth(start: int) -> tuple[int, int]:
        inside = sum(any(start <= at < start + WINDOW_LINES for at in of) for of in words.values())
        return -inside, start

    start = min(set().union(*words.values()), key=worth)
    return Passage(path, start, start + WINDOW_LINES - 1)


if __name__ == "__main__":
    run(open_search)
