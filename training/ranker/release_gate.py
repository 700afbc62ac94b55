"""Whether the learned ranker may ship: is it as good as `features` on what it has not seen?

    python -m training.ranker.release_gate --report FILE --histories CLONES --work WORK --model DIR [--commits 60]

FILE is what `ranker/train_ranker.py --json` wrote: its cross-fitted figures on the tune part of the labels
and on the benchmark's development half. The held-out histories are asked here, with the trees of
DIR. The exit status is 1 where `learned` is worse on the labels or on the histories, and the model
does not ship.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from rootle.rank.rankers.feature_sum import rank_files
from rootle.rank.rankers.gbdt import load_trees
from rootle.rank.rankers.learned import rank_learned
from rootle.rank.rankers.model_features import COLUMNS
from training.ranker.ranking_examples import Asked, of_histories

TOP = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--report", type=Path, required=True)
    parser.add_argument("--histories", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--commits", type=int, default=60, help="questions a history")
    args = parser.parse_args()
    report = json.loads(args.report.read_text())
    rows = {
        "labels, NDCG@10 by span, cross-fitted": report["labels"],
        "benchmark, NDCG@10, cross-fitted": report["bench"],
        "held-out histories, recall@10": of_held_out(args),
    }
    for name, figures in rows.items():
        print(f"{name:40} features {figures['features']:.4f}  learned {figures['learned']:.4f}")
    asked_for = [rows[name] for name in rows if not name.startswith("benchmark")]
    if any(figures["learned"] < figures["features"] for figures in asked_for):
        sys.exit("the learned ranker is worse: it does not ship")
    print("the learned ranker may ship")


def of_held_out(args: argparse.Namespace) -> dict[str, float]:
    forest = load_trees(args.model / "trees.npz", COLUMNS)
    found: dict[str, dict[str, list[float]]] = {"features": {}, "learned": {}}
    for asked in of_histories(args.histories, args.work, args.commits, "held-out"):
        for ranker, ranked in (
            ("features", rank_files(asked.evidence)),
            ("learned", rank_learned(asked.evidence, forest)),
        ):
            share = recall(asked, ranked.order)
            found[ranker].setdefault(asked.repository, []).append(share)
    return {
        ranker: statistics.mean(map(statistics.mean, of_one.values()))
        for ranker, of_one in found.items()
    }


def recall(asked: Asked, order: Sequence[int]) -> float:
    first = {asked.evidence.files.paths[at] for at in order[:TOP]}
    return statistics.mean(target[0][0] in first for target in asked.targets)


if __name__ == "__main__":
    main()
