"""Figures of the speed benchmark that indexes many documents."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.speed.document_files.ordinary import write_documents
from benchmarks.speed.documents import IndexRun, summarize


def test_the_report_counts_what_is_skipped_and_what_is_lost() -> None:
    ordinary = ["a.pdf", "b.docx", "c.xlsx"]
    hostile = ["hostile/bomb.docx", "hostile/pipe.pdf", "hostile/half.pdf", "hostile/lost.eml"]
    skipped = {"c.xlsx": "damaged", "hostile/pipe.pdf": "not a regular file"}
    skipped["hostile/half.pdf"] = "damaged"
    alone = IndexRun(10.0, 300_000_000, 3, {}, frozenset())
    together = IndexRun(40.0, 900_000_000, 3, skipped, frozenset({"hostile/bomb.docx"}))
    report = summarize(20_000_000, ordinary, hostile, alone, together)
    assert report["seconds per megabyte"] == 0.5
    assert report["seconds per megabyte with hostile ones"] == 2.0
    assert report["peak memory in MB"] == 300
    assert report["peak memory in MB with hostile ones"] == 900
    assert report["ordinary documents skipped"] == 1
    assert report["ordinary documents read in part"] == 0
    assert report["hostile documents read in part"] == 1
    assert report["hostile documents skipped"] == {"not a regular file": 1, "damaged": 1}
    assert report["neither indexed nor named"] == 1


@pytest.mark.slow
def test_every_document_ends_with_its_own_word(tmp_path: Path) -> None:
    marks = write_documents(tmp_path, 30)
    assert len(set(marks.values())) == 30
    assert {path.rpartition(".")[2] for path in marks} >= {"pdf", "docx", "ods", "html", "drawio"}
    for path, mark in marks.items():
        if path.endswith((".html", ".rst", ".sql", ".drawio", ".yaml")):
            assert mark in (tmp_path / path).read_text("utf-8")
