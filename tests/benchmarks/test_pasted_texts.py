"""The benchmark of pasted texts: samples have one source, and answers are read correctly."""

from __future__ import annotations

import math
from pathlib import Path

from benchmarks.common.labels import Span
from benchmarks.quality.pasted_samples import Sample, draw_samples
from benchmarks.quality.pasted_texts import (
    Outcome,
    PastedTextSummary,
    format_summary,
    read_answer,
    summarize_outcomes,
)

FILES = {
    "src/pool.py": """\
def open_pool(size):
    if size < 1:
        raise ValueError("the pool needs at least one connection")
    log.info(f"opened a new pool with {size} connections")
    return Pool(size, settings["pool-open-limit"], settings["pool-open-limit"])
""",
    "docs/pool.md": "The pool needs at least one connection. It reads pool-open-limit.\n",
}


def test_every_sample_has_its_lines() -> None:
    samples = draw_samples(FILES, 5)
    assert samples["message"] == [
        Sample("the pool needs at least one connection", (Span("src/pool.py", 3, 3),))
    ]
    (log,) = samples["log"]
    assert "opened a new pool with " in log.query
    assert "{size}" not in log.query
    assert log.spans == (Span("src/pool.py", 4, 4),)
    assert samples["option"] == [
        Sample("pool-open-limit", (Span("docs/pool.md", 1, 1), Span("src/pool.py", 5, 5)))
    ]
    assert {sample.spans[0].start_line for sample in samples["code"]} == {3, 4, 5}
    frame = next(one for one in samples["frame"] if one.spans[0].start_line == 4)
    assert frame.query == '  File "/srv/app/src/pool.py", line 4, in run'


def test_samples_depend_only_on_the_seed() -> None:
    assert draw_samples(FILES, 2, seed=1) == draw_samples(dict(reversed(FILES.items())), 2, seed=1)


def test_a_text_that_occurs_twice_is_no_sample() -> None:
    files = {**FILES, "src/copy.py": FILES["src/pool.py"]}
    assert draw_samples(files, 5)["message"] == []


def test_an_answer_is_read_up_to_the_line(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("one\ntwo\nthree\n")
    answer = "1. a.py:2-3 (0.95)\n2  two\n3  three\n\n2. b.py:1-1 (0.10)\n1  two"
    shown = read_answer(answer, tmp_path, Sample("two", (Span("a.py", 2, 2),)))
    assert shown == Outcome(is_first=True, chars=answer.index("3  three"))
    missed = read_answer(answer, tmp_path, Sample("one", (Span("a.py", 1, 1),)))
    assert missed == Outcome(is_first=True, chars=math.inf)


def test_the_summary_has_shares_and_the_median() -> None:
    outcomes = [Outcome(True, 100.0), Outcome(True, 300.0), Outcome(False, math.inf)]
    summary = summarize_outcomes(outcomes)
    assert summary == PastedTextSummary(3, 2 / 3, 2 / 3, 300.0)
    assert "line shown 0.667" in format_summary(summary)
    assert summarize_outcomes([]).median_chars == math.inf
