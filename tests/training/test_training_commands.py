"""The arithmetic of the training commands: shards, training groups and predictions."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from benchmarks.quality.abstention import Prediction
from training.corpus.sampling import Project
from training.embedding import train_embedding
from training.ranker.calibration import Signals
from training.ranker.cross_fitting import TrainingExample
from training.ranker.ranking_examples import RankingExample, Source, Voice

from rootle.rank.features import NAMES
from rootle.rank.rankers.features_ranker import RankedFiles
from rootle.rank.rankers.learned_ranker import SUM_SCALE
from rootle.rank.ranking_inputs import RankingInputs


@pytest.fixture
def lightgbm(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Replace lightgbm, which only training needs, by a module that returns the training data."""
    fake = ModuleType("lightgbm")
    vars(fake)["Dataset"] = lambda features, relevance, **more: {
        "features": features, "relevance": relevance, **more
    }  # fmt: skip
    vars(fake)["train"] = lambda _parameters, data, _rounds: data
    monkeypatch.setitem(sys.modules, "lightgbm", fake)
    for name in ("boosting", "train_ranker", "abstention_analysis"):
        monkeypatch.delitem(sys.modules, f"training.ranker.{name}", raising=False)
    return fake


def make_example(
    source: Source, voice: Voice, relevance: Sequence[float], detail: float = 1.0
) -> TrainingExample:
    """Return a question with as many candidate files as it has values of relevance."""
    count = len(relevance)
    inputs = cast("RankingInputs", SimpleNamespace(question=SimpleNamespace(detail=detail)))
    features = np.zeros((count, len(NAMES)))
    scores = np.linspace(0.8, 0.4, count)
    return TrainingExample(
        RankingExample(source, "repo", "behaviour", False, (), inputs, {}, voice),
        np.full((count, 2), float(count)),
        np.array(relevance),
        RankedFiles(tuple(range(count)), scores, features, features),
    )


def test_each_process_extracts_pairs_of_every_nth_project(tmp_path: Path) -> None:
    projects = [Project(name, tmp_path / name) for name in "abcde"]
    args = argparse.Namespace(jobs=2, work=tmp_path, seed=9)
    first, second = train_embedding.make_shards(projects, np.zeros(0, np.uint64), args)
    assert [one.name for one in first.projects] == ["a", "c", "e"]
    assert [one.name for one in second.projects] == ["b", "d"]
    assert (first.out, second.out) == (tmp_path / "shard0", tmp_path / "shard1")
    assert first.seed == 9
    assert first.reserved_names == second.reserved_names != []


def test_the_embedding_is_not_trained_without_reserved_repositories(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["train_embedding", "packages", "--out", "out"])
    with pytest.raises(SystemExit):
        train_embedding.parse_arguments()
    assert "--reserved: expected at least one repository" in capsys.readouterr().err


def test_trees_learn_from_detailed_questions_with_an_answer_by_weight(
    lightgbm: ModuleType,
) -> None:
    from training.ranker.train_ranker import train

    data = cast("Any", train([
        make_example("labels", "user", [1.0, 0.0, 0.0]),
        make_example("labels", "user", [1.0, 0.0], detail=0.0),
        make_example("synthetic", "agent", [0.0, 0.0]),
        make_example("bench", "other", [0.0, 1.0]),
    ]))  # fmt: skip
    assert data["group"] == [3, 2]
    assert data["relevance"].tolist() == [1, 0, 0, 0, 1]
    assert data["weight"].tolist() == [2.0, 2.0, 2.0, 0.3, 0.3]
    assert data["features"][:, 0].tolist() == [3, 3, 3, 2, 2]
    scores = np.array([0.8, 0.6, 0.4, 0.8, 0.4])
    assert data["init_score"].tolist() == pytest.approx((scores * SUM_SCALE).tolist())


def test_a_prediction_comes_from_the_other_repositories(
    lightgbm: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    from training.ranker import abstention_analysis

    def fit(signals: Sequence[Signals]) -> set[str]:
        return {one.repository for one in signals}

    def predict(one: Signals, seen: set[str]) -> float:
        return 10 * (one.repository in seen) + len(seen)

    monkeypatch.setattr(abstention_analysis, "fit_answer_model", fit)
    monkeypatch.setattr(abstention_analysis, "answer_probability", predict)
    nothing = np.zeros(0)
    signals = [
        Signals("labels", name, nothing, nothing, np.array(correct), is_answerable)
        for name, correct, is_answerable in (
            ("b", [0.0, 1.0], True), ("a", [0.0, 0.0], True), ("c", [0.0], False)
        )
    ]  # fmt: skip
    assert abstention_analysis.cross_fitted_predictions(signals) == [
        Prediction("a", 2, True, False),
        Prediction("b", 2, True, True),
        Prediction("c", 2, False, False),
    ]


def test_the_limit_of_recognition_follows_from_the_answered_questions(
    lightgbm: ModuleType,
) -> None:
    from training.ranker.abstention_analysis import format_limit, format_separation

    # Three of four answerable questions are answered. Refusing 5 % of the four means
    # refusing 20 % of the one that is not answered.
    answered = [True, True, True, False]
    predictions = [Prediction("repo", 0.5, True, one) for one in answered]
    line = format_limit("test", [*predictions, Prediction("repo", 0.5, False, False)])
    assert "answer 75.0% of the answerable questions" in line
    assert line.endswith("would recognize 20% at 5% refusals")
    row = {
        "group": "answerable questions", "kept": 4, "unanswerable": 1, "auc": 0.8125,
        "auc_interval": (0.75, 0.9), "recognized_at": {"5%": 0.5, "10%": 0.75},
        "at_tune_thresholds": [{"refused": 0.04, "recognized": 0.6}],
    }  # fmt: skip
    text = format_separation(row)
    assert "AUC 0.812" in text
    assert text.endswith(
        "thresholds set here: 50% at 5%  75% at 10%\n"
        "    recognized, thresholds of the tune split: 60% at 4%"
    )
