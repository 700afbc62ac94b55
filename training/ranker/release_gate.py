"""Check that the learned ranker is at least as good as the ranker `features` on unseen data.

    python -m training.ranker.release_gate --report FILE --histories CLONES --work WORK --model DIR
        [--commits 60]

FILE is the report of `train_ranker --json`, with cross-fitted figures on the tune split of the
labels and on the development half of the public benchmark. The held-out histories are measured
here, with the trees in DIR. The exit status is 1 if the ranker `learned` is worse than `features`
on the labels or on the histories.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.common.arguments import COMMITS, HISTORIES, command_parser

from rootle.rank.rankers.features_ranker import rank_files
from rootle.rank.rankers.learned_ranker import rank_learned
from rootle.rank.rankers.learned_ranker_columns import COLUMNS
from rootle.rank.rankers.tree_ensemble import load_trees
from training.arguments import WORK_DIR
from training.ranker.ranking_examples import RankingExample, history_examples

TOP_K = 10

Figures = Mapping[str, float]  # by ranker


def main() -> None:
    args = parse_arguments()
    report = json.loads(args.report.read_text())
    labels, bench = report["labels"], report["bench"]
    histories = measure_histories(args)
    for name, figures in (
        ("labels, NDCG@10 by span, cross-fitted", labels),
        ("benchmark, NDCG@10, cross-fitted", bench),
        ("held-out histories, recall@10", histories),
    ):
        print(f"{name:40} features {figures['features']:.4f}  learned {figures['learned']:.4f}")
    if not may_release([labels, histories]):
        sys.exit("the learned ranker is worse than features: do not release it")
    print("the learned ranker may be released")


def parse_arguments() -> argparse.Namespace:
    commits = COMMITS.with_settings(default=60, help="questions per history (default: %(default)s)")
    parser = command_parser(__doc__, HISTORIES.with_settings(required=True), WORK_DIR, commits)
    parser.add_argument(
        "--report", type=Path, required=True, metavar="FILE", help="report of train_ranker"
    )
    parser.add_argument(
        "--model", type=Path, required=True, metavar="DIR", help="folder with trees.npz"
    )
    return parser.parse_args()


def may_release(criteria: Sequence[Figures]) -> bool:
    """Return whether the learned ranker is at least as good as `features` by every criterion."""
    return all(figures["learned"] >= figures["features"] for figures in criteria)


def measure_histories(args: argparse.Namespace) -> dict[str, float]:
    """Return the recall of both rankers on the held-out histories, averaged by repository."""
    trees = load_trees(args.model / "trees.npz", COLUMNS)
    recalls: dict[str, dict[str, list[float]]] = {
        "features": defaultdict(list), "learned": defaultdict(list)
    }  # fmt: skip
    for example in history_examples(args.histories, args.work, args.commits, "held-out"):
        for ranker, ranked in (
            ("features", rank_files(example.inputs)),
            ("learned", rank_learned(example.inputs, trees)),
        ):
            recalls[ranker][example.repository].append(file_recall(example, ranked.order))
    return {
        ranker: statistics.mean(map(statistics.mean, by_repository.values()))
        for ranker, by_repository in recalls.items()
    }


def file_recall(example: RankingExample, order: Sequence[int]) -> float:
    """Return the share of target files among the first ten."""
    first = {example.inputs.files.paths[file] for file in order[:TOP_K]}
    return statistics.mean(target[0][0] in first for target in example.targets)


if __name__ == "__main__":
    main()
