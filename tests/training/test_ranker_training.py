"""Training of the ranker: calibration, cross-fitting, trees as arrays and the release gate."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.common.metrics import LineRange
from training.ranker import release_gate
from training.ranker.calibration import (
    Signals,
    collect_signals,
    fit_calibration,
    fit_logistic,
    fit_voices,
    name_weights,
    probability,
    weighted_quantile,
)
from training.ranker.cross_fitting import (
    TrainingExample,
    cross_fit,
    mean_ndcg,
    prepare,
    rank_evaluated,
)
from training.ranker.ranking_examples import (
    InputRecorder,
    RankingExample,
    Source,
    TargetLines,
    cached_examples,
    example_ndcg,
    history_examples,
)
from training.ranker.release_gate import file_recall, may_release
from training.ranker.tree_arrays import flatten_tree, to_arrays, tree_depth
from zoo_repository import make_zoo

from rootle import open_app
from rootle.rank.confidence import Voice
from rootle.rank.features import WORD_ORDER
from rootle.rank.rankers.features_ranker import rank_files
from rootle.rank.rankers.learned_ranker import SUM_SCALE
from rootle.rank.rankers.learned_ranker_columns import COLUMNS
from rootle.rank.rankers.tree_ensemble import save_trees
from rootle.rank.ranking_inputs import RankingInputs

pytestmark = pytest.mark.slow

Floats = Any
_QUERY = (
    "where does the hungry badger eat its meal at night after it has left the warm den and "
    "crossed the cold river to feed"
)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[RankingInputs, dict[str, Any]]:
    """Return the ranking inputs of a query over three files, and the lines shown from each file."""
    root = tmp_path_factory.mktemp("tree")
    for name in ("badger", "otter", "heron"):
        text = f"def feed_{name}(meal):\n    # The hungry {name} eats its meal at night.\n"
        (root / f"{name}.py").write_text(text + "    return meal\n" * 5)
    with open_app(root, index_dir=tmp_path_factory.mktemp("index")) as app:
        app.index()
        return InputRecorder(app).search(_QUERY)


def make_example(
    recorded: tuple[RankingInputs, dict[str, Any]],
    *targets: TargetLines,
    source: Source = "labels",
    repository: str = "repo",
    shown: Mapping[str, tuple[LineRange, ...]] | None = None,
) -> RankingExample:
    inputs, lines = recorded
    wanted = tuple((target,) for target in targets)
    return RankingExample(
        source, repository, "behaviour", False, wanted, inputs, lines if shown is None else shown
    )


def numbers(example: RankingExample, *paths: str) -> list[int]:
    return [example.inputs.files.paths.index(path) for path in paths]


def test_the_recorder_returns_inputs_and_shown_lines(
    recorded: tuple[RankingInputs, dict[str, Any]],
) -> None:
    inputs, shown = recorded
    assert set(inputs.files.paths) == {"badger.py", "otter.py", "heron.py"}
    assert rank_files(inputs).order[0] == inputs.files.paths.index("badger.py")
    assert shown["badger.py"][0][0] == 1


def test_labels_match_by_lines_and_the_benchmark_by_file(
    recorded: tuple[RankingInputs, dict[str, Any]],
) -> None:
    shown = {"badger.py": ((1, 4),)}
    label = make_example(recorded, ("badger.py", 5, 7), shown=shown)
    (file,) = numbers(label, "badger.py")
    assert not label.answers(file)
    assert make_example(recorded, ("badger.py", 4, 7), shown=shown).answers(file)
    assert make_example(recorded, ("badger.py", 5, 7), source="bench", shown=shown).answers(file)
    whole = make_example(recorded, ("badger.py", 0, 0), source="history", shown={})
    assert whole.answers(file)
    assert not whole.answers(numbers(whole, "otter.py")[0])


def test_each_file_counts_for_one_target(recorded: tuple[RankingInputs, dict[str, Any]]) -> None:
    example = make_example(recorded, ("badger.py", 1, 2), ("otter.py", 0, 0), source="bench")
    order = numbers(example, "badger.py", "heron.py", "otter.py")
    assert example_ndcg(example, order) == pytest.approx((1 + 1 / 2) / (1 + 1 / np.log2(3)))
    twice = make_example(recorded, ("badger.py", 1, 2), ("badger.py", 3, 4), source="bench")
    assert example_ndcg(twice, order) == pytest.approx(1 / (1 + 1 / np.log2(3)))


def test_recall_counts_target_files(recorded: tuple[RankingInputs, dict[str, Any]]) -> None:
    example = make_example(recorded, ("badger.py", 0, 0), ("gone.py", 0, 0), source="history")
    assert file_recall(example, numbers(example, "badger.py", "otter.py")) == 0.5
    assert file_recall(example, numbers(example, "otter.py")) == 0.0


def test_the_learned_ranker_must_not_be_worse_by_any_criterion() -> None:
    better, equal, worse = ({"features": 0.5, "learned": value} for value in (0.6, 0.5, 0.4999))
    assert may_release([better, equal])
    assert not may_release([better, worse])


def test_logistic_weights_recover_the_model() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4_000, 2)) * np.array([1.0, 10.0]) + np.array([0.0, 5.0])
    model = np.array([1.5, -0.2, 0.5])
    outcomes = (rng.random(4_000) < probability(rows, model)).astype(float)
    fitted = fit_logistic(rows, outcomes, np.ones(4_000))
    assert fitted.tolist() == pytest.approx(model.tolist(), abs=0.15)
    # Doubling the weight of positive outcomes adds log(2) to the log-odds.
    weighted = fit_logistic(rows, outcomes, np.where(outcomes > 0, 2.0, 1.0))
    assert weighted[2] - fitted[2] == pytest.approx(np.log(2), abs=0.1)


def test_probabilities_follow_the_logistic_function() -> None:
    rows = np.array([[1.0, 2.0], [0.0, 0.0]])
    found = probability(rows, np.array([1.0, -1.0, 1.0]))
    assert found.tolist() == pytest.approx([0.5, 1 / (1 + np.exp(-1))])
    assert name_weights(np.array([1.234567, 2.0]), ["a"]) == {"a": 1.2346, "intercept": 2.0}


def signals(repository: str, strength: float, *, answerable: bool) -> Signals:
    from rootle.rank.confidence import QUESTION_SIGNALS, RESULT_SIGNALS

    question = np.full(len(QUESTION_SIGNALS), strength)
    results = np.tile(np.array([[strength], [-strength]]), (1, len(RESULT_SIGNALS)))
    correct = np.array([1.0, 0.0]) if answerable else np.zeros(2)
    return Signals("labels", repository, question, results, correct, answerable)


def labeled_signals(seed: int) -> list[Signals]:
    """Return the signals of questions about three repositories; most questions have an answer."""
    rng = np.random.default_rng(seed)
    return [
        signals(repository, float(rng.normal(1 if answerable else -1, 0.2)), answerable=answerable)
        for repository in ("one", "two", "three")
        for answerable in [True] * 20 + [False] * 8
    ]


def test_calibration_is_measured_on_unseen_repositories() -> None:
    found = labeled_signals(1)
    calibration, figures = fit_calibration(found, 0.05)
    assert figures["recognized"] == {"labels": 1.0}
    assert figures["refused"] == {"labels": pytest.approx(0.05)}
    assert 0 < calibration["threshold"] < 1
    assert list(calibration["answer"])[-1] == "intercept"
    assert len(calibration["result"]) > len(calibration["answer"])
    assert sum(one["results"] for one in figures["reliability"]) == 2 * len(found)


def test_each_voice_has_its_own_calibration() -> None:
    voices: tuple[tuple[Voice, float], ...] = (("asked", 0.0), ("composed", 5.0))
    found = [
        replace(one, question=one.question + shift, results=one.results + shift, voice=voice)
        for one in labeled_signals(2)
        for voice, shift in voices
    ]
    calibrations, figures = fit_voices(found)
    assert all(figures[voice]["recognized"] == {"labels": 1.0} for voice in ("asked", "composed"))
    asked, composed = (calibrations[voice]["answer"] for voice in ("asked", "composed"))
    assert composed["intercept"] < asked["intercept"]
    # Queries that are not evaluated are used only for fitting.
    others = [replace(one, is_evaluated=False, source="renamed") for one in found]
    assert fit_voices([*found, *others])[1]["asked"]["recognized"].keys() == {"labels"}


def test_other_questions_are_measured_and_change_the_threshold() -> None:
    labeled = labeled_signals(3)
    others = [
        replace(signals(name, 0.2, answerable=answerable), source=source)
        for name in ("one", "four")
        for source, answerable in (("bench", True), ("unanswerable", False))
    ]
    alone, (calibration, figures) = (
        fit_calibration(labeled, 0.05),
        fit_calibration([*labeled, *others], 0.05),
    )
    assert figures["recognized"].keys() == {"labels", "unanswerable"}
    assert figures["refused"].keys() == {"labels", "bench"}
    assert calibration["threshold"] != alone[0]["threshold"]


def test_a_quantile_weighs_the_values() -> None:
    values, weights = np.array([3.0, 1.0, 2.0]), np.array([1.0, 8.0, 1.0])
    assert weighted_quantile(values, weights, 0.5) == 1.0
    assert weighted_quantile(values, weights, 0.85) == 2.0
    assert weighted_quantile(values, weights, 1.0) == 3.0


def test_signals_mark_the_correct_results(recorded: tuple[RankingInputs, dict[str, Any]]) -> None:
    example = make_example(recorded, ("otter.py", 1, 2), source="bench")
    ranked = rank_files(example.inputs)
    found = collect_signals(example, ranked)
    expected = [float(example.inputs.files.paths[file] == "otter.py") for file in ranked.order]
    assert found.is_correct.tolist() == expected
    assert found.is_answerable
    assert found.rows.shape == (3, len(found.question) + found.results.shape[1])
    assert np.array_equal(found.rows[1][: len(found.question)], found.question)


class FoldModel:
    """A model that moves the last candidate to the top, and records its training examples."""

    def __init__(self, examples: Sequence[TrainingExample]) -> None:
        self._trained_on = {float(one.features[0, 0]) for one in examples}

    def predict(self, data: Floats, /) -> Floats:
        assert float(data[0, 0]) not in self._trained_on
        return np.linspace(0, 100, len(data))


def numbered_example(
    recorded: tuple[RankingInputs, dict[str, Any]], number: int, source: Source
) -> TrainingExample:
    """Return an example from repository `number`, with this number as the value of all features."""
    example = make_example(recorded, ("otter.py", 1, 2), source=source, repository=f"repo{number}")
    prepared = prepare(example)
    return replace(prepared, features=np.full_like(prepared.features, number))


def test_no_model_ranks_a_repository_that_it_was_trained_on(
    recorded: tuple[RankingInputs, dict[str, Any]],
) -> None:
    examples = [numbered_example(recorded, number, "bench") for number in range(7)]
    examples.append(numbered_example(recorded, 7, "synthetic"))
    seen: list[set[str]] = []

    def train(some: Sequence[TrainingExample]) -> FoldModel:
        seen.append({one.example.repository for one in some})
        return FoldModel(some)

    corrections = cross_fit(examples, train)
    assert len(seen) == 5
    assert all("repo7" in some for some in seen)  # synthetic questions are always trained on
    for number in range(7):
        assert sum(f"repo{number}" not in some for some in seen) == 1
    assert sorted(corrections) == list(range(7))  # the synthetic example is not evaluated
    detail = examples[0].detail
    assert detail > 0
    expected = [0.0, 50 * detail / SUM_SCALE, 100 * detail / SUM_SCALE]
    assert corrections[0].tolist() == pytest.approx(expected)

    ranked = rank_evaluated(examples, corrections)
    assert len(ranked["features"]) == len(ranked["learned"]) == 7
    assert ranked["learned"][0][1].order[0] == ranked["features"][0][1].order[-1]
    assert mean_ndcg(ranked["learned"], "bench") != mean_ndcg(ranked["features"], "bench")


def test_scores_are_averaged_by_repository(
    recorded: tuple[RankingInputs, dict[str, Any]],
) -> None:
    good = make_example(recorded, ("badger.py", 1, 2), source="bench", repository="one")
    bad = make_example(recorded, ("gone.py", 1, 2), source="bench", repository="two")
    unanswerable = make_example(recorded, source="bench", repository="two")
    ranked = [(one, rank_files(one.inputs)) for one in (good, good, good, bad, unanswerable)]
    assert mean_ndcg(ranked, "bench") == pytest.approx(0.5)


def test_training_examples_mark_relevant_files(
    recorded: tuple[RankingInputs, dict[str, Any]],
) -> None:
    one = prepare(make_example(recorded, ("otter.py", 50, 60)))
    paths = [one.example.inputs.files.paths[file] for file in one.by_sum.order]
    assert one.relevance.tolist() == [float(path == "otter.py") for path in paths]
    assert one.features.shape[0] == 3
    plain = one.by_sum.scores_without(WORD_ORDER)
    assert one.initial_scores[0] == pytest.approx(plain[one.by_sum.order[0]] * SUM_SCALE)


_TREE = {
    "split_feature": 2, "threshold": 0.5,
    "left_child": {"leaf_value": -1.0},
    "right_child": {
        "split_feature": 0, "threshold": 3.0,
        "left_child": {"leaf_value": 1.0}, "right_child": {"leaf_value": 2.0},
    },
}  # fmt: skip


def test_trees_are_converted_to_arrays_with_the_same_predictions() -> None:
    assert [tuple(node) for node in flatten_tree(_TREE)] == [
        (2, 0.5, 1, 2, 0.0), (0, 0.0, 1, 1, -1.0), (0, 3.0, 3, 4, 0.0),
        (0, 0.0, 3, 3, 1.0), (0, 0.0, 4, 4, 2.0),
    ]  # fmt: skip
    assert tree_depth(_TREE) == 2
    trees = to_arrays([_TREE, {"leaf_value": 10.0}], ("a", "b", "c"))
    assert (trees.value.shape, trees.depth) == ((2, 5), 2)
    rows = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 1.0], [4.0, 0.0, 1.0]])
    assert predict(trees, rows) == pytest.approx([9.0, 11.0, 12.0])


def predict(trees: Any, rows: Floats) -> list[float]:
    """Return the prediction of the arrays for each row; both children of a leaf are the leaf."""
    sums = []
    for row in rows:
        total = 0.0
        for tree in range(len(trees.value)):
            node = 0
            for _ in range(trees.depth):
                is_left = row[trees.column[tree, node]] <= trees.threshold[tree, node]
                node = int((trees.left if is_left else trees.right)[tree, node])
            total += float(trees.value[tree, node])
        sums.append(total)
    return sums


@pytest.fixture
def zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a tiny repository with labels, a history and a public benchmark."""
    make_zoo(tmp_path, monkeypatch)
    shutil.copytree(tmp_path / "checkouts/zoo", tmp_path / "checkouts/lost")
    shutil.copytree(tmp_path / "checkouts/zoo", tmp_path / "made/park/repo")
    question = {"query": "when does the hungry badger eat", "kind": "behaviour", "hard": True}
    record = {**question, "targets": [["badger.py", 1, 3]]}
    syntax = {**record, "query": "path:src"}
    lines = "\n".join(map(json.dumps, (record, syntax)))
    (tmp_path / "made/park/questions.jsonl").write_text(lines)
    return tmp_path


