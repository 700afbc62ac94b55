"""`rootle index`."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from typing import Final

from rootle.app import App
from rootle.cli.main import RESULTS
from rootle.cli.opening import opened, progress_bar, say
from rootle.languages import language_of
from rootle.types import IndexReport
from rootle.wire import to_json

# Text that two cores index in a second, measured with benchmarks/speed.py; for the estimate only.
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
    if report.skipped:
        print(f"skipped: {_counts(report.skipped.items())}")


def _dry_run(app: App, *, as_json: bool) -> int:
    plan = app.plan()
    languages: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for entry, _ in plan.read:
        language = language_of(entry.path)
        languages[language] += 1
        sizes[language] += entry.size
    total = sum(sizes.values())
    data = {
        "files": [
            {"filePath": entry.path, "bytes": entry.size, "language": language_of(entry.path)}
            for entry, _ in plan.read
        ],
        "skipped": [
            {"filePath": skip.path, "bytes": skip.size, "reason": skip.reason}
            for skip, _ in plan.skip
        ],
        "removed": [state.path for state in plan.remove],
        "unchanged": plan.unchanged,
        "bytes": total,
        "estimatedSeconds": round(_START_S + total / _BYTES_PER_SECOND, 1) if plan.read else 0.0,
    }
    if as_json:
        print(json.dumps(data))
        return RESULTS
    print(
        f"{len(plan.read)} files to read, {_size(total)}, {plan.unchanged} unchanged, "
        f"{len(plan.remove)} to remove; about {data['estimatedSeconds']} s"
    )
    for language, count in languages.most_common():
        print(f"  {language:14} {count:6} files  {_size(sizes[language]):>9}")
    _print_skips([(skip.path, skip.reason) for skip, _ in plan.skip])
    say("what is inside a file (binary, generated, minified) is found out when it is read")
    return RESULTS


def _print_skips(skips: Sequence[tuple[str, str]]) -> None:
    if not skips:
        return
    print(f"skipped: {_counts(Counter(reason for _, reason in skips).most_common())}")
    for path, reason in skips:
        print(f"  {reason:18} {path!a}" if not path.isprintable() else f"  {reason:18} {path}")


def _counts(items: object) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in items)  # type: ignore[attr-defined]


def _size(count: float) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"
