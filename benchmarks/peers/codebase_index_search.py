"""codebase-index: `cbx search` over a copy of the folder, because it writes into the folder.

    pip install codebase-index && pip install "tree-sitter-language-pack<1"
    python -m benchmarks.peers.codebase_index_search --root DIR

The second package contains the grammars; later versions download them at run time.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from codebase_index.cli import app

from benchmarks.peers import adapter


def open_search(root: Path) -> adapter.Search:
    folder = tempfile.TemporaryDirectory()
    copy = Path(folder.name) / root.name
    shutil.copytree(root, copy, symlinks=True)
    if not (copy / ".git").exists():
        subprocess.run(["git", "init", "-q", str(copy)], check=True)
    call_command(copy, "index")

    # The default argument keeps the temporary folder alive as long as the function.
    def search(query: str, k: int, _folder: object = folder) -> Sequence[adapter.Passage]:
        words = ["search", "--limit", str(k), "--token-budget", "100000", "--", query]
        found = json.loads(call_command(copy, *words))["results"]
        return [adapter.Passage(one["path"], one["line_start"], one["line_end"]) for one in found]

    return search


def call_command(root: Path, *words: str) -> str:
    """Run the command in this process and return its output."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.suppress(SystemExit):
        app(["--root", str(root), "--json", *words])
    return output.getvalue()


if __name__ == "__main__":
    adapter.serve(open_search, adapter.make_parser())
