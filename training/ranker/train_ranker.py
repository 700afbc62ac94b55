"""Trains the learned ranker, and says what it is worth on repositories that it has not seen.

    python -m training.ranker.train_ranker --bench BENCH REPOS --labels CHECKOUTS --synthetic DIR
        --work WORK --out DIR [--json FILE]

It needs lightgbm (`pip install lightgbm`) beside rootle, and no benchmark's reserved part. What was
gathered lies in WORK and is not gathered again. The trees correct the weighted sum: LambdaMART
(Burges, 2010) that starts from its scores. Figures come from cross-fitting by repository: those of
a fold are ordered by trees that saw none of them. Synthetic questions are only learned from.
Questions of few words are neither learned from nor put in another order.

DIR gets `trees.npz` and `calibration.json` (`ranker/calibration.py`), which belong into the package's models
under the name of the ranker.
"""

from __future__ import annotations

import argparse
import json
import pickle
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np

from rootle.rank.rankers.feature_sum import RankedFiles, rank_files
from rootle.rank.rankers.gbdt import GradientBoostedTrees, save_trees
from rootle.rank.rankers.learned import RERANKED, SUM_SCALE, correct_order
from rootle.rank.rankers.model_features import COLUMNS, model_columns
from rootle.rank.ranking_inputs import Floats
from training.ranker.calibration import calibration_of, signals_of
from training.ranker.ranking_examples import (
    Asked,
    collected,
    is_met,
    ndcg,
    of_bench,
    of_labels,
    of_synthetic,
)

FOLDS = 5
ROUNDS = 200
# What a question of a set weighs beside one of the benchmark.
WEIGHTS = {"bench": 1.0, "labels": 2.0, "synthetic": 1.0}
MEASURED = ("bench", "labels")
SETTINGS = {
    "objective": "lambdarank",
    "metric": "None",
    "learning_rate": 0.03,
    "num_leaves": 5,
    "min_data_in_leaf": 60,
    "feature_fraction": 0.4,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "lambda_l2": 5.0,
    "lambdarank_truncation_level": 12,
    "max_bin": 31,
    "num_threads": 1,
    "deterministic": True,
    "verbose": -1,
    "seed": 1,
}


@dataclass(frozen=True)
class Example:
    """The files of one question that may be put in a new order."""

    asked: Asked
    rows: Floats
    wanted: Floats  # 1 for a file with an answer
    by_sum: RankedFiles

    @property
    def scores(self) -> Floats:
        return self.by_sum.scores[list(self.by_sum.order[:RERANKED])]

    @property
    def detail(self) -> float:
        return self.asked.evidence.question.detail


