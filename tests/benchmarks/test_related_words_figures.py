"""Figures of searches with and without related words."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.common.labels import LabeledRepository, parse_labels
from benchmarks.quality.related_words import (
    PLAIN,
    RELATED,
    format_way,
    measure_repository,
    summarize_ways,
)

from rootle import Config, open_app


def test_searches_with_and_without_related_words_are_scored_and_timed(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "lru.py").write_text("def evict_lru(entries, capacity):\n    entries.popitem()\n")
    (root / "chat.py").write_text("def greet(guests):\n    return 'who is there'\n")
    rows = [
        {"query": "who gets thrown out when there is no room left", "kind": "behaviour",
         "targets": [[{"path": "lru.py", "lines": "1-2"}]]},
        {"query": "greet guests", "kind": "behaviour",
         "targets": [[{"path": "chat.py", "lines": "1-2"}]]},
        {"query": "pay by card", "kind": "none", "targets": []},
    ]  # fmt: skip
    labels = parse_labels("demo", "".join(json.dumps(row) + "\n" for row in rows))
    config = Config(enable_cache=False)  # the benchmark disables the cache too
    with open_app(root, index_dir=tmp_path / "index", config=config) as app:
        app.index()
        found = measure_repository(app, LabeledRepository("demo", "tune", root, tuple(labels)), 1)
    report = summarize_ways([found])
    assert report[PLAIN]["questions"] == report[RELATED]["questions"] == 2
    assert report[PLAIN]["span_hit1"] == 0.5
    assert report[RELATED]["span_hit1"] == 1.0
    assert report["changes"]["more"] == 1
    assert report["changes"]["less"] == 0
    assert found.ms[PLAIN] > 0
    assert report[RELATED]["time_ratio"] == found.ms[RELATED] / found.ms[PLAIN]
    assert "hit@1 1.000" in format_way(RELATED, report[RELATED])
