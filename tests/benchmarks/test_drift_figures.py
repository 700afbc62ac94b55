"""The arithmetic of `benchmarks/quality/drift.py`."""

from __future__ import annotations

from benchmarks.quality.drift import DriftName, Label, count_found, measure_precision


def make_label(name: str, verdict: str = "") -> Label:
    return {"repository": "o/r", "commit": "a1", "path": "d.md", "name": name, "verdict": verdict}


def make_name(name: str) -> DriftName:
    return DriftName("o/r", "a1", "d.md", name)


def test_precision_counts_only_labels_that_are_reported() -> None:
    labels = [make_label("a", "gone"), make_label("b", "changed"), make_label("c", "wrong")]
    labels.append(make_label("d", "gone"))
    result = measure_precision(labels, [make_name("a"), make_name("b"), make_name("c")])

    assert (result.right, result.wrong, result.missing) == (2, 1, 1)
    assert result.share == 2 / 3
    assert measure_precision(labels, []).share == 0.0


def test_a_qualified_name_counts_as_its_last_part() -> None:
    labels = [make_label("wait"), make_label("wait_long"), make_label("Retry::wait")]
    assert count_found(labels, [make_name("Retry.wait()")]) == 2
    assert count_found(labels, []) == 0
