"""Warm queries in one process, for benchmarks/speed/tool_comparison.py; runs under the Python of either tool.

    python -m benchmarks.speed.warm_queries rootle ROOT INDEX_DIR CONFIG
    python -m benchmarks.speed.warm_queries semble ROOT

Reads {"warmUp": [...], "questions": [...]} and prints {"chunks": N, "ms": [...]}: one time for
each question, asked once, so that no memory of earlier answers can help.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

TOP_K = 10


def main() -> None:
    asked = json.load(sys.stdin)
    ask, chunks = {"rootle": open_rootle, "semble": open_semble}[sys.argv[1]](*sys.argv[2:])
    for question in asked["warmUp"]:
        ask(question)
    times = []
    for question in asked["questions"]:
        started = time.perf_counter()
        ask(question)
        times.append((time.perf_counter() - started) * 1000)
    print(json.dumps({"chunks": chunks, "ms": times}))


def open_rootle(root: str, index_dir: str, config: str) -> tuple[Callable[[str], object], int]:
    from pathlib import Path

    from rootle import SearchQuery, open_app
    from rootle.config.loading import load_config

    app = open_app(root, index_dir=index_dir, config=load_config(Path(config))[0])
    app.refresh()
    return lambda text: app.search(SearchQuery(text, limit=TOP_K)), app.status().chunks


def open_semble(root: str) -> tuple[Callable[[str], object], int]:
    import semble.index.index as module

    module.save_search_stats = lambda *_, **__: None  # its log of savings is no part of a search
    index = module.SembleIndex.from_path(root)
    return lambda text: index.search(text, top_k=TOP_K), len(index.chunks)


if __name__ == "__main__":
    main()
