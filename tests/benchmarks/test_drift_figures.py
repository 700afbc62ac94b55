"""Figures of the benchmark `benchmarks/quality/drift.py`."""

from __future__ import annotations

from benchmarks.quality.drift import DriftName, Label, Precision, count_found, measure_precision


def make_label(name: str, verdict: str = "") -> Label:
    return {"repository": "o/r", "commit": "a1", "path": "d.md", "name": name, "verdict": verdict}


def make_name(name: str) -> DriftName:
    return DriftName("o/r", "a1", "d.md", name)


def test_precision_counts_only_labels_that_are_reported() -> None:
    labels = [make_label("a", "gone"), make_label("b", "changed"), make_label("c", "wrong")]
    labels.append(make_label("d", "gone"))
    reported = [make_name(name) for name in ("a", "b", "c", "e")]
    reported += [one._replace(commit="a2") for one in reported]
    result = measure_precision(labels, reported)

    assert result == Precision(right=2, wrong=1, missing=1, unlabelled=1)
    assert result.share == 2 / 3
    assert measure_precision(labels, []).share == 0.0


def test_a_qualified_name_counts_as_its_last_part() -> None:
    labels = [make_label("wait"), make_label("wait_long"), make_label("Retry::wait")]
    assert count_found(labels, [make_name("Retry.wait()")]) == 2
    assert count_found(labels, []) == 0
