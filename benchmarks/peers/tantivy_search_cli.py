"""tantivy-search: its command, over passages from its own splitter.

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
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from unittest.mock import patch

_folder = tempfile.TemporaryDirectory(prefix="tantivy-search-")  # the tool has a single index
os.environ["XDG_CACHE_HOME"] = _folder.name

from tantivy_search.cli import main, main_index  # noqa: E402 - reads the environment

from benchmarks.peers import adapter  # noqa: E402


def open_search(root: Path) -> adapter.Search:
    call_command(main_index, str(root))

    def search(query: str, k: int) -> Sequence[adapter.Passage]:
        output = call_command(main, "-n", str(k), "--", query)
        if not output.startswith("["):
            return []
        return [make_passage(one, root) for one in json.loads(output)]

    return search


def call_command(command: Callable[[], None], *words: str) -> str:
    """Run the command in this process and return its output."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), patch.object(sys, "argv", ["", *words]):
        command()
    return output.getvalue()


def make_passage(result: Mapping[str, str], root: Path) -> adapter.Passage:
    start, _, end = result["lines"].partition("-")
    path = os.path.relpath(result["file_path"], root)
    return adapter.Passage(path, int(start), int(end or start))


if __name__ == "__main__":
    adapter.serve(open_search, adapter.make_parser())
