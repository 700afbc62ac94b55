"""Search quality on questions that history asks: which files did the next commit change?

    python -m benchmarks.history.changed_files CLONES WORK [--only tmux,viper] [--split train|held-out]
        [--limit N] [--adapter NAME=COMMAND]... [--json FILE]

CLONES holds a clone with its full history for each of `history/repositories.json`. For every
question of `history/commit_questions.py` the commit's parent is laid out in WORK, rootle's index is
brought up to date, and the words of the commit are asked. Recall@10 is the share of the files that
the commit changed among the files of ten results, "beside tests" the same over those that are no
tests. Figures are averaged over the questions of a repository, then over repositories; their 95 %
intervals come from drawing repositories with replacement. Plain BM25 (`common/bm25.py`, the best window
of each file) answers beside rootle, and each `--adapter` as `benchmarks/quality/public_benchmark.py` describes; its
command runs once a question.
"""

from __future__ import annotations

import argparse
import json
import logging
import statistics
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.common.bm25 import Bm25
from benchmarks.history.commit_questions import (
    CommitQuestion,
    HistoryError,
    git,
    is_test,
    names_a_file,
    questions_of,
)
from benchmarks.quality.public_benchmark import OURS, TOP_K, AdapterError, adapters_of, ask_adapter
from rootle import App, Config, SearchQuery, open_app
from rootle.errors import IndexStorageError

REPOSITORIES = Path(__file__).with_name("repositories.json")
SPLITS = ("train", "held-out")
FLOOR = "bm25"
RECALLS = ("recall", "besideTests")
METRICS = (*RECALLS, "hit1", "mrr")
DRAWS = 10_000


def main() -> None:
    args = parse_arguments()
    logging.getLogger("rootle").setLevel(logging.ERROR)  # else the same remark at every commit
    rows = []
    for repo in wanted_repositories(args.only, args.split):
        try:
            row = row_of(repo, args)
        except HistoryError as error:
            hint = f"{args.clones / repo['name']} should be a clone of {repo['url']}"
            print(f"{repo['name']}: {error}; {hint}", file=sys.stderr)
            continue
        rows.append(row)
        for name, figures in row["systems"].items():
            ours = name == OURS
            print(row_text(repo["name"] if ours else "", name, figures), flush=True)
    if not rows:
        sys.exit("no questions could be asked")
    report = {"summary": summaries(rows), **facts(rows), "repositories": rows}
    for split, systems in report["summary"].items():
        for name, figures in systems.items():
            label = f"{split}, {figures['repositories']} repos"
            print(row_text(label, name, figures))
            print(interval_text(figures["compared"], name))
    print(
        f"{report['questions']} questions, {report['filesPerQuestion']:.1f} files each; "
        f"{report['namesAFile']:.0%} name a wanted file; {report['seconds']:.0f} s"
    )
    if args.json:
        args.json.write_text(json.dumps(report, indent=1) + "\n")


def row_of(repo: dict, args: argparse.Namespace) -> dict:
    """The figures of one repository. Raises HistoryError where its history gives no question."""
    clone = args.clones / repo["name"]
    started = time.perf_counter()
    questions = questions_of(clone, repo["revision"], args.limit)
    if not questions:
        raise HistoryError("no commit makes a question")
    found = ask_all(clone, args.work / repo["name"], questions, args.adapters)
    return {**repo, **scored(questions, found), "seconds": time.perf_counter() - started}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("clones", type=Path)
    parser.add_argument("work", type=Path, help="gets a work tree and an index a repository")
    parser.add_argument("--only", default="")
    parser.add_argument("--split", choices=SPLITS)
    parser.add_argument("--limit", type=int, default=15, help="questions a repository")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--adapter", action="append", default=[], metavar="NAME=COMMAND")
    args = parser.parse_args()
    args.adapters = adapters_of(args.adapter, parser, taken=(OURS, FLOOR))
    return args


def wanted_repositories(only: str, split: str | None) -> list[dict]:
    listed = json.loads(REPOSITORIES.read_text())
    wanted = set(filter(None, only.split(",")))
    if unknown := wanted - {repo["name"] for repo in listed}:
        sys.exit(f"not in {REPOSITORIES.name}: {', '.join(sorted(unknown))}")
    return [
        repo
        for repo in listed
        if (not wanted or repo["name"] in wanted) and split in (None, repo["split"])
    ]


