"""Shared code of the adapters: cut files into windows, and answer queries as JSON lines.

Each adapter runs in the environment of its system, where rootle is not installed, so this module
needs only the standard library. Engines that do not split files all get the same passages: every
text file that git tracks, in windows of 50 lines preceded by the path. Tools that split files
themselves get the folder.
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

from benchmarks.common.git import tracked_texts

WINDOW_LINES = 50
_CASE_CHANGE = re.compile(r"(?<=[a-z])(?=[A-Z])|_")


class Passage(NamedTuple):
    """A range of lines in a file; `text` is empty if the tool found the lines itself."""

    path: str
    start_line: int
    end_line: int
    text: str = ""


Search = Callable[[str, int], Sequence[Passage]]  # (query, number of results), best first


def read_windows(root: Path) -> list[Passage]:
    """Return the windows of all tracked text files."""
    passages = []
    for path, content in tracked_texts(root):
        lines = content.decode("utf-8", errors="replace").splitlines()
        for start in range(0, len(lines), WINDOW_LINES):
            part = lines[start : start + WINDOW_LINES]
            text = "\n".join([path, *part])
            passages.append(Passage(path, start + 1, start + len(part), text))
    return passages


def split_identifiers(text: str) -> str:
    """Return a text with identifiers split, for engines that do not split them."""
    return _CASE_CHANGE.sub(" ", text)


def make_parser(*paths: str) -> argparse.ArgumentParser:
    """Return a parser for `--root` and further required paths."""
    parser = argparse.ArgumentParser()
    for name in ("root", *paths):
        parser.add_argument(f"--{name}", type=Path, required=True)
    return parser


def serve(open_search: Callable[..., Search], parser: argparse.ArgumentParser) -> None:
    """Answer the queries on standard input; `open_search` gets the options as keyword arguments."""
    search = open_search(**vars(parser.parse_args()))
    for line in filter(str.strip, sys.stdin):
        request = json.loads(line)
        started = time.perf_counter()
        passages = search(request["query"], request.get("topK", 10))
        ms = (time.perf_counter() - started) * 1000
        results = [
            {"filePath": one.path, "startLine": one.start_line, "endLine": one.end_line}
            for one in passages
        ]
        print(json.dumps({"ms": ms, "results": results}), flush=True)
