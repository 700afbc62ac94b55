"""Figures of the benchmark that compares answers with and without sources other than code."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.common.labels import LabeledRepository
from benchmarks.quality.all_sources import Comparison, copy_documents, summarize
from sample import write


def _row(
    code: float, full: float, ratio: float, outside: tuple[str, ...] = (), memories: int = 0
) -> Comparison:
    times = (10.0, 5.0), (10.0 * ratio, 5.0 * ratio)
    return Comparison("how", True, code, full, outside, memories, *times)


def test_the_figures_compare_each_question_with_itself() -> None:
    rows = {
        "a": [_row(1.0, 1.0, 1.0), _row(1.0, 0.5, 2.0, ("web",)), _row(0.0, 0.0, 9.0)],
        "b": [_row(0.5, 0.5, 1.0, ("deps", "web"), 2)],
    }
    figures = summarize(rows)
    assert figures["difference"] == -0.125
    assert figures["NDCG@10 by span, code alone"] == pytest.approx(0.625)
    assert figures["answers with other results than files"] == 2
    assert figures["of these"] == {"web": 2, "deps": 1}
    assert figures["answers with memories"] == 1
    assert figures["ratio of search time"] == 1.5  # the mean of the medians 2 and 1
    assert figures["ratio of search time, 95 % interval"] == (1.0, 2.0)
    assert figures["milliseconds of processor time, added"] == 2.5


def test_only_documents_are_copied_and_only_once(tmp_path: Path) -> None:
    repository = LabeledRepository("x", "tune", tmp_path / "x", ())
    for path in ("docs/guide.md", "src/main.py", ".github/notes.md"):
        write(repository.root, path, "text\n")
    folder = copy_documents(repository, tmp_path / "copy")
    assert [path.name for path in folder.rglob("*") if path.is_file()] == ["guide.md"]
    write(repository.root, "docs/later.md", "text\n")
    assert copy_documents(repository, folder) == folder
    assert not (folder / "docs/later.md").exists()
