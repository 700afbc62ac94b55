"""Measure whether `vectordb_search` shows the line from which a pasted text comes.

    python -m benchmarks.quality.pasted_texts REPOS [--split tune|test] [--only ninja] [--each 20]
        [--indexes DIR] [--misses] [--json FILE]

Agents paste error messages, lines of logs, names of options, lines of code and frames of stack
traces into queries. `git grep` finds such a text unless a program filled in its fields, as in a log
line. REPOS holds one checkout per repository of `benchmarks/labels`; the texts are drawn from the
checkouts.
"""

from __future__ import annotations

import math
import re
import statistics
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from benchmarks.common.arguments import INDEXES, JSON, ONLY, REPOS, SPLIT, command_parser
from benchmarks.common.labels import LABEL_REPOSITORIES
from benchmarks.common.reports import write_json
from benchmarks.common.repositories import read_repositories, select_repositories
from benchmarks.common.rootle_search import index_folder, indexed_app
from benchmarks.quality.answer_reading import chars_until_in_view
from benchmarks.quality.pasted_samples import Sample, draw_samples
from rootle import App
from rootle.tools import create_tools

_FIRST: Final = re.compile(r"^1\. (.+?):\d+-\d+\b", re.MULTILINE)
_MAX_BYTES: Final = 1_000_000  # larger files are not sampled


@dataclass(frozen=True)
class Outcome:
    """The reading of the answer to one pasted text."""

    is_first: bool  # the first result is a file with the text
    chars: float  # characters up to the line with the text; infinite if it is not shown


@dataclass(frozen=True)
class PastedTextSummary:
    """The outcomes of several texts."""

    texts: int
    first: float  # share of texts whose first result is a file with the text
    shown: float  # share of texts whose line is shown
    median_chars: float  # characters up to that line


def main() -> None:
    parser = command_parser(__doc__, REPOS, SPLIT, ONLY, INDEXES, JSON)
    parser.add_argument(
        "--each", type=int, default=20, help="texts per kind and repository (default: %(default)s)"
    )
    parser.add_argument(
        "--misses", action="store_true", help="print the texts whose line is not shown"
    )
    args = parser.parse_args()
    outcomes: dict[str, list[Outcome]] = {}
    listed = select_repositories(read_repositories(LABEL_REPOSITORIES), args.only, args.split)
    with index_folder(args.indexes) as indexes:
        for repository in listed:
            root = repository.root(args.repos)
            samples = draw_samples(read_files(root), args.each)
            with indexed_app(root, indexes / repository.name) as app:
                for kind, drawn in samples.items():
                    found = measure(app, drawn)
                    outcomes.setdefault(kind, []).extend(found)
                    if args.misses:
                        print_misses(f"{repository.name} {kind}", drawn, found)
            print(f"{repository.name} done", file=sys.stderr, flush=True)
    summaries = {kind: summarize_outcomes(found) for kind, found in outcomes.items()}
    for kind, summary in summaries.items():
        print(f"{kind:8} {format_summary(summary)}")
    write_json(args.json, {kind: asdict(summary) for kind, summary in summaries.items()})


def read_files(root: Path) -> dict[str, str]:
    """Return the texts of the tracked files that are valid UTF-8 and not too large, by path."""
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True, check=True
    )
    files = {}
    for path in filter(None, listed.stdout.split("\0")):
        file = root / path
        if file.is_file() and not file.is_symlink() and file.stat().st_size <= _MAX_BYTES:
            data = file.read_bytes()
            try:
                files[path] = data.decode()
            except UnicodeDecodeError:
                continue  # a binary file, or text in another encoding
    return files


def measure(app: App, samples: Iterable[Sample]) -> list[Outcome]:
    """Return what the answers of `vectordb_search` show."""
    search = create_tools(app)[0]
    return [read_answer(search(sample.query), app.root, sample) for sample in samples]


def read_answer(answer: str, root: Path, sample: Sample) -> Outcome:
    """Return what one answer shows."""
    first = _FIRST.search(answer)
    return Outcome(
        first is not None and first[1] in {span.path for span in sample.spans},
        min(chars_until_in_view(answer, root, [span], 1) for span in sample.spans),
    )


def print_misses(name: str, samples: Sequence[Sample], outcomes: Sequence[Outcome]) -> None:
    """Print the texts whose line is not shown."""
    for sample, outcome in zip(samples, outcomes, strict=True):
        if outcome.chars == math.inf:
            span = sample.spans[0]
            place = f"{span.path}:{span.start_line}"
            print(f"{name}: {sample.query!r} ({place}; file first: {outcome.is_first})")


def summarize_outcomes(outcomes: Sequence[Outcome]) -> PastedTextSummary:
    count = max(1, len(outcomes))
    return PastedTextSummary(
        len(outcomes),
        sum(one.is_first for one in outcomes) / count,
        sum(one.chars < math.inf for one in outcomes) / count,
        statistics.median(one.chars for one in outcomes) if outcomes else math.inf,
    )


def format_summary(summary: PastedTextSummary) -> str:
    return (
        f"{summary.texts:4} texts  file first {summary.first:.3f}  line shown "
        f"{summary.shown:.3f}  after {summary.median_chars:5.0f} characters (median)"
    )


if __name__ == "__main__":
    main()
