"""semble: its hybrid search over code (its default), or over code, documents and configuration.

    pip install semble
    python -m benchmarks.peers.semble_search --root DIR --model MODEL [--code-only]

semble's default model would have to be downloaded from a model hub, so MODEL is any static model in
a local folder.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

_cache = tempfile.TemporaryDirectory(prefix="semble-")  # no state from earlier runs
os.environ |= {"HF_HUB_OFFLINE": "1", "SEMBLE_CACHE_LOCATION": _cache.name}

import semble.index.index as semble_index  # noqa: E402 - reads the environment
from semble import SembleIndex  # noqa: E402
from semble.types import ContentType  # noqa: E402

from benchmarks.peers import adapter  # noqa: E402


def open_search(root: Path, model: Path, *, code_only: bool) -> adapter.Search:
    semble_index.save_search_stats = lambda *_, **__: None  # do not measure its usage log
    kinds = ["code"] if code_only else ["code", "docs", "config"]
    index = SembleIndex.from_path(
        str(root), model_path=str(model), content=[ContentType(kind) for kind in kinds]
    )

    def search(query: str, k: int) -> Sequence[adapter.Passage]:
        chunks = [one.chunk for one in index.search(query, top_k=k)]
        return [adapter.Passage(one.file_path, one.start_line, one.end_line) for one in chunks]

    return search


if __name__ == "__main__":
    parser = adapter.make_parser("model")
    parser.add_argument("--code-only", action="store_true", help="index code only")
    adapter.serve(open_search, parser)