def test_the_examples_of_all_sources_are_collected_once(zoo: Path) -> None:
    args = argparse.Namespace(
        bench=(zoo / "bench", zoo / "checkouts"), labels=zoo / "checkouts", renamed=None,
        synthetic=zoo / "made", work=zoo / "work", large=None,
    )  # fmt: skip
    examples = cached_examples(args)
    counts = Counter((one.source, one.repository) for one in examples)
    # Each query occurs in two voices.
    assert counts[("bench", "zoo")] == counts[("bench", "lost")] == 2 * 3
    assert counts[("labels", "zoo")] == 2
    assert counts[("synthetic", "park")] == 2  # the other query contains no words
    for one in examples:
        if one.targets and one.voice == "user":  # queries in the voice of a model guess wrong names
            (target, *_), *_ = one.targets
            best = rank_files(one.inputs).order[0]
            assert one.inputs.files.paths[best] == target[0]
            assert one.answers(best)
            assert example_ndcg(one, [best]) == 1.0
    shutil.rmtree(zoo / "checkouts")
    assert len(cached_examples(args)) == len(examples)


def test_history_questions_are_asked_on_the_parent_of_the_commit(zoo: Path) -> None:
    (example,) = history_examples(zoo / "checkouts", zoo / "work", 5, "held-out")
    assert (example.source, example.repository) == ("history", "zoo")
    assert example.targets == ((("otter.py", 0, 0),),)
    tree = (zoo / "work/history/zoo/tree/otter.py").read_text()
    assert "dive_otter" not in tree
    assert list(history_examples(zoo / "checkouts", zoo / "work", 5, "train")) == []


def test_the_gate_accepts_equal_rankers_and_rejects_worse_ones(
    zoo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    save_trees(zoo / "trees.npz", to_arrays([{"leaf_value": 0.0}], COLUMNS))
    report = zoo / "report.json"
    arguments = ["--report", report, "--histories", zoo / "checkouts", "--work", zoo / "work"]
    command = ["release_gate", *map(str, arguments), "--model", str(zoo)]
    monkeypatch.setattr(sys, "argv", command)
    figures = {"features": 0.5, "learned": 0.5}
    report.write_text(json.dumps({"labels": figures, "bench": {**figures, "learned": 0.1}}))
    release_gate.main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == f"{'held-out histories, recall@10':40} features 1.0000  learned 1.0000"
    assert lines[-1] == "the learned ranker may be released"
    report.write_text(json.dumps({"labels": {**figures, "learned": 0.4}, "bench": figures}))
    with pytest.raises(SystemExit, match="do not release it"):
        release_gate.main()


def test_an_empty_order_scores_zero(recorded: tuple[RankingInputs, dict[str, Any]]) -> None:
    example = make_example(recorded, ("badger.py", 1, 2))
    assert example_ndcg(replace(example, shown={}), []) == 0.0
