"""How well questions without an answer can be told from others, and what the limit is.

    python -m training.ranker.abstention_analysis --bench BENCH REPOS --labels CHECKOUTS --synthetic DIR --work WORK
        [--json FILE]

The arguments are those of `ranker/train_ranker.py`, whose WORK has everything that the tune part needs.
Of the tune part no chance comes from trees or a calibration that saw the repository; of the test
part the chances are those that ship, with thresholds that were set on the tune part. Beside the
questions that have an answer stand those that were answered, in the lines of the first ten results:
to refuse the others is right, for their answer is not shown.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from benchmarks.common.labels import LABELS, Label, read_labels
from benchmarks.quality.abstention import (
    GROUPS,
    REFUSED,
    WANTED,
    Said,
    auc_for,
    mean,
    row_of,
    told_by_hits,
)
from benchmarks.quality.labelled_questions import first_lines, overlaps, ranks_of
from benchmarks.quality.public_benchmark import TOP_K, found

from rootle import App, SearchQuery, open_app
from rootle.rank.confidence import estimate_confidence, shipped_calibration
from rootle.rank.rankers.learned import rank_learned, shipped_trees
from rootle.rank.ranking_inputs import Floats, RankingInputs
from training.ranker.calibration import Signals, chance, fitted_answer, signals_of
from training.ranker.ranking_examples import Asker, is_met
from training.ranker.train_ranker import cross_fitted, example_of, gathered, orders_of


def main() -> None:
    args = parse_arguments()
    parts = {"tune, cross-fitted": of_tune(args), "test": list(of_test(args))}
    tune = parts["tune, cross-fitted"]
    report: dict = {"aucWanted": auc_for(WANTED, REFUSED[0])}
    print(f"80 % at 5 % is an area of {report['aucWanted']:.3f} where both are bell curves alike")
    for part, said in parts.items():
        report[part] = rows = [row_of(name, said, tune) for name in GROUPS]
        answered = mean([one.is_answered for one in said if one.has_answer])
        by_lot = told_by_hits(answered, REFUSED[0])
        print(f"{part}: {answered:.1%} of the questions with an answer are answered; who knew no "
              f"more than that would recognise {by_lot:.0%} at 5 %")  # fmt: skip
        for row in rows:
            print_row(row)
    if args.json:
        args.json.write_text(json.dumps(report, indent=1) + "\n")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--bench", type=Path, nargs=2, required=True, metavar=("BENCH", "REPOS"))
    parser.add_argument("--labels", type=Path, required=True)
    parser.add_argument("--synthetic", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def of_tune(args: argparse.Namespace) -> list[Said]:
    """The tune part, each question by trees and a calibration that saw nothing of its project."""
    examples = [example_of(asked) for asked in gathered(args)]
    learned = orders_of(examples, cross_fitted(examples))["learned"]
    signals = [signals_of(asked, ranked, is_met) for asked, ranked in learned if ranked.order]
    labels = [one for one in signals if one.source == "labels"]
    said = []
    for name in sorted({one.repository for one in labels}):
        answer = fitted_answer([one for one in labels if one.repository != name])
        said += [said_of(one, answer) for one in labels if one.repository == name]
    return said


def said_of(one: Signals, answer: Floats) -> Said:
    value = float(chance(one.of_question[None, :], answer)[0])
    return Said(one.repository, value, one.is_answerable, bool(one.is_right.any()))


def of_test(args: argparse.Namespace) -> Iterator[Said]:
    """The test part as it is answered by what ships."""
    for repo in json.loads((LABELS / "repositories.json").read_text()):
        if repo["split"] == "test":
            root, index_dir = args.labels / repo["name"], args.work / "labels" / repo["name"]
            with open_app(root, index_dir=index_dir) as app:
                app.index()
                asker = Asker(app)
                for label in read_labels(repo["name"]):
                    yield Said(
                        label.repository,
                        shipped_chance(asker.ask(label.query)[0]),
                        bool(label.targets),
                        is_answered(app, label),
                    )


def shipped_chance(evidence: RankingInputs) -> float:
    ranked = rank_learned(evidence, shipped_trees())
    return estimate_confidence(evidence, ranked, shipped_calibration("learned")).chance


def is_answered(app: App, label: Label) -> bool:
    results = app.search(SearchQuery(label.query, limit=TOP_K)).results
    return bool(ranks_of(label, [first_lines(found(one)) for one in results], overlaps))


def print_row(row: dict) -> None:
    low, high = row["auc95"]
    print(f"  {row['group']} ({row['kept']}, and {row['others']} without): area {row['auc']:.3f} "
          f"({low:.3f} to {high:.3f})")  # fmt: skip
    own = "  ".join(f"{value:.0%} at {level}" for level, value in row["recognisedAt"].items())
    print(f"    recognised, thresholds of its own: {own}")
    at = "  ".join(
        f"{one['recognised']:.0%} at {one['refused']:.0%}" for one in row["atTuneThresholds"]
    )
    print(f"    thresholds of the tune part: {at}")


if __name__ == "__main__":
    main()
