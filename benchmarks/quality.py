"""Search quality on the public benchmark: NDCG@10 over its development half.

    python benchmarks/quality.py BENCH REPOS [--only gin,flask] [--indexes DIR] [--json FILE]

BENCH is the folder with `repos.json` and `annotations/`; REPOS holds one checkout a repository (see
`benchmarks/layout.py`). A target's rank is that of the first of ten results in its file, and
overlapping its lines where it has some; one result counts for one target; the ideal order has
every target, primary and secondary, at the top. Questions are averaged within a repository, then
repositories.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import tempfile
import time
from pathlib import Path

from rootle import SearchQuery, SearchResult, open_app

TOP_K = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("bench", type=Path)
    parser.add_argument("repos", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--indexes", type=Path, help="keep the indexes here for the next run")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    wanted = set(filter(None, args.only.split(",")))
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for repo in json.loads((args.bench / "repos.json").read_text()):
            if wanted and repo["name"] not in wanted:
                continue
            root = args.repos / repo["name"] / (repo.get("benchmark_root") or "")
            if not root.is_dir():
                print(f"{repo['name']}: no folder {root}", file=sys.stderr)
                continue
            questions = json.loads((args.bench / "annotations" / f"{repo['name']}.json").read_text())
            index_dir = (args.indexes or Path(scratch)) / repo["name"]
            rows.append(measure(repo, root, questions, index_dir))
            print(row_text(rows[-1]), flush=True)
    summary = {key: statistics.mean(row[key] for row in rows) for key in ("ndcg", "hit1", "hit10")}
    print(row_text({"name": "mean", "language": f"{len(rows)} repositories", **summary,
                    "ms": statistics.median(row["ms"] for row in rows),
                    "skippedText": statistics.mean(row["skippedText"] for row in rows)}))  # fmt: skip
    if args.json:
        args.json.write_text(json.dumps({"summary": summary, "repositories": rows}, indent=1))


def measure(repo: dict, root: Path, questions: list, index_dir: Path) -> dict:
    """The figures of one repository."""
    scores, first, found, times = [], [], [], []
    with open_app(root, index_dir=index_dir) as app:
        app.index()
        for question in questions:
            targets = [
                target(entry, root, (repo.get("benchmark_root") or ""))
                for entry in (*question["relevant"], *question["secondary"])
            ]
            started = time.perf_counter()
            results = app.search(SearchQuery(question["query"], limit=TOP_K)).results
            times.append((time.perf_counter() - started) * 1000)
            ranks = target_ranks(results, targets)
            scores.append(ndcg(ranks, len(targets)))
            first.append(1 in ranks)
            found.append(bool(ranks))
        skipped = app.status().skipped_text_share
    return {
        "name": repo["name"],
        "language": repo["language"],
        "questions": len(questions),
        "ndcg": statistics.mean(scores),
        "hit1": statistics.mean(first),
        "hit10": statistics.mean(found),
        "ms": statistics.median(times),
        "skippedText": skipped,
        "scores": [round(score, 4) for score in scores],
    }


def target(entry: str | dict, root: Path, benchmark_root: str) -> tuple[str, int, int]:
    """A target as (path relative to the indexed folder, first line, last line); 0, 0: any line."""
    if isinstance(entry, str):
        entry = {"path": entry}
    path = entry["path"]
    inside = path.removeprefix(f"{benchmark_root.rstrip('/')}/")
    start = entry.get("start_line") or entry.get("startLine") or entry.get("start") or 0
    end = entry.get("end_line") or entry.get("endLine") or entry.get("end") or 0
    return (inside if (root / inside).exists() else path, start, end)


def target_ranks(results: tuple[SearchResult, ...], targets: list) -> set[int]:
    """The ranks at which targets are met; a result that meets two counts once."""
    ranks = set()
    for path, start, end in targets:
        for rank, result in enumerate(results, start=1):
            if result.file_path == path and (not end or overlaps(result, start, end)):
                ranks.add(rank)
                break
    return ranks


def overlaps(result: SearchResult, start: int, end: int) -> bool:
    spans = [(result.start_line, result.end_line)]
    spans += [(span.start_line, span.end_line) for span in result.more_spans]
    return any(first <= end and start <= last for first, last in spans)


def ndcg(ranks: set[int], targets: int) -> float:
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(targets, TOP_K) + 1))
    return sum(1 / math.log2(rank + 1) for rank in ranks) / ideal


def row_text(row: dict) -> str:
    return (
        f"{row['name']:18} {row['language']:16} NDCG@10 {row['ndcg']:.3f}  hit@1 {row['hit1']:.2f}"
        f"  hit@10 {row['hit10']:.2f}  {row['ms']:6.1f} ms  text skipped {row['skippedText']:.1%}"
    )


if __name__ == "__main__":
    main()
