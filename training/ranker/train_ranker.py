"""Train the learned ranker, and measure it on repositories that it has not seen.

    python -m training.ranker.train_ranker --bench BENCH REPOS --labels CHECKOUTS --synthetic DIR
        --work WORK --out DIR [--renamed COPIES] [--large CHECKOUTS] [--json FILE]

This command needs lightgbm (`pip install lightgbm`); it reads no reserved part of a benchmark.
Examples are cached in WORK. The ranker consists of decision trees that correct the weighted sum of
features: LambdaMART training starts from the scores of this sum. Figures are cross-fitted by
repository; a copy with renamed identifiers counts as its original. Synthetic questions and the
voice "other" (see `ranking_examples`) are used only for training. Queries without detail, which
merely name a topic, are neither used for training nor reordered.

The output folder gets `trees.npz` and `calibration.json` (see `calibration`). To ship them, copy
them to the package's models under the name of the ranker.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Final

import lightgbm
from benchmarks.common.arguments import JSON, OUT, PUBLIC_BENCH, command_parser
from benchmarks.common.reports import write_json

from rootle.rank.rankers.learned_ranker_columns import COLUMNS
from rootle.rank.rankers.tree_ensemble import save_trees
from training.arguments import LABEL_CHECKOUTS, LARGE, RENAMED, SYNTHETIC, WORK_DIR
from training.ranker.boosting import RankingGroup, booster_trees, train_trees
from training.ranker.calibration import collect_signals, fit_voices
from training.ranker.cross_fitting import (
    EVALUATED,
    TrainingExample,
    cross_fit,
    mean_first_hit,
    mean_ndcg,
    prepare,
    rank_evaluated,
)
from training.ranker.ranking_examples import Source, Voice, cached_examples
from training.ranker.tree_arrays import to_arrays

# The weight of a query, relative to a question of the public benchmark. The queries that a program
# composes from the public questions (voice "other") name their answer too often, so they weigh
# less.
WEIGHTS: Final[Mapping[tuple[Source, Voice], float]] = {
    ("bench", "user"): 1.0,
    ("bench", "agent"): 1.0,
    ("bench", "other"): 0.3,
    ("labels", "user"): 2.0,
    ("labels", "agent"): 1.0,
    ("labels", "other"): 0.3,
    ("renamed", "user"): 1.0,
    ("renamed", "agent"): 1.0,
    ("renamed", "other"): 0.5,
    ("large", "user"): 2.0,
    ("large", "agent"): 1.0,
    ("synthetic", "user"): 1.0,
    ("synthetic", "agent"): 1.0,
}
VOICES: Final[tuple[Voice, ...]] = ("user", "agent")


def main() -> None:
    args = parse_arguments()
    examples = [prepare(example) for example in cached_examples(args)]
    trainable = sum(bool(one.relevance.any()) for one in examples)
    print(f"{len(examples)} questions, {trainable} with an answer among the candidates")
    rankings = rank_evaluated(examples, cross_fit(examples, train))
    report: dict[str, Any] = {}
    for source, voice in product(EVALUATED, VOICES):
        name = source if voice == "user" else f"{source}, {voice}"
        report[name] = {
            ranker: mean_ndcg(ranked, source, voice) for ranker, ranked in rankings.items()
        }
        report[f"first hit of {name}"] = {
            ranker: mean_first_hit(ranked, source, voice) for ranker, ranked in rankings.items()
        }
    calibrations = {}
    for ranker, ranked in rankings.items():
        signals = [collect_signals(example, order) for example, order in ranked if order.order]
        calibrations[ranker], report[f"calibration of {ranker}"] = fit_voices(signals)
    for name, figures in report.items():
        print(name, json.dumps(figures))
    trees = to_arrays(booster_trees(train(examples)), COLUMNS)
    args.out.mkdir(parents=True, exist_ok=True)
    save_trees(args.out / "trees.npz", trees)
    write_json(args.out / "calibration.json", calibrations)
    size = (args.out / "trees.npz").stat().st_size
    print(f"{len(trees.value)} trees, depth {trees.depth}, {size / 1000:.0f} kB")
    write_json(args.json, report)


def parse_arguments() -> argparse.Namespace:
    sources = (
        PUBLIC_BENCH.with_settings(required=True),
        LABEL_CHECKOUTS.with_settings(required=True),
        SYNTHETIC,
        WORK_DIR,
    )
    return command_parser(__doc__, *sources, RENAMED, LARGE, OUT, JSON).parse_args()


def train(examples: Sequence[TrainingExample]) -> lightgbm.Booster:
    """Return trees trained on the questions that have detail and an answer among the candidates."""
    return train_trees(training_groups(examples))


def training_groups(examples: Sequence[TrainingExample]) -> list[RankingGroup]:
    """Return the questions that have detail and an answer among the candidates, with weights."""
    return [
        RankingGroup(
            one.features,
            one.relevance,
            one.initial_scores,
            WEIGHTS[one.example.source, one.example.voice],
        )
        for one in examples
        if one.detail and one.relevance.any()
    ]


if __name__ == "__main__":
    main()
