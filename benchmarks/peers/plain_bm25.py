"""Plain BM25 over windows of lines, the baseline of `benchmarks/common/bm25.py`.

python -m benchmarks.peers.plain_bm25 --root DIR [--per-file]
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.common.bm25 import Bm25Index
from benchmarks.peers import adapter


def open_search(root: Path, *, per_file: bool) -> adapter.Search:
    index = Bm25Index()
    index.index(root)

    def search(query: str, k: int) -> Sequence[adapter.Passage]:
        windows = index.search(query, k, per_file=per_file)
        return [adapter.Passage(one.path, one.start_line, one.end_line) for one in windows]

    return search


if __name__ == "__main__":
    parser = adapter.make_parser()
    parser.add_argument("--per-file", action="store_true", help="only each file's best window")
    adapter.serve(open_search, parser)
