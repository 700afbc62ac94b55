"""semble: its own search, words and vectors, over code (its default), documents and configuration.

    pip install semble
    python -m benchmarks.peers.semble_search --root DIR --model MODEL [--code-only]

Its own model cannot be had without a model hub; MODEL is any static model in a local folder.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

_cache = tempfile.TemporaryDirectory(prefix="semble-")  # nothing of an earlier run
os.environ |= {"HF_HUB_OFFLINE": "1", "SEMBLE_CACHE_LOCATION": _cache.name}

import semble.index.index as module  # noqa: E402
from semble import SembleIndex  # noqa: E402
from semble.types import ContentType  # noqa: E402

from benchmarks.peers.adapter import Passage, Search, run  # noqa: E402

CODE_ONLY = "--code-only"


def open_search(root: Path, model: Path) -> Search:
    module.save_search_stats = lambda *_, **__: None  # its log of savings is no part of a search
    kinds = ["code"] if code_only else ["code", "docs", "config"]
    index = SembleIndex.from_path(
        str(root), model_path=str(model), content=[ContentType(kind) for kind in kinds]
    )

    def search(question: str, k: int):
        chunks = [one.chunk for one in index.search(question, top_k=k)]
        return [Passage(one.file_path, one.start_line, one.end_line) for one in chunks]

    return search


if __name__ == "__main__":
    code_only = CODE_ONLY in sys.argv
    sys.argv = [word for word in sys.argv if word != CODE_ONLY]
    run(open_search, "model")
