"""Check the labels in `benchmarks/labels/` against checkouts of their repositories.

    python -m benchmarks.quality.check_labels REPOS [--only scrapy,hono] [--list]

REPOS is the folder that `quality/clone_repos.py` filled from `labels/repositories.json`. Every question is
checked: its kind, its spans (the file exists, the lines exist, none is longer than 60 lines), that
no question stands twice, and whether it is hard. Hard is measured, not claimed: at most half of the
question's content words occur in its answer. `--list` prints each question with that share.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

from benchmarks.common.labels import (
    KINDS,
    LABELS,
    MAX_SPAN_LINES,
    Label,
    is_hard,
    read_labels,
    shared_words,
    span_text,
)


def problems_of(label: Label, repo: Path) -> list[str]:
    """What is wrong with one question, in words."""
    found = []
    if label.kind not in KINDS:
        found.append(f"kind {label.kind!r} is none of {', '.join(KINDS)}")
    if (label.kind == "none") != (not label.targets):
        found.append("a question has targets unless its kind is none")
    for span in (span for target in label.targets for span in target):
        where = f"{span.path}:{span.start_line}-{span.end_line}"
        if not (repo / span.path).is_file():
            found.append(f"{where}: there is no such file")
            continue
        total = len((repo / span.path).read_bytes().splitlines())
        if not 1 <= span.start_line <= span.end_line <= total:
            found.append(f"{where}: the file has {total} lines")
        if span.end_line - span.start_line >= MAX_SPAN_LINES:
            found.append(f"{where}: longer than {MAX_SPAN_LINES} lines")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("repos", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    listed = json.loads((LABELS / "repositories.json").read_text())
    names = args.only.split(",") if args.only else sorted(repo["name"] for repo in listed)
    failures, totals = 0, Counter[str]()
    seen: set[str] = set()
    for name in names:
        repo = args.repos / name
        try:
            labels = read_labels(name)
        except (OSError, ValueError) as error:
            sys.exit(str(error))
        counts = Counter(label.kind for label in labels)
        for label in labels:
            problems = problems_of(label, repo)
            if label.query in seen:
                problems.append("asked twice")
            seen.add(label.query)
            for problem in problems:
                failures += 1
                print(f"{name}: {label.query!r}: {problem}")
            if not problems and label.targets:
                hard = is_hard(label, repo)
                counts["hard"] += hard
                if args.list:
                    shares = [
                        shared_words(label.query, span_text(repo, span))
                        for target in label.targets
                        for span in target
                    ]
                    told = " ".join(f"{share:.2f}" for share in shares)
                    print(f"{'HARD' if hard else '    '} {told:16} {label.kind:13} {label.query}")
        totals += counts
        print(f"{name:12} {_counts(counts)}")
    print(f"{'all':12} {_counts(totals)}")
    if failures:
        sys.exit(f"{failures} problems")


def _counts(counts: Counter[str]) -> str:
    asked = sum(counts[kind] for kind in KINDS if kind != "none")
    kinds = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS)
    return f"{asked} questions, {counts['hard']} hard; {kinds}"


if __name__ == "__main__":
    main()
