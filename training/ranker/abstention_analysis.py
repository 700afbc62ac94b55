"""Recognition of unanswerable questions, and its theoretical limits.

    python -m training.ranker.abstention_analysis --bench BENCH REPOS --labels CHECKOUTS
        --synthetic DIR --work WORK [--json FILE]

The options are those of `train_ranker`; its WORK folder contains all examples of the tune split. On
the tune split, every probability comes from a tree model and a calibration that were fitted without
the repository of the question. On the test split, the probabilities are those of the shipped model,
with thresholds set on the tune split. Unanswerable questions are compared with all answerable ones,
and with those that the first ten results answer. Refusing an answerable question that the first ten
results do not answer is also correct, because its answer is not shown.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.common.arguments import JSON, PUBLIC_BENCH, command_parser
from benchmarks.common.labels import (
    SHOWN_LINES,
    Label,
    labeled_repositories,
    overlaps_target,
)
from benchmarks.common.metrics import match_targets
from benchmarks.common.reports import format_interval, write_json
from benchmarks.common.rootle_search import indexed_app, search_hits
from benchmarks.common.statistics import mean
from benchmarks.quality.abstention import (
    GROUPS,
    REFUSAL_LEVELS,
    WANTED_RECOGNITION,
    Prediction,
    recognition_by_hits,
    required_auc,
    separation,
)

from rootle import App
from rootle.rank.confidence import detect_voice, estimate_confidence, shipped_calibration
from rootle.rank.rankers.learned_ranker import rank_learned, shipped_trees
from rootle.rank.ranking_inputs import RankingInputs
from training.arguments import LABEL_CHECKOUTS, LARGE, RENAMED, SYNTHETIC, WORK_DIR
from training.ranker.calibration import (
    Signals,
    answer_probability,
    collect_signals,
    fit_answer_model,
)
from training.ranker.cross_fitting import cross_fit, prepare, rank_evaluated
from training.ranker.ranking_examples import InputRecorder, cached_examples
from training.ranker.train_ranker import train


def main() -> None:
    args = parse_arguments()
    tune = cross_fitted_predictions(collect_tune_signals(args))
    splits = {"tune, cross-fitted": tune, "test": list(shipped_predictions(args))}
    wanted = required_auc(WANTED_RECOGNITION, REFUSAL_LEVELS[0])
    print(
        f"recognizing {WANTED_RECOGNITION:.0%} at {REFUSAL_LEVELS[0]:.0%} refusals needs an AUC "
        f"of {wanted:.3f} if both groups are normal with equal variance"
    )
    report: dict[str, Any] = {"required_auc": wanted}
    for split, predictions in splits.items():
        report[split] = [separation(group, predictions, tune) for group in GROUPS]
        print(format_limit(split, predictions))
        for row in report[split]:
            print(format_separation(row))
    write_json(args.json, report)


def parse_arguments() -> argparse.Namespace:
    sources = (
        PUBLIC_BENCH.with_settings(required=True),
        LABEL_CHECKOUTS.with_settings(required=True),
        SYNTHETIC,
        WORK_DIR,
    )
    return command_parser(__doc__, *sources, RENAMED, LARGE, JSON).parse_args()


def collect_tune_signals(args: argparse.Namespace) -> list[Signals]:
    """Return the signals of the tune split, ranked by trees that had not seen the repository."""
    examples = [prepare(example) for example in cached_examples(args)]
    learned = rank_evaluated(examples, cross_fit(examples, train))["learned"]
    signals = [collect_signals(example, ranked) for example, ranked in learned if ranked.order]
    return [one for one in signals if one.source == "labels" and one.voice == "asked"]


def cross_fitted_predictions(signals: Sequence[Signals]) -> list[Prediction]:
    """Return predictions of calibrations that were fitted without the question's repository."""
    predictions = []
    for name in sorted({one.repository for one in signals}):
        model = fit_answer_model([one for one in signals if one.repository != name])
        predictions += [
            Prediction(
                name, answer_probability(one, model), one.is_answerable, bool(one.is_correct.any())
            )
            for one in signals
            if one.repository == name
        ]
    return predictions


def shipped_predictions(args: argparse.Namespace) -> Iterator[Prediction]:
    """Yield the predictions of the shipped model on the test split."""
    for repository in labeled_repositories(args.labels, "test"):
        with indexed_app(repository.root, args.work / "labels" / repository.name) as app:
            recorder = InputRecorder(app)
            for label in repository.labels:
                inputs, _ = recorder.search(label.query)
                yield Prediction(
                    label.repository,
                    shipped_probability(inputs),
                    bool(label.targets),
                    is_answered(app, label),
                )


def shipped_probability(inputs: RankingInputs) -> float:
    """Return the shipped model's probability that a question has an answer."""
    ranked = rank_learned(inputs, shipped_trees())
    return estimate_confidence(
        inputs, ranked, shipped_calibration("learned", detect_voice(inputs))
    ).chance


def is_answered(app: App, label: Label) -> bool:
    """Return whether the lines of the first ten results answer a question."""
    hits = [hit.first_lines(SHOWN_LINES) for hit in search_hits(app, label.query)]
    return bool(match_targets(label.targets, hits, overlaps_target))


def format_limit(split: str, predictions: Sequence[Prediction]) -> str:
    answered = mean(one.is_answered for one in predictions if one.is_answerable)
    limit = recognition_by_hits(answered, REFUSAL_LEVELS[0])
    return (
        f"{split}: the first ten results answer {answered:.1%} of the answerable questions; "
        f"this knowledge alone would recognize {limit:.0%} at {REFUSAL_LEVELS[0]:.0%} refusals"
    )


def format_separation(row: Mapping[str, Any]) -> str:
    """Return the figures of one group of questions."""
    interval = format_interval(row["auc_interval"], separator=" to ")
    own = "  ".join(f"{value:.0%} at {level}" for level, value in row["recognized_at"].items())
    tuned = "  ".join(
        f"{one['recognized']:.0%} at {one['refused']:.0%}" for one in row["at_tune_thresholds"]
    )
    return (
        f"  {row['group']} ({row['kept']}, and {row['unanswerable']} unanswerable ones): "
        f"AUC {row['auc']:.3f} {interval}\n"
        f"    recognized, thresholds set here: {own}\n"
        f"    recognized, thresholds of the tune split: {tuned}"
    )


if __name__ == "__main__":
    main()
