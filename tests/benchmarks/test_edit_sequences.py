"""The comparison of an index after random edits and kills with a new index."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from random import Random
from typing import Any

import pytest
from benchmarks.reliability.edit_sequences import (
    SequenceOptions,
    SequenceResult,
    kill_update,
    run_sequences,
    summarize,
)
from benchmarks.reliability.random_text import random_questions
from benchmarks.reliability.random_tree import RandomTree
from benchmarks.reliability.ranked_answers import describe_differences, fresh_answers
from sample import git

pytestmark = pytest.mark.slow


def answer(*results: tuple[str, float, int], question: str = "q", **rest: Any) -> dict[str, Any]:
    shown = [
        {"filePath": path, "score": score, "startLine": line, "endLine": line + 2, "moreSpans": []}
        for path, score, line in results
    ]
    return {"question": question, "results": shown, **rest}


def test_equal_answers_have_no_difference() -> None:
    one, other = (answer(("a.py", 0.5, 1), ("b.py", 0.25, 7)) for _ in range(2))
    for comparison in ("answers", "ranked", "paths"):
        assert describe_differences([one], [other], comparison) == ()


@pytest.mark.parametrize(
    ("found", "strict_enough"),
    [
        (answer(("b.py", 0.5, 1), ("a.py", 0.5, 1)), {"answers", "ranked", "paths"}),
        (answer(("a.py", 0.5, 1)), {"answers", "ranked", "paths"}),
        (answer(("a.py", 0.50001, 1), ("b.py", 0.5, 1)), {"answers", "ranked"}),
        (answer(("a.py", 0.5, 1), ("b.py", 0.5, 2)), {"answers", "ranked"}),
        (answer(("a.py", 0.5, 1), ("b.py", 0.5, 1), confident=False), {"answers"}),
    ],
)
def test_a_different_value_is_a_difference_of_the_stricter_comparisons(
    found: dict[str, Any], strict_enough: set[str]
) -> None:
    expected = answer(("a.py", 0.5, 1), ("b.py", 0.5, 1))
    for comparison in ("answers", "ranked", "paths"):
        differences = describe_differences([found], [expected], comparison)
        assert len(differences) == (comparison in strict_enough), comparison


def test_sequences_answers_edits_and_kills_are_counted() -> None:
    results = [
        SequenceResult(0, ("commit",) * 3, 18, 5, ()),
        SequenceResult(1, ("commit",) * 4, 18, 5, ("'q': …", "'r': …")),
    ]
    assert summarize(results) == (
        "1 of 2 sequences (50.0%) and 34 of 36 answers equal those of a new index, "
        "after 7 edits and 10 kills"
    )


def test_the_same_seed_gives_the_same_trees_and_edits(tmp_path: Path) -> None:
    trees = [RandomTree(tmp_path / name, Random(3)) for name in ("one", "other")]
    edits = [tree.edit(60) for tree in trees]
    assert edits[0] == edits[1]
    assert len(set(edits[0])) > 12
    assert len(git(tmp_path / "one", "log", "--all", "--format=%H").split()) > 3
    for tree in trees:
        shutil.rmtree(tree.root / ".git/logs")
        (tree.root / ".git/index").unlink()
    assert subprocess.run(["diff", "-r", trees[0].root, trees[1].root]).returncode == 0


def test_two_new_indexes_of_one_tree_answer_equally(tmp_path: Path) -> None:
    tree = RandomTree(tmp_path / "tree", Random(4))
    tree.edit(40)
    questions = random_questions(Random(5), 11)
    one, other = (fresh_answers(tree.root, tmp_path / name, questions) for name in "ab")
    assert sum(bool(answer["results"]) for answer in one) >= 8
    assert describe_differences(one, other, "answers") == ()


def test_an_update_is_killed_unless_it_ends_in_time(tmp_path: Path) -> None:
    tree = RandomTree(tmp_path / "tree", Random(6))
    assert kill_update(tree.root, tmp_path / "index", 0.0)
    assert not kill_update(tree.root, tmp_path / "index", 120.0)


def test_sequences_of_edits_and_kills_end_with_the_answers_of_a_new_index() -> None:
    results = list(run_sequences(range(3), SequenceOptions(seed=7, comparison="answers", kills=3)))
    assert [result.kills for result in results] == [3, 3, 3]
    assert [result.differences for result in results] == [(), (), ()]
