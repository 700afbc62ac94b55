"""The output of the commands for added sources."""

from __future__ import annotations

from rootle.cli.terminal import count_text, printable
from rootle.serialization.timestamps import format_age
from rootle.types import AddedSource


def source_line(source: AddedSource) -> str:
    """Return a source in one line."""
    parts = [
        f"{source.name}  {source.address}",
        f"{source.kind}, {count_text(source.documents, 'document')}, {source.chars / 1e6:.1f} MB, "
        f"read {format_age(source.age_seconds)} ago, {source.trust}",
    ]
    if source.weight != 1.0:
        parts[1] += f", weight {source.weight:g}"
    if source.note:
        parts.append(source.note)
    return printable("  ".join(parts))
