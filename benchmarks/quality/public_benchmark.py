"""Search quality on the public benchmark: NDCG@10 over its development half.

    python -m benchmarks.quality.public_benchmark BENCH REPOS [--only gin,flask] [--indexes DIR] [--json FILE]
        [--config FILE] [--adapter NAME=COMMAND]...

BENCH is the folder with `repos.json` and `annotations/`; REPOS holds one checkout a repository (see
`benchmarks/quality/clone_repos.py`). A target's rank is that of the first of ten results in its file, and
overlapping its lines where it has some; one result counts for one target; the ideal order has
every target, primary and secondary, at the top. Questions are averaged within a repository, then
repositories.

Each `--adapter` is another system, scored on the same questions: its command runs once for each
repository with `{root}` replaced by the folder to index, reads questions as JSON lines
(`{"query": …, "topK": 10}`), and prints for each a JSON line with its
`"results": [{"filePath": …, "startLine": …, "endLine": …}]`, paths relative to that folder, and
`"ms"`, the time it took. A line with `"meta"` may come first and is not looked at.
"""

from __future__ import annotations

import argparse
import json
import math
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rootle import SearchQuery, SearchResult, open_app
from rootle.config.loading import load_config

TOP_K = 10
OURS = "rootle"


class AdapterError(Exception):
    """Another system did not answer as it should."""


@dataclass(frozen=True)
class Found:
    """One result: a file and the lines of it that are shown."""

    path: str
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Answer:
    results: tuple[Found, ...]
    ms: float


def main() -> None:
    args = parse_arguments()
    wanted = set(filter(None, args.only.split(",")))
    rows: dict[str, list[dict]] = {OURS: [], **{name: [] for name in args.adapters}}
    with tempfile.TemporaryDirectory() as scratch:
        for repo in json.loads((args.bench / "repos.json").read_text()):
            if wanted and repo["name"] not in wanted:
                continue
            root = args.repos / repo["name"] / (repo.get("benchmark_root") or "")
            if not root.is_dir():
                print(f"{repo['name']}: no folder {root}", file=sys.stderr)
                continue
            annotations = args.bench / "annotations" / f"{repo['name']}.json"
            questions = json.loads(annotations.read_text())
            index_dir = (args.indexes or Path(scratch)) / repo["name"]
            answers, skipped = ask_rootle(root, questions, index_dir, args.config)
            row = score(repo, root, questions, answers) | {"skippedText": skipped}
            rows[OURS].append(row)
            print(row_text(row), flush=True)
            for name, command in args.adapters.items():
                try:
                    answers = ask_adapter(command, root, questions)
                except AdapterError as error:
                    print(f"{repo['name']}: {name}: {error}", file=sys.stderr)
                    continue
                rows[name].append(score(repo, root, questions, answers))
                print(row_text(rows[name][-1] | {"name": "", "language": name}), flush=True)
    if not rows[OURS]:
        sys.exit("none of these repositories is there")
    summaries = {name: summary(of_one) for name, of_one in rows.items() if of_one}
    for name, mean in summaries.items():
        label = f"{name}, {len(rows[name])} repos"
        print(row_text(mean | {"name": "mean", "language": label}))
    if args.json:
        ours = {"summary": summaries.pop(OURS), "repositories": rows[OURS]}
        others = {name: {"summary": summaries[name], "repositories": rows[name]}
                  for name in summaries}  # fmt: skip
        args.json.write_text(json.dumps({**ours, "others": others}, indent=1) + "\n")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("bench", type=Path)
    parser.add_argument("repos", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--indexes", type=Path, help="keep the indexes here for the next run")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--config", type=Path, help="settings to measure, in place of the defaults")
    parser.add_argument("--adapter", action="append", default=[], metavar="NAME=COMMAND")
    args = parser.parse_args()
    args.adapters = adapters_of(args.adapter, parser, taken=(OURS,))
    return args


def adapters_of(
    entries: Sequence[str], parser: argparse.ArgumentParser, taken: Sequence[str]
) -> dict[str, str]:
    """The commands of other systems by their names; a name that is taken is refused."""
    adapters = {}
    for entry in entries:
        name, _, command = entry.partition("=")
        if not name or "{root}" not in command or name in taken:
            parser.error(f"--adapter {entry!r}: expected NAME=COMMAND with {{root}} in it")
        adapters[name] = command
    return adapters


def ask_rootle(
    root: Path, questions: list, index_dir: Path, settings: Path | None = None
) -> tuple[list[Answer], float]:
    """The answers, and the share of the text that is beyond the limit for one file."""
    answers = []
    config = load_config(settings)[0] if settings else None
    with open_app(root, index_dir=index_dir, config=config) as app:
        app.index()
        for question in questions:
            started = time.perf_counter()
            results = app.search(SearchQuery(question["query"], limit=TOP_K)).results
            ms = (time.perf_counter() - started) * 1000
            answers.append(Answer(tuple(map(found, results)), ms))
        return answers, app.status().skipped_text_share