def main() -> None:
    args = parse_arguments()
    examples = [example_of(asked) for asked in gathered(args)]
    print(f"{len(examples)} questions, {sum(e.wanted.any() for e in examples)} to learn from")
    moved = cross_fitted(examples)
    report: dict[str, Any] = {name: figures_of(examples, moved, name) for name in MEASURED}
    calibrations = {}
    for ranker, ranked in orders_of(examples, moved).items():
        found = [signals_of(asked, order, is_met) for asked, order in ranked]
        calibrations[ranker], report[f"calibration of {ranker}"] = calibration_of(found)
    for name, figures in report.items():
        print(name, json.dumps(figures))
    forest = forest_of(trained(examples))
    args.out.mkdir(parents=True, exist_ok=True)
    save_trees(args.out / "trees.npz", forest)
    (args.out / "calibration.json").write_text(json.dumps(calibrations, indent=1) + "\n")
    size = (args.out / "trees.npz").stat().st_size
    print(f"{len(forest.value)} trees, depth {forest.depth}, {size / 1000:.0f} kB")
    if args.json:
        args.json.write_text(json.dumps(report, indent=1) + "\n")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--bench", type=Path, nargs=2, required=True, metavar=("BENCH", "REPOS"))
    parser.add_argument("--labels", type=Path, required=True)
    parser.add_argument("--synthetic", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def gathered(args: argparse.Namespace) -> list[Asked]:
    """All questions with their evidence; from WORK where they were gathered before."""
    found = []
    for name, one in (
        ("bench", partial(of_bench, *args.bench, args.work)),
        ("labels", partial(of_labels, args.labels, args.work)),
        ("synthetic", partial(of_synthetic, args.synthetic, args.work)),
    ):
        kept = args.work / f"{name}.pickle"
        if not kept.exists():
            args.work.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(pickle.dumps(collected([one])))
        found += pickle.loads(kept.read_bytes())
    return found


def example_of(asked: Asked) -> Example:
    ranked = rank_files(asked.evidence)
    best = np.array(ranked.order[:RERANKED], dtype=np.int64)
    paths = [asked.evidence.files.paths[at] for at in best]
    wanted = {path for target in asked.targets for path, _, _ in target}
    return Example(
        asked,
        model_columns(asked.evidence, ranked)[best],
        np.array([float(path in wanted) for path in paths]),
        ranked,
    )


def cross_fitted(examples: Sequence[Example]) -> dict[int, Floats]:
    """What trees add to the files of each measured question, by its place among `examples`."""
    measured = sorted({e.asked.repository for e in examples if e.asked.source in MEASURED})
    drawn = np.random.default_rng(0).permutation(measured)
    fold_of = {str(name): place % FOLDS for place, name in enumerate(drawn)}
    moved = {}
    for fold in range(FOLDS):
        unseen = {name for name, own in fold_of.items() if own == fold}
        booster = trained([e for e in examples if e.asked.repository not in unseen])
        for place, one in enumerate(examples):
            if one.asked.source in MEASURED and one.asked.repository in unseen and one.detail:
                moved[place] = one.detail * np.asarray(booster.predict(one.rows)) / SUM_SCALE
    return moved


def orders_of(
    examples: Sequence[Example], moved: dict[int, Floats]
) -> dict[str, list[tuple[Asked, RankedFiles]]]:
    """The measured questions with their files in the order of each ranker."""
    measured = [(at, e) for at, e in enumerate(examples) if e.asked.source in MEASURED]
    return {
        "features": [(e.asked, e.by_sum) for _, e in measured],
        "learned": [
            (e.asked, correct_order(e.by_sum, moved[at]) if at in moved else e.by_sum)
            for at, e in measured
        ],
    }


def trained(examples: Sequence[Example]) -> lightgbm.Booster:
    usable = [e for e in examples if e.detail and e.wanted.any()]
    weights = [np.full(len(e.wanted), WEIGHTS[e.asked.source]) for e in usable]
    data = lightgbm.Dataset(
        np.vstack([e.rows for e in usable]),
        np.concatenate([e.wanted for e in usable]),
        group=[len(e.wanted) for e in usable],
        weight=np.concatenate(weights),
        init_score=np.concatenate([e.scores for e in usable]) * SUM_SCALE,
    )
    return lightgbm.train(SETTINGS, data, ROUNDS)


def figures_of(
    examples: Sequence[Example], moved: dict[int, Floats], source: str
) -> dict[str, float]:
    """NDCG@10 of one set by each ranker, averaged by repository."""
    figures = {}
    for ranker, ranked in orders_of(examples, moved).items():
        of_repository: dict[str, list[float]] = {}
        for asked, order in ranked:
            if asked.source == source and asked.targets:
                of_repository.setdefault(asked.repository, []).append(ndcg(asked, order.order))
        figures[ranker] = statistics.mean(map(statistics.mean, of_repository.values()))
    return figures


def forest_of(booster: lightgbm.Booster) -> GradientBoostedTrees:
    """The trees of lightgbm as arrays: shape (trees, nodes), inner nodes first, then leaves."""
    trees = [one["tree_structure"] for one in booster.dump_model()["tree_info"]]
    nodes = [flattened(tree) for tree in trees]
    width = max(map(len, nodes))
    shape = (len(nodes), width)
    column, left = np.zeros(shape, np.int16), np.zeros(shape, np.int16)
    right, threshold, value = np.zeros(shape, np.int16), np.zeros(shape), np.zeros(shape)
    for place, found in enumerate(nodes):
        for at, node in enumerate(found):
            column[place, at], threshold[place, at] = node[0], node[1]
            left[place, at], right[place, at], value[place, at] = node[2], node[3], node[4]
    depth = max(map(depth_of, trees))
    return GradientBoostedTrees(COLUMNS, column, threshold, left, right, value, depth)


def flattened(tree: dict[str, Any]) -> list[tuple[int, float, int, int, float]]:
    """Column, threshold, left, right, value of each node, the root first."""
    found: list[tuple[int, float, int, int, float]] = []

    def add(node: dict[str, Any]) -> int:
        at = len(found)
        found.append((0, 0.0, at, at, 0.0))
        if "split_feature" in node:
            left, right = add(node["left_child"]), add(node["right_child"])
            found[at] = (node["split_feature"], node["threshold"], left, right, 0.0)
        else:
            found[at] = (0, 0.0, at, at, node["leaf_value"])
        return at

    add(tree)
    return found


def depth_of(tree: dict[str, Any]) -> int:
    if "split_feature" not in tree:
        return 0
    return 1 + max(depth_of(tree["left_child"]), depth_of(tree["right_child"]))


if __name__ == "__main__":
    main()
