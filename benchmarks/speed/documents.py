"""Time, memory and failures of indexing many documents, including hostile ones.

    python -m benchmarks.speed.documents [--documents N] [--json FILE]

N documents (1,000 by default) are written in 22 formats, from one kilobyte to a few megabytes, with
a word that occurs only at the end of each. They are indexed with `rootle index`, first alone and
then, in a new index, together with the hostile documents of `document_files/hostile.py`. Memory is
the peak of the sum of all processes (proportional set size, Linux only).

Failures are: a run that fails; an ordinary document that is skipped; an ordinary document that is
not the first result of the search for its word; and a hostile document that is neither indexed nor
listed by `rootle status --skipped`. Writing the files needs the packages that the tests need.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.common.arguments import JSON, command_parser
from benchmarks.common.reports import write_json
from benchmarks.speed.document_files.hostile import write_hostile_documents
from benchmarks.speed.document_files.ordinary import write_documents
from benchmarks.speed.processes import run_command
from benchmarks.speed.tools import Rootle
from rootle import SearchQuery, open_app

_HOSTILE: Final = "hostile"


@dataclass(frozen=True)
class IndexRun:
    """The measurements of one run of `rootle index` and the state of the index after it."""

    seconds: float
    peak_bytes: int
    files: int  # indexed
    skipped: Mapping[str, str]  # path -> reason
    partial: Collection[str]  # paths of files of which only the beginning is indexed


def main() -> None:
    parser = command_parser(__doc__, JSON)
    parser.add_argument("--documents", type=int, default=1_000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        root = folder / "documents"
        marks = write_documents(root, args.documents)
        size = sum((root / path).stat().st_size for path in marks)
        alone = index(root, folder / "alone")
        hostile = _write_hostile(root, list(marks), folder / "samples")
        together = index(root, folder / "together")
        found = find_marks(root, folder / "together", marks)
    report = summarize(size, marks, hostile, alone, together) | {
        "ordinary documents not found": len(marks) - found
    }
    print(json.dumps(report, indent=2))
    write_json(args.json, report)


def _write_hostile(root: Path, ordinary: list[str], samples: Path) -> list[str]:
    """Write the hostile documents, made from the first ordinary one of each format."""
    samples.mkdir()
    for path in reversed(ordinary):
        shutil.copy(root / path, samples / path.rpartition(".")[2])
    return [f"{_HOSTILE}/{path}" for path in write_hostile_documents(root / _HOSTILE, samples)]


def index(root: Path, scratch: Path) -> IndexRun:
    """Index a folder with `rootle index` into `scratch`."""
    scratch.mkdir()
    tool = Rootle(root, scratch, {"searchLog": False})
    done = run_command(tool.index(), tool.env, with_memory=True)
    listing = [*tool.status(), "--skipped"]
    status = json.loads(run_command(listing, tool.env).output)
    return IndexRun(
        done.seconds,
        done.peak_bytes or 0,
        status["files"],
        dict(status["skippedFiles"]),
        frozenset(partial["path"] for partial in status["partialFiles"]),
    )


def find_marks(root: Path, scratch: Path, marks: Mapping[str, str]) -> int:
    """Return how many documents are the first result of the search for their word."""
    with open_app(root, index_dir=scratch / Rootle.name) as app:
        count = 0
        for path, mark in marks.items():
            results = app.search(SearchQuery(mark, limit=1)).results
            count += bool(results) and results[0].file_path == path
    return count


def summarize(
    size: int,
    ordinary: Collection[str],
    hostile: Collection[str],
    alone: IndexRun,
    together: IndexRun,
) -> dict[str, Any]:
    """Return all figures; `size` is the size of the ordinary documents in bytes."""
    skipped = together.skipped
    lost = len(ordinary) + len(hostile) - together.files - len(skipped)
    return {
        "ordinary documents": len(ordinary),
        "megabytes": round(size / 1e6, 1),
        "seconds": round(alone.seconds, 1),
        "seconds per megabyte": round(alone.seconds / (size / 1e6), 2),
        "peak memory in MB": round(alone.peak_bytes / 1e6),
        "hostile documents": len(hostile),
        "seconds with hostile ones": round(together.seconds, 1),
        "seconds per megabyte with hostile ones": round(together.seconds / (size / 1e6), 2),
        "peak memory in MB with hostile ones": round(together.peak_bytes / 1e6),
        "indexed": together.files,
        "ordinary documents skipped": sum(path in skipped for path in ordinary),
        "ordinary documents read in part": sum(path in together.partial for path in ordinary),
        "hostile documents read in part": sum(path in together.partial for path in hostile),
        "hostile documents skipped": dict(
            Counter(skipped[path] for path in hostile if path in skipped).most_common()
        ),
        "neither indexed nor named": lost,
    }


if __name__ == "__main__":
    main()