def answer_history(
    clone: Path, work: Path, questions: Iterable[CommitQuestion], config: Config | None = None
) -> Iterator[tuple[CommitQuestion, App]]:
    """Each question with an app on the tree that it is asked of, its index up to date.

    The same app and the same tree (`app.root`) serve all of them, so an answer has to be had before
    the next one is taken. In the order of time little changes from one to the next.
    """
    tree = open_tree(clone, work / "tree")
    with open_app(tree, index_dir=work / "index", config=config) as app:
        for question in questions:
            check_out(tree, question.parent)
            app.index()
            yield question, app


def open_tree(clone: Path, tree: Path) -> Path:
    """A repository that borrows the clone's objects, so that the clone itself stays untouched."""
    if not (tree / ".git").exists():
        tree.parent.mkdir(parents=True, exist_ok=True)
        git(Path(), "clone", "-q", "--shared", "--no-checkout", str(clone.resolve()), str(tree))
    return tree


def check_out(tree: Path, revision: str) -> None:
    """Make the tree that of a commit and nothing else, but for files whose content is lacking.

    `git checkout` would give up at the first of those; so they are taken from git's index first.
    """
    git(tree, "update-ref", "--no-deref", "HEAD", revision)
    git(tree, "read-tree", "--reset", revision)
    lacking = "".join(f"{path}\0" for path in lacking_files(tree))
    git(tree, "update-index", "--force-remove", "-z", "--stdin", given=lacking)
    git(tree, "clean", "-ffdxq")
    git(tree, "checkout-index", "--all", "--force", "--quiet", "--index")


def lacking_files(tree: Path) -> list[str]:
    entries = git(tree, "ls-files", "-z", "--stage").split("\0")
    objects = {}  # path -> object, without submodules, which are no objects of ours
    for entry in filter(None, entries):
        facts, _, path = entry.partition("\t")
        mode, name, _ = facts.split()
        if mode != "160000":
            objects[path] = name
    asked = "".join(f"{name}\n" for name in sorted(set(objects.values())))
    told = git(tree, "cat-file", "--batch-check", given=asked).splitlines()
    missing = {line.split()[0] for line in told if line.endswith(" missing")}
    return [path for path, name in objects.items() if name in missing]


def ask_all(
    clone: Path, work: Path, questions: Sequence[CommitQuestion], adapters: Mapping[str, str]
) -> dict[str, list[list[str]]]:
    """The files that each system found, best first, question by question."""
    found: dict[str, list[list[str]]] = {name: [] for name in (OURS, FLOOR, *adapters)}
    floor = Bm25()
    for question, app in answer_history(clone, work, questions):
        found[OURS].append(ask_rootle(app, question))
        floor.read(app.root)
        windows = floor.search(question.text, TOP_K, per_file=True)
        found[FLOOR].append([window.path for window in windows])
        for name in [name for name in adapters if name in found]:
            try:
                answer = ask_adapter(adapters[name], app.root, [{"query": question.text}])[0]
            except AdapterError as error:
                print(f"{work.name}: {name}: {error}", file=sys.stderr)
                del found[name]
                continue
            found[name].append([result.path for result in answer.results])
    return found


def ask_rootle(app: App, question: CommitQuestion) -> list[str]:
    query = SearchQuery(question.text, limit=TOP_K)
    try:
        response = app.search(query)
    except IndexStorageError as error:  # no figure, but a bug that must not go unseen
        print(f"{question.parent[:12]}: made again: {error}", file=sys.stderr)
        app.index(rebuild=True)
        response = app.search(query)
    return [result.file_path for result in response.results]


def scored(questions: Sequence[CommitQuestion], found: Mapping[str, list[list[str]]]) -> dict:
    """The figures of each system on one repository, and every question with its ranks."""
    asked = []
    for place, question in enumerate(questions):
        ranks = {name: ranks_of(question.files, answers[place]) for name, answers in found.items()}
        asked.append(
            {
                "commit": question.commit,
                "text": question.text,
                "files": question.files,
                "namesAFile": names_a_file(question),
                "ranks": ranks,
            }
        )
    return {"systems": {name: figures_of(asked, name) for name in found}, "questions": asked}


def ranks_of(files: Sequence[str], results: Sequence[str]) -> list[int | None]:
    """The rank of each wanted file; a system that names a file twice has wasted a result."""
    return [results.index(path) + 1 if path in results else None for path in files]