def found(result: SearchResult) -> Found:
    spans = [(result.start_line, result.end_line)]
    spans += [(span.start_line, span.end_line) for span in result.more_spans]
    return Found(result.file_path, tuple(spans))


def ask_adapter(command: str, root: Path, questions: list) -> list[Answer]:
    """The answers of another system, in order. Raises AdapterError where one is missing."""
    words = [word.replace("{root}", str(root.absolute())) for word in shlex.split(command)]
    asked = [json.dumps({"query": question["query"], "topK": TOP_K}) for question in questions]
    try:
        done = subprocess.run(words, input="\n".join(asked) + "\n", text=True, capture_output=True)
    except OSError as error:
        raise AdapterError(f"cannot be run: {error}") from error
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["no message"]
        raise AdapterError(f"exit code {done.returncode}: {said[-1]}")
    try:
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.strip()]
        answers = [answer_of(line) for line in lines if "meta" not in line]
    except (ValueError, KeyError, TypeError) as error:
        raise AdapterError(f"not an answer: {error!r}") from error
    if len(answers) != len(questions):
        raise AdapterError(f"{len(answers)} answers to {len(questions)} questions")
    return answers


def answer_of(line: dict) -> Answer:
    results = [
        Found(one["filePath"], ((one["startLine"], one["endLine"]),)) for one in line["results"]
    ]
    return Answer(tuple(results[:TOP_K]), line.get("ms") or 0.0)


def score(repo: dict, root: Path, questions: list, answers: Sequence[Answer]) -> dict:
    """The figures of one system on one repository."""
    scores, first, any_rank = [], [], []
    for question, answer in zip(questions, answers, strict=True):
        targets = [
            target(entry, root, (repo.get("benchmark_root") or ""))
            for entry in (*question["relevant"], *question["secondary"])
        ]
        ranks = target_ranks(answer.results, targets)
        scores.append(ndcg(ranks, len(targets)))
        first.append(1 in ranks)
        any_rank.append(bool(ranks))
    return {
        "name": repo["name"],
        "language": repo["language"],
        "questions": len(questions),
        "ndcg": statistics.mean(scores),
        "hit1": statistics.mean(first),
        "hit10": statistics.mean(any_rank),
        "ms": statistics.median(answer.ms for answer in answers),
        "scores": [round(value, 4) for value in scores],
    }


def summary(rows: Sequence[dict]) -> dict:
    """The means over the repositories; of the times the median."""
    keys = [key for key in ("ndcg", "hit1", "hit10", "skippedText") if key in rows[0]]
    means = {key: statistics.mean(row[key] for row in rows) for key in keys}
    return means | {"ms": statistics.median(row["ms"] for row in rows)}


def target(entry: str | dict, root: Path, benchmark_root: str) -> tuple[str, int, int]:
    """A target as (path relative to the indexed folder, first line, last line); 0, 0: any line."""
    if isinstance(entry, str):
        entry = {"path": entry}
    path = entry["path"]
    inside = path.removeprefix(f"{benchmark_root.rstrip('/')}/")
    start = entry.get("start_line") or entry.get("startLine") or entry.get("start") or 0
    end = entry.get("end_line") or entry.get("endLine") or entry.get("end") or 0
    return (inside if (root / inside).exists() else path, start, end)


def target_ranks(results: Sequence[Found], targets: list) -> set[int]:
    """The ranks at which targets are met; a result that meets two counts once."""
    ranks = set()
    for path, start, end in targets:
        for rank, result in enumerate(results, start=1):
            if result.path == path and (not end or overlaps(result, start, end)):
                ranks.add(rank)
                break
    return ranks


def overlaps(result: Found, start: int, end: int) -> bool:
    return any(first <= end and start <= last for first, last in result.spans)


def ndcg(ranks: set[int], targets: int) -> float:
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(targets, TOP_K) + 1))
    return sum(1 / math.log2(rank + 1) for rank in ranks) / ideal


def row_text(row: dict) -> str:
    skipped = f"  text skipped {row['skippedText']:.1%}" if "skippedText" in row else ""
    return (
        f"{row['name']:18} {row['language']:18} NDCG@10 {row['ndcg']:.3f}  hit@1 {row['hit1']:.2f}"
        f"  hit@10 {row['hit10']:.2f}  {row['ms']:6.1f} ms{skipped}"
    )


if __name__ == "__main__":
    main()
