"""Measure whether questions about labels and edges find the diagram and the class that it names.

    python -m benchmarks.quality.diagrams [--show]

`benchmarks/labels/diagrams/` contains 15 diagrams and 60 questions. Each diagram is written in a
different format, two of them as pictures for Tesseract. The project around them contains a class
for each node, a use and a test of the class, and a page of text about each diagram. A question is
answered if its diagram is among the first three results, and if this result names the class with
the place of its definition. BM25 over windows of 50 lines is the baseline; it reads the files as
text.

The command also draws a picture of each diagram, searches with it (`App.search_image`), and prints
how often the first result is the diagram itself or the code of its classes. It needs Tesseract
(`apt-get install tesseract-ocr`) and Pillow.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from benchmarks.common.arguments import JSON, SHOW, command_parser
from benchmarks.common.bm25 import Bm25Index
from benchmarks.common.rootle_search import indexed_app
from benchmarks.quality.diagram_samples import Diagram, code_path, draw_boxes, write_project
from rootle import App, Config, SearchResult

LABELS: Final = Path(__file__).parents[1] / "labels/diagrams"
_TOP: Final = 3


@dataclass(frozen=True)
class Question:
    """A question about a label or an edge of a diagram."""

    text: str
    diagram: str
    symbol: str  # the class that the answer names


@dataclass
class Tally:
    """Counts of answered questions."""

    questions: int = 0
    diagram_first: int = 0
    diagram_found: int = 0  # among the first three results
    symbol_named: int = 0  # the diagram's result links to the definition
    answered: int = 0  # both conditions hold
    baseline_found: int = 0

    def add(self, other: Tally) -> None:
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


def main() -> None:
    parser = command_parser(__doc__, SHOW, JSON)
    args = parser.parse_args()
    if shutil.which("tesseract") is None:
        sys.exit("needs Tesseract: apt-get install tesseract-ocr")
    diagrams, questions = read_labels()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        write_project(root, list(diagrams.values()))
        for command in (["init", "-q"], ["add", "."]):
            subprocess.run(["git", "-C", root, *command], check=True)
        with indexed_app(root, Path(folder) / "index", Config(ocr="docs")) as app:
            by_format = measure(app, root, diagrams, questions, show=args.show)
            pictures = measure_pictures(app, Path(folder), list(diagrams.values()))
    total = Tally()
    for tally in by_format.values():
        total.add(tally)
    _print(by_format, total, pictures, len(diagrams))
    if args.json:
        figures = {field.name: getattr(total, field.name) for field in fields(total)}
        args.json.write_text(json.dumps({**figures, "pictures": pictures}) + "\n")


def read_labels() -> tuple[dict[str, Diagram], list[Question]]:
    """Return the diagrams by name, and the questions."""
    diagrams = {}
    for data in _read_lines(LABELS / "diagrams.jsonl"):
        edges = [(source, target, label) for source, target, label in data["edges"]]
        diagrams[data["name"]] = Diagram(data["name"], data["format"], data["title"], edges)
    questions = [
        Question(data["question"], data["diagram"], data["symbol"])
        for data in _read_lines(LABELS / "questions.jsonl")
    ]
    return diagrams, questions


def measure(
    app: App,
    root: Path,
    diagrams: dict[str, Diagram],
    questions: Sequence[Question],
    *,
    show: bool,
) -> dict[str, Tally]:
    """Return the tally of each format."""
    baseline = Bm25Index()
    baseline.index(root)
    tallies: dict[str, Tally] = {}
    for question in questions:
        diagram = diagrams[question.diagram]
        tally = grade(app.search(question.text).results, diagram, question.symbol)
        windows = baseline.search(question.text, _TOP, per_file=True)
        tally.baseline_found = int(any(window.path == diagram.path for window in windows))
        tallies.setdefault(diagram.format, Tally()).add(tally)
        if show and not tally.answered:
            print(f"{diagram.path}: {question.text} ({question.symbol})")
            for result in app.search(question.text).results[:_TOP]:
                print(f"    {result.file_path} {result.score:.2f} {result.mentions}")
    return tallies


def grade(results: Sequence[SearchResult], diagram: Diagram, symbol: str) -> Tally:
    """Return the tally of one question."""
    tally = Tally(questions=1)
    for rank, result in enumerate(results[:_TOP]):
        if result.file_path == diagram.path:
            tally.diagram_first = int(rank == 0)
            tally.diagram_found = 1
            places = (result.mentions or {}).values()
            tally.symbol_named = int(
                any(place.startswith(f"{code_path(diagram, symbol)}:") for place in places)
            )
    tally.answered = int(bool(tally.diagram_found and tally.symbol_named))
    return tally


def measure_pictures(app: App, folder: Path, diagrams: Sequence[Diagram]) -> int:
    """Return for how many pictures of diagrams the first result is the diagram or its code."""
    found = 0
    for diagram in diagrams:
        path = folder / f"{diagram.name}.png"
        draw_boxes(diagram, path)
        first = app.search_image(path).results[0].file_path
        code = {code_path(diagram, node) for node in diagram.nodes}
        wiring = f"src/{diagram.name.replace('-', '_')}/wiring.py"
        found += first in {diagram.path, wiring, *code}
    return found


def _print(by_format: dict[str, Tally], total: Tally, pictures: int, count: int) -> None:
    names = ("questions", "first", f"top {_TOP}", "named", "answered", f"BM25 top {_TOP}")
    print(f"{'format':18}" + "".join(f"{name:>12}" for name in names))
    for name, tally in [*by_format.items(), ("all", total)]:
        values = (getattr(tally, field.name) for field in fields(tally))
        print(f"{name:18}" + "".join(f"{value:12}" for value in values))
    print(f"answered: {total.answered / total.questions:.3f}; pictures: {pictures} of {count}")


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:  # Any: JSON
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


if __name__ == "__main__":
    main()
