"""Warm queries in one process, for `tool_comparison`; runs with the Python of either tool.

    python benchmarks/speed/warm_queries.py rootle ROOT INDEX_DIR CONFIG
    python benchmarks/speed/warm_queries.py semble ROOT

Reads {"warmUp": [...], "questions": [...]} from standard input and prints {"chunks": N, "ms":
[...]}: one time per question. Each question is asked once, so that no answer comes from a cache.
The script does not import the other benchmarks, because semble's environment lacks their
dependencies.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

TOP_K = 10

Search = Callable[[str], object]


def main() -> None:
    request = json.load(sys.stdin)
    tool, *arguments = sys.argv[1:]
    search, chunks = (open_rootle if tool == "rootle" else open_semble)(*arguments)
    times = time_questions(search, request["warmUp"], request["questions"])
    print(json.dumps({"chunks": chunks, "ms": times}))


def time_questions(
    search: Search,
    warm_up: Sequence[str],
    questions: Sequence[str],
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """Return the time of each question in milliseconds; those of the warm-up are not measured."""
    for query in warm_up:
        search(query)
    times = []
    for query in questions:
        started = clock()
        search(query)
        times.append((clock() - started) * 1000)
    return times


def open_rootle(root: str, index_dir: str, config: str) -> tuple[Search, int]:
    """Return a search over a current index, and its number of chunks."""
    from rootle import SearchQuery, open_app

    settings = None
    if json.loads(Path(config).read_text()):
        from rootle.config.precedence import load_config

        settings = load_config(Path(config))[0]
    app = open_app(root, index_dir=index_dir, config=settings)
    app.refresh()
    return lambda query: app.search(SearchQuery(query, limit=TOP_K)), app.status().chunks


def open_semble(root: str) -> tuple[Search, int]:
    """Return a search over a new index, and its number of chunks."""
    import semble.index.index as semble_index

    semble_index.save_search_stats = lambda *_, **__: None  # do not measure its usage log
    index = semble_index.SembleIndex.from_path(root)
    return lambda query: index.search(query, top_k=TOP_K), len(index.chunks)


if __name__ == "__main__":
    main()
