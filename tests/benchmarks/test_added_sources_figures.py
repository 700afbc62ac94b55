"""Labels and figures of the benchmark that searches added documentation."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from benchmarks.common.metrics import Hit
from benchmarks.quality.added_sources import (
    SectionBaseline,
    SectionQuestion,
    divide,
    find_sections,
)

from rootle.sources.external.records import ExternalDocument
from rootle.types import DocumentSection

PAGE = divide(
    ExternalDocument(
        "locks.html",
        "# Locks\n\nGeneral.\n\n`acquire()`\n\nWait for it.\n\n"
        "```\n# code\n```\n\n## Errors\n\nNone.\n",
        sections=(DocumentSection("lib.acquire", 5, 8, "function lib.acquire"),),
    )
)
QUESTION = SectionQuestion("how to wait", "person", frozenset({("web:lib/locks.html", 1)}))


def test_a_page_is_divided_at_its_symbols_and_headings() -> None:
    assert PAGE.starts == (1, 5, 9, 13)
    assert [PAGE.section_with(text) for text in ("General", "Wait", "# code", "None.")] == [
        *(0, 1, 2, 3)
    ]
    with pytest.raises(ValueError, match="does not contain: nothing"):
        PAGE.section_with("nothing")
    assert "\n".join(PAGE.sections()) == PAGE.text


def test_a_result_is_correct_if_a_span_is_in_the_section() -> None:
    right = find_sections(Hit("web:lib/locks.html", ((13, 14), (6, 7))), PAGE)
    wrong = find_sections(Hit("web:lib/locks.html", ((13, 14),)), PAGE)
    assert QUESTION.score([right]) == 1
    assert QUESTION.score([wrong, right]) == pytest.approx(1 / math.log2(3))
    assert QUESTION.score([wrong]) == 0


def test_the_baseline_searches_sections(tmp_path: Path) -> None:
    pages = {
        "web:lib/locks.html": PAGE,
        "web:lib/other.html": divide(ExternalDocument("other.html", "# Other\n\nA bird.\n")),
    }
    assert SectionBaseline(tmp_path / "sections", pages).score(QUESTION) == 1
