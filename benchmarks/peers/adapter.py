"""What the adapters of this folder share: windows of lines, and questions answered as JSON lines.

Engines that only match texts get the same passages: windows of 50 lines of every text file that git
tracks, the path before them. Tools that cut files by themselves get the folder.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

WINDOW_LINES = 50
_CASE_CHANGE = re.compile(r"(?<=[a-z])(?=[A-Z])|_")


class Passage(NamedTuple):
    """Lines of a file; `text` has its path before them, and is empty where a tool found them."""

    path: str
    start_line: int
    end_line: int
    text: str = ""


Search = Callable[[str, int], Sequence[Passage]]  # question and number of results, best first


def windows(root: Path) -> list[Passage]:
    """Windows of lines of all text files that git tracks."""
    from benchmarks.common.bm25 import tracked_texts

    found = []
    for path, content in tracked_texts(root):
        lines = content.decode("utf-8", errors="replace").splitlines()
        for start in range(0, len(lines), WINDOW_LINES):
            part = lines[start : start + WINDOW_LINES]
            found.append(Passage(path, start + 1, start + len(part), "\n".join([path, *part])))
    return found


def split_names(text: str) -> str:
    """The text with identifiers taken apart, for engines that know words only."""
    return _CASE_CHANGE.sub(" ", text)


def run(open_search: Callable[..., Search], *options: str) -> None:
    """Answer the questions on standard input; `options` are further required arguments."""
    parser = argparse.ArgumentParser()
    for name in ("root", *options):
        parser.add_argument(f"--{name}", type=Path, required=True)
    search = open_search(**vars(parser.parse_args()))
    for line in filter(str.strip, sys.stdin):
        asked = json.loads(line)
        started = time.perf_counter()
        found = search(asked["query"], asked.get("topK", 10))
        ms = (time.perf_counter() - started) * 1000
        results = [
            {"filePath": one.path, "startLine": one.start_line, "endLine": one.end_line}
            for one in found
        ]
        print(json.dumps({"ms": ms, "results": results}), flush=True)
