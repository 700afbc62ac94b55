"""Count how many characters of a `vectordb_search` reply a model reads to see the answer.

    python -m benchmarks.quality.answer_reading REPOS [--split tune|test] [--only ninja]
        [--voice user|agent] [--renamed DIR] [--queries FILE]... [--lines 3] [--indexes DIR]
        [--json FILE]

REPOS, `--voice`, `--renamed` and `--queries` are the same as for `agent_queries`. The answer is in
view when `--lines` lines of one target have been printed (all its lines if it has fewer; empty
lines do not count). In a list of the uses of a name, one labeled row is enough. If the answer never
comes into view, the number of characters is infinite.
"""

from __future__ import annotations

import math
import re
import statistics
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from benchmarks.common.arguments import LINES, add_options
from benchmarks.common.labels import Label, Span, span_text
from benchmarks.common.reports import write_json
from benchmarks.common.rootle_search import index_folder, indexed_app
from benchmarks.quality.agent_queries import (
    RecordingError,
    chosen_recordings,
    chosen_repositories,
    query_parser,
    recorded_questions,
)
from rootle import App
from rootle.tools import create_tools

_HEADER: Final = re.compile(r"\d+\. (.+?):\d+-\d+\b")
_LINE: Final = re.compile(r" *(\d+)(?:  |$)")
# A reply that lists the uses of a name has a row for each file, followed by a row for each use.
_FILE: Final = re.compile(r"(?!\d+$)[^\s:]+")
_USE: Final = re.compile(r" +(\d+) \(\w+")


@dataclass(frozen=True)
class AnswerReading:
    """The numbers of characters in the reply to one question."""

    chars: float  # until the correct lines are in view; infinite if they are not shown
    total: int


def main() -> None:
    parser = query_parser(__doc__)
    add_options(parser, LINES)
    args = parser.parse_args()
    try:
        recordings = chosen_recordings(args)
    except RecordingError as error:
        sys.exit(str(error))
    readings: dict[str, list[AnswerReading]] = {one.name: [] for one in recordings}
    with index_folder(args.indexes) as indexes:
        for repository in chosen_repositories(args):
            with indexed_app(repository.root, indexes / repository.name) as app:
                for recording in recordings:
                    asked = recorded_questions(repository, recording.queries)
                    readings[recording.name] += measure(app, repository.root, asked, args.lines)
            print(f"{repository.name} done", file=sys.stderr, flush=True)
    summaries = {name: summarize_readings(found) for name, found in readings.items()}
    for name, summary in summaries.items():
        print(f"{name:20} {format_readings(summary)}")
    write_json(args.json, {name: asdict(summary) for name, summary in summaries.items()})


def measure(
    app: App, root: Path, asked: Iterable[tuple[Label, str]], lines: int
) -> list[AnswerReading]:
    """Return the readings of the answerable questions."""
    search = create_tools(app)[0]
    readings = []
    for label, query in asked:
        if label.targets:
            text = search(query)
            chars = chars_until_in_view(text, root, label.spans(), lines)
            readings.append(AnswerReading(chars, len(text)))
    return readings


def chars_until_in_view(text: str, root: Path, spans: Iterable[Span], lines: int) -> float:
    """Return the number of characters up to the line that brings the answer into view.

    A question about the uses of a name is answered by the row of one labeled use.
    """
    wanted = [
        (span.path, {number for number, line in _number_lines(root, span) if line.strip()})
        for span in spans
    ]
    seen = [set[int]() for _ in wanted]
    path, read = "", 0
    for line in text.split("\n"):
        read += len(line) + 1
        if header := _HEADER.match(line):
            path = header[1]
        elif _FILE.fullmatch(line):
            path = line
        elif (use := _USE.match(line)) is not None:
            if any(of == path and int(use[1]) in numbers for of, numbers in wanted):
                return read  # the row is the whole answer
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
    in_view: float  # share of the questions whose answer comes into view
    median_chars: float  # characters until the answer is in view
    mean_total: float  # characters of a whole reply


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
