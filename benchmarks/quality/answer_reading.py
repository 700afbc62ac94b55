"""Characters of the answers of `vectordb_search` that a model reads before it sees an answer.

    python -m benchmarks.quality.answer_reading REPOS [--split tune|test] [--only ninja]
        [--queries FILE] [--lines 3] [--indexes DIR] [--json FILE]

REPOS is the same as for `labelled_questions`. `--queries` has recorded queries of agents, one JSON
object per line with `id` ("ninja-7" is the seventh question of `labels/ninja.jsonl`) and `query`;
without it, the questions themselves are asked. An answer is in view when `--lines` lines of one
target (all of them if it has fewer; empty lines do not count) were printed. An answer that never
comes into view has infinitely many characters.
"""

from __future__ import annotations

import json
import math
import re
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from benchmarks.common.arguments import INDEXES, JSON, ONLY, REPOS, SPLIT, command_parser
from benchmarks.common.labels import Label, LabeledRepository, Span, labeled_repositories, span_text
from benchmarks.common.reports import write_json
from benchmarks.common.rootle_search import index_folder, indexed_app
from rootle.tools import tools_of

_HEADER: Final = re.compile(r"\d+\. (.+?):\d+-\d+\b")
_LINE: Final = re.compile(r" *(\d+)(?:  |$)")

Queries = Mapping[str, str]  # by id


@dataclass(frozen=True)
class AnswerReading:
    """The characters of one answer."""

    chars: float  # until the answer is in view; infinite if it never is
    total: int


def main() -> None:
    parser = command_parser(__doc__, REPOS, SPLIT, ONLY, INDEXES, JSON)
    parser.add_argument("--queries", type=Path, metavar="FILE", help="recorded queries to ask")
    parser.add_argument(
        "--lines", type=int, default=3, help="lines of an answer (default: %(default)s)"
    )
    args = parser.parse_args()
    queries = read_queries(args.queries) if args.queries else None
    readings = []
    with index_folder(args.indexes) as indexes:
        for repository in labeled_repositories(args.repos, args.split, args.only):
            found = measure(repository, indexes / repository.name, queries, args.lines)
            print(f"{repository.name:12} {format_readings(summarize_readings(found))}", flush=True)
            readings += found
    print(f"{'all':12} {format_readings(summarize_readings(readings))}")
    write_json(args.json, {"all": asdict(summarize_readings(readings))})


def read_queries(path: Path) -> Queries:
    """Return recorded queries by id."""
    with path.open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return {row["id"]: row["query"] for row in rows}


def measure(
    repository: LabeledRepository, index_dir: Path, queries: Queries | None, lines: int
) -> list[AnswerReading]:
    """Return the readings of all answerable questions of a repository."""
    readings = []
    with indexed_app(repository.root, index_dir) as app:
        search = tools_of(app)[0]
        for number, label in enumerate(repository.labels, start=1):
            if not label.targets:
                continue
            query = label.query if queries is None else queries[f"{repository.name}-{number}"]
            text = search(query)
            chars = chars_until_in_view(text, repository.root, label, lines)
            readings.append(AnswerReading(chars, len(text)))
    return readings


def chars_until_in_view(text: str, root: Path, label: Label, lines: int) -> float:
    """Return the number of characters up to the line that brings an answer into view."""
    wanted = [
        (span.path, {number for number, line in _number_lines(root, span) if line.strip()})
        for span in label.spans()
    ]
    seen = [set[int]() for _ in wanted]
    path, read = "", 0
    for line in text.split("\n"):
        read += len(line) + 1
        if header := _HEADER.match(line):
            path = header[1]
        elif (number := _LINE.match(line)) is not None:
            for (of, numbers), found in zip(wanted, seen, strict=True):
                if of == path and int(number[1]) in numbers:
                    found.add(int(number[1]))
                    if len(found) >= min(lines, len(numbers)):
                        return read
    return math.inf


def _number_lines(root: Path, span: Span) -> Iterable[tuple[int, str]]:
    return enumerate(span_text(root, span).split("\n"), start=span.start_line)


@dataclass(frozen=True)
class ReadingSummary:
    """The readings of several questions."""

    questions: int
    in_view: float  # share of the answers that come into view
    median_chars: float  # until then
    mean_total: float  # characters of a whole answer


def summarize_readings(readings: Iterable[AnswerReading]) -> ReadingSummary:
    found = list(readings)
    return ReadingSummary(
        len(found),
        sum(reading.chars < math.inf for reading in found) / max(1, len(found)),
        statistics.median(reading.chars for reading in found) if found else math.inf,
        statistics.fmean(reading.total for reading in found) if found else 0.0,
    )


def format_readings(summary: ReadingSummary) -> str:
    return (
        f"{summary.questions:4} questions  in view {summary.in_view:.3f}  "
        f"median {summary.median_chars:6.0f} characters  whole answer {summary.mean_total:6.0f}"
    )


if __name__ == "__main__":
    main()
