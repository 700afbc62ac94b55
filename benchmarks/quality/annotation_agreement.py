"""What the second reading of the labels changed, and what a reader scores against another.

    python -m benchmarks.quality.annotation_agreement REPOS [--split tune|test] [--indexes DIR] [--json FILE]

The first reading of 112 questions is in git's history of `labels/`, just before the commit that
brought the second. The places that the first reader noted are counted against the labels of today
as if they were a system's answer, and rootle and plain BM25 against either reading: the difference
is what labels that are not whole take from a system. The second reader had the first one's labels
in view, so agreement is no more than an upper bound of what two people find by themselves.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.common.bm25 import Bm25
from benchmarks.common.labels import LABELS, Label, labels_in, read_labels
from benchmarks.quality.labelled_questions import Judged, ask_rootle, judge, mean
from benchmarks.quality.public_benchmark import TOP_K, Answer, Found

# The commits that brought the first labels, and the second reading of what came after them.
FIRST_LABELS = "1caa1e6"
SECOND_READING = "62207db"


@dataclass(frozen=True)
class Reading:
    """One question as both readers left it."""

    first: Label
    second: Label

    @property
    def is_changed(self) -> bool:
        return set(map(frozenset, self.first.targets)) != set(map(frozenset, self.second.targets))

    @property
    def added(self) -> int:
        return len(spans_of(self.second) - spans_of(self.first))

    @property
    def dropped(self) -> int:
        return len(spans_of(self.first) - spans_of(self.second))


@dataclass(frozen=True)
class Figures:
    questions: int
    ndcg: float
    hit1: float
    hit10: float


def main() -> None:
    args = parse_arguments()
    readings: dict[str, list[Reading]] = {}
    found: dict[str, list[Judged]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for repo in json.loads((LABELS / "repositories.json").read_text()):
            if args.split in ("", repo["split"]):
                name = repo["name"]
                readings[name] = read_twice(name)
                index_dir = (args.indexes or Path(scratch)) / name
                for system, judged in judge_all(args.repos / name, readings[name], index_dir):
                    found.setdefault(system, []).extend(judged)
    every = [one for of_one in readings.values() for one in of_one]
    report = {
        "questions": len(every),
        "changed": sum(one.is_changed for one in every),
        "added": sum(one.added for one in every),
        "dropped": sum(one.dropped for one in every),
        "systems": {name: asdict(figures_of(judged)) for name, judged in found.items()},
    }
    print(f"{report['questions']} questions read twice, {report['changed']} changed: "
          f"{report['added']} places added, {report['dropped']} dropped")  # fmt: skip
    for name, row in report["systems"].items():
        print(f"{name:44} NDCG@10 by span {row['ndcg']:.3f}  hit@1 {row['hit1']:.2f}"
              f"  hit@10 {row['hit10']:.2f}")  # fmt: skip
    if args.json:
        args.json.write_text(json.dumps(report, indent=1) + "\n")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("repos", type=Path)
    parser.add_argument("--split", default="", choices=["", "tune", "test"])
    parser.add_argument("--indexes", type=Path, help="keep the indexes here for the next run")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def read_twice(name: str) -> list[Reading]:
    """The questions that the second reading was for, as they were before it and as they are now."""
    path = f"benchmarks/labels/{name}.jsonl"
    before = {one.query: one for one in labels_in(name, shown(f"{SECOND_READING}^:{path}"))}
    earlier = {one.query for one in labels_in(name, shown(f"{FIRST_LABELS}:{path}"))}
    return [
        Reading(before[now.query], now)
        for now in read_labels(name)
        if now.targets and now.query in before.keys() - earlier
    ]


def shown(place: str) -> str:
    command = ["git", "-C", str(LABELS), "show", place]
    done = subprocess.run(command, capture_output=True, encoding="utf-8")
    if done.returncode:
        sys.exit(f"{done.stderr.strip()}; it needs a clone of rootle with all its history")
    return done.stdout


def spans_of(label: Label) -> set:
    return {span for target in label.targets for span in target}


def judge_all(
    root: Path, readings: Sequence[Reading], index_dir: Path
) -> list[tuple[str, list[Judged]]]:
    first, second = [one.first for one in readings], [one.second for one in readings]
    ours, _, _ = ask_rootle(root, second, index_dir)
    floor = ask_bm25(root, second)
    return [
        ("the first reader, by today's labels", judge(root, second, list(map(answer_of, first)))),
        ("today's labels, by the first reader's", judge(root, first, list(map(answer_of, second)))),
        ("rootle, by today's labels", judge(root, second, ours)),
        ("rootle, by the first reader's", judge(root, first, ours)),
        ("plain BM25, by today's labels", judge(root, second, floor)),
        ("plain BM25, by the first reader's", judge(root, first, floor)),
    ]


def answer_of(label: Label) -> Answer:
    """What a reader noted, as an answer: the best place of each target, then the equivalents."""
    places = sorted(
        ((place, span) for target in label.targets for place, span in enumerate(target)),
        key=lambda one: one[0],
    )
    results = [Found(span.path, ((span.start_line, span.end_line),)) for _, span in places]
    return Answer(tuple(results[:TOP_K]), 0.0)


def ask_bm25(root: Path, labels: Sequence[Label]) -> list[Answer]:
    engine = Bm25()
    engine.read(root)
    return [
        Answer(
            tuple(
                Found(one.path, ((one.start_line, one.end_line),))
                for one in engine.search(label.query, TOP_K)
            ),
            0.0,
        )
        for label in labels
    ]


def figures_of(judged: Sequence[Judged]) -> Figures:
    return Figures(
        len(judged),
        mean(one.ndcg(one.by_span) for one in judged),
        mean(1 in one.by_span for one in judged),
        mean(bool(one.by_span) for one in judged),
    )


if __name__ == "__main__":
    main()
