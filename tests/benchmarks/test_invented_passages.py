"""The benchmark that asks questions about invented passages."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.common.rootle_search import indexed_app
from benchmarks.quality.invented_passages import (
    FOLDER,
    InventedPair,
    find_ranks,
    read_pairs,
    summarize,
    write_passages,
)

PAIRS = [
    InventedPair("where is the invoice total rounded", "The invoice total is rounded up.", "a"),
    InventedPair("which sensor measures humidity", "Sensor B measures humidity.", "a"),
    InventedPair("who feeds the penguins", "Quarterly depreciation of vehicles.", "b"),
]


def test_questions_find_the_files_of_their_passages(tmp_path: Path) -> None:
    root = tmp_path / "passages"
    paths = write_passages(PAIRS, root)
    assert (root / paths[1]).read_text(encoding="utf-8") == "Sensor B measures humidity.\n"
    with indexed_app(root, tmp_path / "index") as app:
        ranks = list(find_ranks(app, PAIRS[:2], paths[:2]))
    assert ranks == [1, 1]


def test_figures_are_means_over_the_questions_of_a_subject() -> None:
    report = summarize(PAIRS, [1, 4, 0])
    assert report["a"] == {"questions": 2.0, "mrr": 0.625, "hit1": 0.5, "hit10": 1.0}
    assert report["b"]["hit10"] == 0.0
    assert report["all"]["mrr"] == pytest.approx(1.25 / 3)


def test_the_pairs_in_the_repository_can_be_read() -> None:
    pairs = read_pairs(FOLDER, {"systems"}, 5)
    assert [pair.subject for pair in pairs] == ["systems"] * 5
    assert all(pair.question and pair.passage for pair in pairs)
