"""Check the labels in `benchmarks/labels/` against checkouts of their repositories.

    python -m benchmarks.quality.check_labels REPOS [--labels benchmarks/labels/large]
        [--only scrapy,hono] [--list]

REPOS is the folder that `clone_repos` filled from `repositories.json` in the folder of the labels,
which is `benchmarks/labels` by default. Each question is checked for its kind, its spans (file and
lines exist, 60 lines at most) and duplicates. A question counts as hard if each of its spans
contains at most half of its content words. `--list` prints these shares for every question.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from benchmarks.common.arguments import LIST, ONLY, REPOS, command_parser
from benchmarks.common.labels import (
    KINDS,
    SHOWN_LINES,
    Label,
    LabeledRepository,
    Span,
    is_hard,
    labeled_repositories,
    span_text,
    word_overlap,
)
from benchmarks.common.repositories import RepositoryListError


def main() -> None:
    parser = command_parser(__doc__, REPOS, ONLY, LIST)
    parser.add_argument("--labels", type=Path, metavar="DIR", help="folder of the label files")
    args = parser.parse_args()
    try:
        repositories = labeled_repositories(args.repos, only=args.only, labels=args.labels)
    except (OSError, ValueError, RepositoryListError) as error:
        sys.exit(str(error))
    failures, totals = 0, Counter[str]()
    queries: set[str] = set()
    for repository in sorted(repositories, key=lambda one: one.name):
        problems = find_problems(repository, queries)
        for label, problem in problems:
            print(f"{repository.name}: {label.query!r}: {problem}")
        failures += len(problems)
        malformed = {label.query for label, _ in problems}
        valid = [label for label in repository.answerable() if label.query not in malformed]
        counts = Counter(label.kind for label in repository.labels)
        counts["hard"] = sum(is_hard(label, repository.root) for label in valid)
        if args.list:
            for label in valid:
                print(format_label(label, repository.root))
        totals += counts
        print(f"{repository.name:12} {format_counts(counts)}")
    print(f"{'all':12} {format_counts(totals)}")
    if failures:
        sys.exit(f"{failures} problems")


def find_problems(repository: LabeledRepository, queries: set[str]) -> list[tuple[Label, str]]:
    """Return the problems of each label, and add its query to the queries seen so far."""
    problems = []
    for label in repository.labels:
        problems += [(label, problem) for problem in label_problems(label, repository.root)]
        if label.query in queries:
            problems.append((label, "duplicate question"))
        queries.add(label.query)
    return problems


def label_problems(label: Label, root: Path) -> list[str]:
    """Return the problems of one label's kind and spans."""
    problems = []
    if label.kind not in KINDS:
        problems.append(f"unknown kind {label.kind!r}; known kinds: {', '.join(KINDS)}")
    if (label.kind == "none") != (not label.targets):
        problems.append("kind 'none' must have no targets; every other kind needs at least one")
    for span in label.spans():
        problems += span_problems(span, root)
    return problems


def span_problems(span: Span, root: Path) -> list[str]:
    """Return the problems of one span: its file, its lines and its length."""
    where = f"{span.path}:{span.start_line}-{span.end_line}"
    if not (root / span.path).is_file():
        return [f"{where}: no such file"]
    problems = []
    total = len((root / span.path).read_bytes().splitlines())
    if not 1 <= span.start_line <= span.end_line <= total:
        problems.append(f"{where}: the file has {total} lines")
    if span.end_line - span.start_line >= SHOWN_LINES:
        problems.append(f"{where}: longer than {SHOWN_LINES} lines")
    return problems


def format_label(label: Label, root: Path) -> str:
    overlaps = [word_overlap(label.query, span_text(root, span)) for span in label.spans()]
    mark = "HARD" if is_hard(label, root) else ""
    shares = " ".join(f"{share:.2f}" for share in overlaps)
    return f"{mark:4} {shares:16} {label.kind:13} {label.query}"


def format_counts(counts: Counter[str]) -> str:
    answerable = sum(counts[kind] for kind in KINDS if kind != "none")
    kinds = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS)
    return f"{answerable} questions, {counts['hard']} hard; {kinds}"


if __name__ == "__main__":
    main()
