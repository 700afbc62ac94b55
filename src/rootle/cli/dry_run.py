"""The report of `rootle index --dry-run`: files to index, files to skip, and an estimate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from rootle.app import App
from rootle.cli.status_output import PARTLY_INDEXED, describe_partial
from rootle.cli.terminal import format_counts, print_json, write_line
from rootle.sources.source import DocumentEntry, SkippedDocument
from rootle.text.languages import file_language
from rootle.types import NEEDS_EXTRA, PartialFile

# Bytes of text that two cores index per second (benchmarks/speed/tool_comparison.py).
_BYTES_PER_SECOND: Final = 2_500_000
_STARTUP_S: Final = 0.5


def report_dry_run(app: App, *, as_json: bool) -> None:
    """Print the changes that `rootle index` would make, without making them."""
    plan = app.plan()
    files = [planned.entry for planned in plan.read]
    skips = [planned.skip for planned in plan.skip]
    total = sum(entry.size for entry in files)
    seconds = round(_STARTUP_S + total / _BYTES_PER_SECOND, 1) if files else 0.0
    if as_json:
        print_json(
            {
                "files": [_file_data(entry) for entry in files],
                "skipped": [_skip_data(skip) for skip in skips],
                "partialFiles": plan.partial,
                "removed": [state.path for state in plan.remove],
                "unchanged": plan.unchanged,
                "bytes": total,
                "estimatedSeconds": seconds,
            }
        )
        return
    write_line(
        f"{len(files)} files to index ({_format_size(total)}), {plan.unchanged} unchanged, "
        f"{len(plan.remove)} to remove; about {seconds} s"
    )
    _print_languages(files)
    _print_skips(skips)
    _print_partial(plan.partial, {entry.uri: entry.size for entry in files})


def _file_data(entry: DocumentEntry) -> dict[str, object]:
    return {"filePath": entry.uri, "bytes": entry.size, "language": file_language(entry.uri)}


def _skip_data(skip: SkippedDocument) -> dict[str, object]:
    return {"filePath": skip.uri, "bytes": skip.size, "reason": skip.reason}


def _print_languages(files: Sequence[DocumentEntry]) -> None:
    sizes: dict[str, list[int]] = {}
    for entry in files:
        sizes.setdefault(file_language(entry.uri), []).append(entry.size)
    for language, found in sorted(sizes.items(), key=lambda item: -sum(item[1])):
        write_line(f"  {language:14} {len(found):6} files  {_format_size(sum(found)):>9}")


def _print_skips(skips: Sequence[SkippedDocument]) -> None:
    if not skips:
        return
    write_line(f"skipped: {format_counts(Counter(skip.reason for skip in skips))}")
    for skip in skips:
        write_line(f"  {skip.reason:{len(NEEDS_EXTRA)}} {_format_size(skip.size):>9}  {skip.uri}")


def _print_partial(files: Sequence[PartialFile], sizes: Mapping[str, int]) -> None:
    if files:
        write_line(f"{PARTLY_INDEXED}: {len(files)}")
    for file in files:
        size = _format_size(sizes[file.path])
        write_line(f"  {PARTLY_INDEXED:{len(NEEDS_EXTRA)}} {size:>9}  {describe_partial(file)}")


def _format_size(size: float) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
