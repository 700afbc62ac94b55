"""One table of every system that installs from PyPI and runs offline, with 95 % intervals.

    python -m benchmarks.quality.system_comparison LABEL_REPOS --bench BENCH BENCH_REPOS --answers DIR
        --envs DIR --model DIR [--install] [--only rootle] [--write docs/research/comparison.md]

LABEL_REPOS and BENCH_REPOS are the checkouts of `quality/labelled_questions.py` and `quality/public_benchmark.py`; either benchmark is
counted as that script counts it. `--install` makes an environment for each system below `--envs`;
`--model` is a folder with a static model, for the systems that have none of their own here.

Every answer is kept in `--answers`, a file for each system and benchmark, so that corrected labels
need no new run: asked is what has no answer there. rootle is always asked again; `--only rootle`
asks nobody else, `--only nobody` counts what is kept. The intervals draw repositories, then
questions within each, 2,000 times; the last column does that to the differences of the same
questions. `--write` puts the tables between the two marks of a Markdown file.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.common.labels import LABELS, Label, read_labels
from benchmarks.peers.systems import SYSTEMS
from benchmarks.quality import labelled_questions as labelled
from benchmarks.quality import public_benchmark as quality
from benchmarks.quality.answer_cache import Answers, Repository
from benchmarks.quality.labelled_questions import Judged, figures_of, interval, mean
from benchmarks.quality.public_benchmark import OURS, AdapterError, Answer, ask_adapter

NOBODY = "nobody"
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"


Judgement = dict[str, object]  # by repository


def main() -> None:
    args = parse_arguments()
    labels = label_repositories(args.repos)
    bench = bench_repositories(*args.bench) if args.bench else []
    kept = Answers(args.answers)
    if not args.only:
        ask_peers(kept, (*labels, *bench), args)
    if args.only != NOBODY:
        for repo in (*labels, *bench):
            kept.put(OURS, repo, ask_rootle(repo))
    text = "\n".join(
        f"**{title}** ({len(repos)} repositories)\n\n{rows(judgements(kept, repos))}"
        for title, repos, rows in (
            ("Our labels, test part", [one for one in labels if one.part == "test"], label_rows),
            ("Our labels, tune part", [one for one in labels if one.part == "tune"], label_rows),
            ("Public benchmark, development half", bench, bench_rows),
        )
        if repos
    )
    print(text)
    if args.write:
        page = args.write.read_text(encoding="utf-8")
        before, after = page.split(BEGIN)[0], page.split(END)[1]
        args.write.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}", encoding="utf-8")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("repos", type=Path)
    parser.add_argument("--bench", type=Path, nargs=2, metavar=("BENCH", "REPOS"))
    parser.add_argument("--answers", type=Path, required=True)
    parser.add_argument("--envs", type=Path, default=Path("envs"))
    parser.add_argument("--model", type=Path, default=Path("model"))
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--only", choices=[OURS, NOBODY], help="ask no more than that")
    parser.add_argument("--write", type=Path, metavar="PAGE")
    return parser.parse_args()


def judgements(kept: Answers, repos: Sequence[Repository]) -> dict[str, Judgement]:
    """What the answers of each system were worth, of those that answered about all of them."""
    judged = {}
    for name in (OURS, *(system.name for system in SYSTEMS)):
        missing = [repo.name for repo in repos if not kept.has(name, repo)]
        if missing:
            print(f"{name} is left out: no answers about {', '.join(missing)}", file=sys.stderr)
        else:
            judged[name] = {repo.name: repo.judge(kept.of(name, repo)) for repo in repos}
    return judged


def label_repositories(repos: Path) -> list[Repository]:
    """Our own questions that have an answer."""
    found = []
    for entry in json.loads((LABELS / "repositories.json").read_text()):
        asked = [one for one in read_labels(entry["name"]) if one.targets]
        found.append(_label_repository(entry, repos / entry["name"], asked))
    return found


def _label_repository(entry: dict, root: Path, asked: list[Label]) -> Repository:
    def judge(answers: Sequence[Answer]) -> list[Judged]:
        return labelled.judge(root, asked, answers)

    questions = tuple(one.query for one in asked)
    return Repository(entry["name"], entry["split"], root, questions, judge)


def bench_repositories(bench: Path, repos: Path) -> list[Repository]:
    found = []
    for entry in json.loads((bench / "repos.json").read_text()):
        root = repos / entry["name"] / (entry.get("benchmark_root") or "")
        asked = json.loads((bench / "annotations" / f"{entry['name']}.json").read_text())
        found.append(_bench_repository(entry, root, asked))
    return found


def _bench_repository(entry: dict, root: Path, asked: list[dict]) -> Repository:
    def judge(answers: Sequence[Answer]) -> dict:
        return quality.score(entry, root, asked, answers)

    questions = tuple(one["query"] for one in asked)
    return Repository(entry["name"], "bench", root, questions, judge)


def ask_peers(kept: Answers, repos: Sequence[Repository], args: argparse.Namespace) -> None:
    """Ask every system what it has not answered yet, one repository after the other."""
    if args.install:
        for system in SYSTEMS:
            system.install(args.envs)
    for repo in repos:
        for system in SYSTEMS:
            if kept.has(system.name, repo):
                continue
            command = system.command(args.envs, args.model)
            asked = [{"query": question} for question in repo.questions]
            try:
                kept.put(system.name, repo, ask_adapter(command, repo.root, asked))
            except AdapterError as error:
                print(f"{repo.name}: {system.name}: {error}", file=sys.stderr)
        print(f"asked about {repo.name}", file=sys.stderr)


def ask_rootle(repo: Repository) -> list[Answer]:
    asked = [{"query": question} for question in repo.questions]
    with tempfile.TemporaryDirectory() as folder:
        return quality.ask_rootle(repo.root, asked, Path(folder))[0]


def label_rows(by_system: dict[str, Judgement]) -> str:
    """A Markdown table over our labels, the best first."""
    rows = {}
    spans = {
        name: [[one.ndcg(one.by_span) for one in of] for of in repos.values()]
        for name, repos in by_system.items()
    }
    for name, repos in by_system.items():
        f = figures_of(repos)
        files = [[one.ndcg(one.by_file) for one in of] for of in repos.values()]
        rows[name] = [
            with_interval(f["ndcgBySpan"], spans[name]), with_interval(f["ndcgByFile"], files),
            f"{f['hit1BySpan']:.2f}", f"{f['hit10BySpan']:.2f}", f"{f['hardHit10BySpan']:.2f}",
            ahead(spans, name),
        ]  # fmt: skip
    heads = ("NDCG@10 by span (95 %)", "by file (95 %)", "hit@1", "hit@10", "hard: hit@10")
    return table(heads, rows, {name: mean(map(mean, of)) for name, of in spans.items()})


def bench_rows(by_system: dict[str, Judgement]) -> str:
    """A Markdown table over the public benchmark, the best first."""
    scores = {name: [one["scores"] for one in repos.values()] for name, repos in by_system.items()}
    rows = {
        name: [
            with_interval(mean(map(mean, scores[name])), scores[name]),
            f"{mean(one['hit1'] for one in repos.values()):.2f}",
            f"{mean(one['hit10'] for one in repos.values()):.2f}",
            ahead(scores, name),
        ]
        for name, repos in by_system.items()
    }
    heads = ("NDCG@10 (95 %)", "hit@1", "hit@10")
    return table(heads, rows, {name: mean(map(mean, of)) for name, of in scores.items()})


def with_interval(value: float, by_repo: Sequence[Sequence[float]]) -> str:
    low, high = interval(by_repo)
    return f"{value:.3f} ({low:.3f}–{high:.3f})"


def ahead(scores: dict[str, list], name: str) -> str:
    """How far rootle is ahead of a system, question by question."""
    if name == OURS:
        return ""
    differences = [
        [ours - theirs for ours, theirs in zip(*pair, strict=True)]
        for pair in zip(scores[OURS], scores[name], strict=True)
    ]
    low, high = interval(differences)
    return f"{mean(map(mean, differences)):+.3f} ({low:+.3f} to {high:+.3f})"


def table(heads: Sequence[str], rows: dict[str, list[str]], order: dict[str, float]) -> str:
    about = {system.name: system.about for system in SYSTEMS}
    lines = [f"| system | {' | '.join(heads)} | rootle is ahead by |"]
    lines.append("| --- " * (len(heads) + 2) + "|")
    for name in sorted(rows, key=lambda name: -order[name]):
        label = f"**{name}**" if name == OURS else f"{name} ({about[name]})"
        lines.append(f"| {label} | {' | '.join(rows[name])} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
