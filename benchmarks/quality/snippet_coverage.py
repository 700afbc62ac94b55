"""Share of questions answered by the text that `vectordb_search` shows an agent.

    python -m benchmarks.quality.snippet_coverage REPOS [--split tune|test] [--only ninja]
        [--lines 3] [--indexes DIR]

REPOS is the same as for `labelled_questions`. A question is answered if `--lines` lines of a target
(all of them if it has fewer; lines with fewer than eight characters do not count) occur in the text
of a result in the target's file. For comparison, the same is counted for results that show only the
first 500 characters of their best lines.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from benchmarks.common.arguments import INDEXES, ONLY, REPOS, SPLIT, command_parser
from benchmarks.common.labels import (
    Label,
    LabeledRepository,
    Span,
    labeled_repositories,
    span_text,
)
from benchmarks.common.rootle_search import index_folder, indexed_app
from rootle.tools.app_backend import AppBackend
from rootle.tools.snippet import excerpt_record
from rootle.tools.vectordb_search import FINAL_K, SNIPPET_LENGTH

MIN_LINE_CHARS = 8


def main() -> None:
    parser = command_parser(__doc__, REPOS, SPLIT, ONLY, INDEXES)
    parser.add_argument(
        "--lines", type=int, default=3, help="lines required for an answer (default: %(default)s)"
    )
    args = parser.parse_args()
    totals = (0, 0, 0)
    with index_folder(args.indexes) as indexes:
        for repository in labeled_repositories(args.repos, args.split, args.only):
            counts = count_answered(repository, indexes / repository.name, args.lines)
            print(repository.name, *counts, flush=True)
            totals = (totals[0] + counts[0], totals[1] + counts[1], totals[2] + counts[2])
    print(
        f"{totals[0]} questions; answered: {totals[1]} by the shown text, "
        f"{totals[2]} by its first characters"
    )


def count_answered(
    repository: LabeledRepository, index_dir: Path, lines: int
) -> tuple[int, int, int]:
    """Count all questions, those answered by the shown text, and those by its first characters."""
    by_shown = by_first = 0
    labels = repository.answerable()
    with indexed_app(repository.root, index_dir) as app:
        backend = AppBackend(app)
        for label in labels:
            records = backend.answer(label.query, FINAL_K).records
            paths = [record.source.rpartition(":")[0] for record in records]
            shown = [excerpt_record(record, label.query, SNIPPET_LENGTH) for record in records]
            first = [record.text[:SNIPPET_LENGTH] for record in records]
            by_shown += is_answered(repository.root, label, zip(paths, shown, strict=True), lines)
            by_first += is_answered(repository.root, label, zip(paths, first, strict=True), lines)
    return len(labels), by_shown, by_first


def is_answered(root: Path, label: Label, results: Iterable[tuple[str, str]], lines: int) -> bool:
    """Return whether one of these results (path, text) contains enough lines of a target."""
    return any(
        path == span.path and has_lines(text, root, span, lines)
        for path, text in results
        for span in label.spans()
    )


def has_lines(text: str, root: Path, span: Span, lines: int) -> bool:
    """Return whether a text contains `lines` lines of a span, or all lines of a shorter span."""
    wanted = {line.strip() for line in span_text(root, span).split("\n")}
    wanted = {line for line in wanted if len(line) >= MIN_LINE_CHARS}
    found = {line.strip() for line in text.split("\n")} & wanted
    return bool(wanted) and len(found) >= min(lines, len(wanted))


if __name__ == "__main__":
    main()
