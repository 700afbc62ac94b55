"""The report of `rootle index --dry-run`: files to index, files to skip, and an estimate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rootle.app import App
from rootle.cli.terminal import format_counts, print_json
from rootle.indexing.fingerprint import walk_rules
from rootle.ingest.plan import Plan
from rootle.sources.files.discovery import FileEntry, Skip
from rootle.sources.files.text_reader import read_text
from rootle.text.languages import language_of

# Text that two cores index in a second (benchmarks/speed/tool_comparison.py).
_BYTES_PER_SECOND: Final = 2_500_000
_STARTUP_S: Final = 0.5


def report_dry_run(app: App, *, as_json: bool) -> None:
    """Print what `rootle index` would do, without doing it."""
    plan = app.plan()
    files, skips = _classify(app.root, plan, walk_rules(app.config).readers)
    total = sum(entry.size for entry in files)
    seconds = round(_STARTUP_S + total / _BYTES_PER_SECOND, 1) if files else 0.0
    if as_json:
        print_json(
            {
                "files": [_file_data(entry) for entry in files],
                "skipped": [_skip_data(skip) for skip in skips],
                "removed": [state.path for state in plan.remove],
                "unchanged": plan.unchanged,
                "bytes": total,
                "estimatedSeconds": seconds,
            }
        )
        return
    print(
        f"{len(files)} files to index ({_format_size(total)}), {plan.unchanged} unchanged, "
        f"{len(plan.remove)} to remove; about {seconds} s"
    )
    _print_languages(files)
    _print_skips(skips)


def _classify(
    root: Path, plan: Plan, readers: tuple[tuple[str, str], ...]
) -> tuple[list[FileEntry], list[Skip]]:
    """Return the files to index, and those to skip because of their name or content."""
    files, skips = [], [skip for skip, _ in plan.skip]
    for entry, _ in plan.read:
        text = read_text(root / entry.path, entry.path, readers)
        if isinstance(text, str):  # the reason why there is no text
            skips.append(Skip(entry.path, text, entry.size))
        else:
            files.append(entry)
    return files, sorted(skips, key=lambda skip: skip.path)


def _file_data(entry: FileEntry) -> dict[str, object]:
    return {"filePath": entry.path, "bytes": entry.size, "language": language_of(entry.path)}


def _skip_data(skip: Skip) -> dict[str, object]:
    return {"filePath": skip.path, "bytes": skip.size, "reason": skip.reason}


def _print_languages(files: Sequence[FileEntry]) -> None:
    sizes: dict[str, list[int]] = {}
    for entry in files:
        sizes.setdefault(language_of(entry.path), []).append(entry.size)
    for language, found in sorted(sizes.items(), key=lambda item: -sum(item[1])):
        print(f"  {language:14} {len(found):6} files  {_format_size(sum(found)):>9}")


def _print_skips(skips: Sequence[Skip]) -> None:
    if not skips:
        return
    print(f"skipped: {format_counts(Counter(skip.reason for skip in skips))}")
    for skip in skips:
        path = skip.path if skip.path.isprintable() else ascii(skip.path)
        print(f"  {skip.reason:18} {_format_size(skip.size):>9}  {path}")


def _format_size(size: float) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
