"""Output of figures as JSON files and formatted intervals."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.common.statistics import Interval


def write_json(path: Path | None, report: object) -> None:
    """Write a report to a file, if one is given."""
    if path is not None:
        path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def format_interval(interval: Interval, form: str = ".3f", separator: str = "–") -> str:
    """Return both ends of an interval in parentheses: `(0.120–0.340)`."""
    low, high = interval
    return f"({low:{form}}{separator}{high:{form}})"
