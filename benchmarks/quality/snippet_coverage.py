"""What an agent reads of an answer in the first page of `vectordb_search`, on our own labels.

    python -m benchmarks.quality.snippet_coverage REPOS [--split tune|test] [--lines 3] [--indexes DIR]

REPOS is that of `quality/labelled_questions.py`. A question is answered where so many lines of a target (all of
them where it has fewer; lines of less than eight characters do not count) stand in the text of a
result that is in the target's file. Beside it, what is answered where each result shows the first
500 characters of its best lines and nothing else.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterable
from pathlib import Path

from benchmarks.common.labels import LABELS, Label, Span, read_labels
from rootle import open_app
from rootle.tools.app_backend import AppBackend
from rootle.tools.snippet import shown_text
from rootle.tools.vectordb_search import FINAL_K, SNIPPET_LENGTH

_MIN_CHARS = 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("repos", type=Path)
    parser.add_argument("--split", default="", choices=["", "tune", "test"])
    parser.add_argument("--indexes", type=Path, help="keep the indexes here for the next run")
    parser.add_argument("--lines", type=int, default=3)
    args = parser.parse_args()
    totals = [0, 0, 0]
    with tempfile.TemporaryDirectory() as scratch:
        for repo in json.loads((LABELS / "repositories.json").read_text()):
            if args.split in ("", repo["split"]):
                where = (args.indexes or Path(scratch)) / repo["name"]
                counts = answered(args.repos / repo["name"], where, args.lines)
                print(repo["name"], *counts, flush=True)
                totals = [total + count for total, count in zip(totals, counts, strict=True)]
    print(f"{totals[0]} questions; answered: {totals[1]} as shown, {totals[2]} by first characters")


def answered(root: Path, index_dir: Path, lines: int) -> tuple[int, int, int]:
    """The questions, those that are answered as shown, and by the first characters alone."""
    count = as_shown = by_first = 0
    with open_app(root, index_dir=index_dir) as app:
        app.index()
        backend = AppBackend(app)
        for label in (label for label in read_labels(root.name) if label.targets):
            records = backend.answer(label.query, FINAL_K).records
            paths = [record.source.rpartition(":")[0] for record in records]
            shown = [shown_text(record, label.query, SNIPPET_LENGTH) for record in records]
            first = [record.text[:SNIPPET_LENGTH] for record in records]
            count += 1
            as_shown += is_answered(root, label, zip(paths, shown, strict=True), lines)
            by_first += is_answered(root, label, zip(paths, first, strict=True), lines)
    return count, as_shown, by_first


def is_answered(root: Path, label: Label, page: Iterable[tuple[str, str]], lines: int) -> bool:
    """Whether one of these pairs of path and text has so many lines of a target."""
    spans = [span for target in label.targets for span in target]
    return any(
        path == span.path and has(text, root, span, lines) for path, text in page for span in spans
    )


def has(text: str, root: Path, span: Span, lines: int) -> bool:
    source = (root / span.path).read_text(encoding="utf-8", errors="replace").split("\n")
    wanted = {line.strip() for line in source[span.start_line - 1 : span.end_line]}
    wanted = {line for line in wanted if len(line) >= _MIN_CHARS}
    found = {line.strip() for line in text.split("\n")} & wanted
    return bool(wanted) and len(found) >= min(lines, len(wanted))


if __name__ == "__main__":
    main()
