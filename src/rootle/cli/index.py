"""`rootle index`."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from rootle.app import App
from rootle.cli.context import opened, printable, progress_bar
from rootle.cli.main import RESULTS
from rootle.serialization.json import to_json
from rootle.sources.source import DocumentEntry, SkippedDocument
from rootle.text.languages import language_of
from rootle.types import IndexReport

# Text that two cores index in a second (benchmarks/speed/tool_comparison.py); for the estimate.
_BYTES_PER_SECOND: Final = 2_500_000
_START_S: Final = 0.5


def run_index(options: argparse.Namespace) -> int:
    with opened(options) as app:
        if options.dry_run:
            return _dry_run(app, as_json=options.json)
        with progress_bar() as progress:
            report = app.index(progress, rebuild=options.rebuild)
    if options.json:
        print(json.dumps(to_json(report)))
    else:
        _print_report(report)
    return RESULTS


def _print_report(report: IndexReport) -> None:
    print(
        f"{report.files_total} files, {report.chunks_total} chunks; {report.files_indexed} read, "
        f"{report.files_removed} removed, {report.chunks_embedded} chunks embedded "
        f"in {report.seconds:.1f} s (generation {report.generation})"
    )
    if report.chunks_pending:
        why = f": {printable(report.pending_reason)}" if report.pending_reason else ""
        print(f"{report.chunks_pending} chunks wait for their embedding{why}")
    if report.skipped:
        print(f"skipped: {_counts(report.skipped)}")


def _dry_run(app: App, *, as_json: bool) -> int:
    plan = app.plan()
    files = [planned.entry for planned in plan.read]
    skips = [planned.skip for planned in plan.skip]
    total = sum(entry.size for entry in files)
    seconds = round(_START_S + total / _BYTES_PER_SECOND, 1) if files else 0.0
    if as_json:
        data = {
            "files": [
                {"filePath": entry.uri, "bytes": entry.size, "language": language_of(entry.uri)}
                for entry in files
            ],
            "skipped": [
                {"filePath": skip.uri, "bytes": skip.size, "reason": skip.reason} for skip in skips
            ],
            "removed": [state.path for state in plan.remove],
            "unchanged": plan.unchanged,
            "bytes": total,
            "estimatedSeconds": seconds,
        }
        print(json.dumps(data))
        return RESULTS
    print(
        f"{len(files)} files to index, {_size(total)}, {plan.unchanged} unchanged, "
        f"{len(plan.remove)} to remove; about {seconds} s"
    )
    _print_languages(files)
    _print_skips(skips)
    return RESULTS


def _print_languages(files: Sequence[DocumentEntry]) -> None:
    sizes: dict[str, list[int]] = {}
    for entry in files:
        sizes.setdefault(language_of(entry.uri), []).append(entry.size)
    for language, found in sorted(sizes.items(), key=lambda item: -sum(item[1])):
        print(f"  {language:14} {len(found):6} files  {_size(sum(found)):>9}")


def _print_skips(skips: Sequence[SkippedDocument]) -> None:
    if not skips:
        return
    print(f"skipped: {_counts(Counter(skip.reason for skip in skips))}")
    for skip in skips:
        path = skip.uri if skip.uri.isprintable() else ascii(skip.uri)
        print(f"  {skip.reason:18} {_size(skip.size):>9}  {path}")


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{reason} {count}" for reason, count in counts.items())


def _size(count: float) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"
