"""tantivy-search: its command over pieces that it cuts by itself.

pip install tantivy-search
python -m benchmarks.peers.tantivy_search_cli --root DIR
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

_folder = tempfile.TemporaryDirectory(prefix="tantivy-search-")  # of its one index
os.environ["XDG_CACHE_HOME"] = _folder.name

from tantivy_search.cli import main, main_index  # noqa: E402

from benchmarks.peers.adapter import Passage, Search, run  # noqa: E402


def open_search(root: Path) -> Search:
    call(main_index, str(root))

    def search(question: str, k: int):
        said = call(main, "-n", str(k), "--", question)
        return [passage(one, root) for one in json.loads(said)] if said.startswith("[") else []

    return search


def call(command: Callable[[], None], *words: str) -> str:
    """What the command prints, without a new process for each question."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), patch.object(sys, "argv", ["", *words]):
        command()
    return said.getvalue()


def passage(found: dict, root: Path) -> Passage:
    start, _, end = found["lines"].partition("-")
    return Passage(os.path.relpath(found["file_path"], root), int(start), int(end or start))


if __name__ == "__main__":
    run(open_search)