def figures_of(asked: Sequence[dict], name: str) -> dict[str, float | None]:
    ranks = [question["ranks"][name] for question in asked]
    best = [min(filter(None, of_one), default=None) for of_one in ranks]
    beside_tests = [
        [rank for path, rank in zip(question["files"], of_one, strict=True) if not is_test(path)]
        for question, of_one in zip(asked, ranks, strict=True)
    ]
    return {
        "recall": mean_recall(ranks),
        "besideTests": mean_recall([of_one for of_one in beside_tests if of_one]),
        "hit1": statistics.mean(rank == 1 for rank in best),
        "mrr": statistics.mean(1 / rank if rank else 0.0 for rank in best),
    }


def mean_recall(ranks: Sequence[Sequence[int | None]]) -> float | None:
    found = [statistics.mean(rank is not None for rank in of_one) for of_one in ranks]
    return statistics.mean(found) if found else None


def summaries(rows: Sequence[dict]) -> dict[str, dict]:
    """Split -> system -> means over repositories, with intervals and the ratio to the floor."""
    found: dict[str, dict] = {}
    splits = [split for split in SPLITS if split in {row["split"] for row in rows}]
    for split in splits + ["all"] * (len(splits) > 1):
        there = [row for row in rows if split in (row["split"], "all")]
        names = {name: None for row in there for name in row["systems"]}  # in order
        found[split] = {name: summary(there, name) for name in names}
    return found


def summary(rows: Sequence[dict], name: str) -> dict:
    rows = [row for row in rows if name in row["systems"]]
    means = {}
    for key in METRICS:
        values = [row["systems"][name][key] for row in rows]
        means[key] = statistics.mean([value for value in values if value is not None] or [0.0])
    compared = {key: compare_to_floor(rows, name, key) for key in RECALLS}
    return {"repositories": len(rows), **means, "compared": compared}


def compare_to_floor(rows: Sequence[dict], name: str, key: str) -> dict:
    """How far a mean and its ratio to the floor's move when other repositories are drawn."""
    pairs = [(row["systems"][name][key], row["systems"][FLOOR][key]) for row in rows]
    values = np.array([pair for pair in pairs if None not in pair] or [(0.0, 0.0)])
    # The same draws for both, because a repository is hard or easy for every system alike.
    drawn = np.random.default_rng(0).integers(len(values), size=(DRAWS, len(values)))
    ours, floor = values[drawn].mean(axis=1).T
    mean, mean_of_floor = values.mean(axis=0)
    return {
        "interval": interval(ours),
        "timesFloor": mean / mean_of_floor if mean_of_floor else None,
        "timesFloorInterval": interval(ours[floor > 0] / floor[floor > 0]),
    }


def interval(values: np.ndarray) -> list[float] | None:
    """The middle 95 % of what the draws gave."""
    return np.percentile(values, [2.5, 97.5]).tolist() if len(values) else None


def facts(rows: Sequence[dict]) -> dict[str, float]:
    asked = [question for row in rows for question in row["questions"]]
    return {
        "questions": len(asked),
        "filesPerQuestion": statistics.mean(len(question["files"]) for question in asked),
        "namesAFile": statistics.mean(question["namesAFile"] for question in asked),
        "seconds": sum(row["seconds"] for row in rows),
    }


def row_text(label: str, name: str, figures: Mapping[str, float | None]) -> str:
    beside = figures["besideTests"]
    return (
        f"{label:22} {name:8} recall@10 {figures['recall']:.3f}"
        f"  beside tests {'    -' if beside is None else f'{beside:.3f}'}"
        f"  hit@1 {figures['hit1']:.2f}  MRR {figures['mrr']:.3f}"
    )


def interval_text(compared: Mapping[str, Mapping], name: str) -> str:
    """What the draws gave, on a line for each of the two recalls."""
    lines = []
    for key, label in zip(RECALLS, ("recall@10", "beside tests"), strict=True):
        (low, high), times = compared[key]["interval"], compared[key]["timesFloor"]
        line = f"{'':31} {label} {low:.3f} to {high:.3f}"
        if name != FLOOR and times is not None:
            low, high = compared[key]["timesFloorInterval"]
            line += f", {times:.2f} x {FLOOR} ({low:.2f} to {high:.2f})"
        lines.append(line)
    return "\n".join(lines)


if __name__ == "__main__":
    main()
