"""codebase-index: its command `cbx search`, over a copy of the folder, which it writes into.

    pip install codebase-index && pip install "tree-sitter-language-pack<1"
    python -m benchmarks.peers.codebase_index_search --root DIR

The second command brings the grammars; later versions of that package download them when they run.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from codebase_index.cli import app

from benchmarks.peers.adapter import Passage, Search, run


def open_search(root: Path) -> Search:
    folder = tempfile.TemporaryDirectory()
    copy = Path(folder.name) / root.name
    shutil.copytree(root, copy, symlinks=True)
    if not (copy / ".git").exists():
        subprocess.run(["git", "init", "-q", str(copy)], check=True)
    call(copy, "index")

    def search(question: str, k: int, _keep: object = folder):
        words = ["search", "--limit", str(k), "--token-budget", "100000", "--", question]
        found = json.loads(call(copy, *words))["results"]
        return [Passage(one["path"], one["line_start"], one["line_end"]) for one in found]

    return search


def call(root: Path, *words: str) -> str:
    """What the command prints, without a new process for each question."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        app(["--root", str(root), "--json", *words])
    return said.getvalue()


if __name__ == "__main__":
    run(open_search)
