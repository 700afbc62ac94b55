"""Scores of labeled questions: ranks, tokens, refusals, means and the printed row."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.common.metrics import Answer, Hit
from benchmarks.quality.label_scores import (
    QuestionScore,
    count_tokens,
    format_row,
    score_answers,
    summarize,
)
from label_examples import make_hits, make_label, other_places


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text("".join(f"line {number:02}\n" for number in range(1, 91)))
    return tmp_path


def test_only_the_first_sixty_shown_lines_count(root: Path) -> None:
    label = make_label([("a.py", 61, 70)])
    shown = Answer((Hit("a.py", ((1, 40), (45, 80))),))
    (score,) = score_answers(root, [label], [shown])
    assert score.span_ranks == {1}  # the first sixty shown lines are 1 to 40 and 45 to 64
    assert score.is_confident  # the answer came without a verdict, which counts as confident
    (score,) = score_answers(root, [label], [shown], [False])
    assert not score.is_confident
    late = Answer((Hit("a.py", ((1, 60), (61, 70))),))
    (score,) = score_answers(root, [label], [late])
    assert not score.span_ranks
    assert score.file_ranks == {1}


def test_only_ten_hits_count(root: Path) -> None:
    label = make_label([("a.py", 1, 9)])
    answer = Answer(make_hits(*other_places(10), ("a.py", 1, 9)))
    (score,) = score_answers(root, [label], [answer])
    assert (score.span_ndcg, score.file_ndcg) == (0.0, 0.0)


def test_tokens_are_counted_up_to_the_first_answer(root: Path) -> None:
    first, second = make_hits(("a.py", 1, 10), ("a.py", 21, 22))
    assert count_tokens(root, [first]) == (len("a.py") + 10 * 8) / 4
    assert count_tokens(root, [*make_hits(*other_places(1)), second]) == (4 + 2 * 8) / 4
    label = make_label([("a.py", 21, 22)])
    (score,) = score_answers(root, [label], [Answer((first, second, first))])
    assert score.tokens == count_tokens(root, [first, second])
    (score,) = score_answers(root, [label], [Answer((first, first))])
    assert score.tokens == count_tokens(root, [first, first])


def question(
    *, kind: str = "behaviour", rank: int = 0, hard: bool = False, confident: bool = True
) -> QuestionScore:
    label = make_label(*[[("a.py", 1, 9)]] * (kind != "none"), kind=kind)
    ranks = frozenset({rank} - {0})
    return QuestionScore(label, hard, ranks, ranks, 100.0, confident)


def test_figures_separate_hard_and_unanswerable_questions() -> None:
    figures = summarize({
        "one": [question(rank=1), question(hard=True), question(kind="none", confident=False)],
        "two": [question(rank=1, kind="tests", confident=False), question(rank=2, hard=True),
                question(kind="none")],
    })  # fmt: skip
    assert (figures["repositories"], figures["questions"]) == (2, 4)
    assert figures["span_ndcg"] == pytest.approx((1 + 0 + 1 + 0.6309) / 4, abs=1e-4)
    assert (figures["span_hit1"], figures["span_hit10"]) == (0.5, 0.75)
    assert figures["hard_span_hit10"] == 0.5
    assert figures["unanswerable_recognized"] == 0.5
    assert figures["answerable_refused"] == 0.25
    assert figures["kinds"]["tests"] == 1.0
    low, high = figures["span_ndcg_interval"]
    assert low < figures["span_ndcg"] < high


def test_a_row_shows_refusals_only_for_rootle() -> None:
    rows = {"one": [question(rank=1), question(kind="none", confident=False)]}
    assert format_row("one", "rootle", rows) == (
        "one          rootle     NDCG@10 by span 1.000 by file 1.000  hit@1 1.00"
        "  hit@10 1.00/1.00  hard 0.00/0.00    100 tokens  recognized 1.00 refused 0.00"
    )
    assert "recognized" not in format_row("", "other", rows)
    assert "95 %" in format_row("all", "other", {**rows, "two": rows["one"]})
