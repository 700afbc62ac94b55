"""List the packages used for training, each with license, pairs and text size, and the totals.

    python -m training.corpus.list_sources WORK PACKAGES... [--histories DIR]
        > training/sources.tsv

WORK is the work folder of `train_embedding`. The license comes from the package's metadata or its
license file; it is "?" if neither names one.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.common.arguments import HISTORIES, PACKAGES, WORK, command_parser

from training.corpus.sampling import Project, find_projects

_DECLARED: Final = re.compile(
    r"^(?:\s*\"license\"\s*:\s*(?:\{\s*\"type\"\s*:\s*)?\"|license\s*=\s*\"|License(?:-Expression)?:"
    r"\s*)([^\"\n]{2,60})",
    re.MULTILINE,
)
_METADATA: Final = frozenset({"Cargo.toml", "package.json", "PKG-INFO", "METADATA"})
_LICENSE_FILE: Final = re.compile(r"(?:licen[sc]e|copying|copyright|unlicense)", re.IGNORECASE)
# In order: the first phrase that occurs determines the license.
_PHRASES: Final = (
    ("AGPL", "affero general public"),
    ("LGPL", "lesser general public"),
    ("LGPL", "library general public"),
    ("GPL", "general public license"),
    ("MPL", "mozilla public"),
    ("Apache-2.0", "apache license"),
    ("EPL", "eclipse public"),
    ("BSD", "redistributions of source code"),
    ("BSD", "redistribution and use"),
    ("MIT", "permission is hereby granted, free of charge"),
    ("ISC", "permission to use, copy, modify"),
    ("Artistic", "artistic license"),
    ("PostgreSQL", "postgresql"),
    ("Zlib", "zlib"),
)
EXTRACTED: Final = WORK.with_settings(help="folder of the extracted pairs")
_MAX_DEPTH: Final = 3
_HEAD_CHARS: Final = 20_000


@dataclass(frozen=True)
class PackageRecord:
    """The text that was extracted from a package."""

    pairs: int
    bytes_by_language: Counter[str]


def main() -> None:
    args = command_parser(__doc__, EXTRACTED, PACKAGES, HISTORIES).parse_args()
    projects = {one.name: one for one in find_projects(args.packages, args.histories)}
    records = read_records(args.work, projects)
    sys.stdout.write("package\tlicense\tpairs\tkB\tlanguages\n")
    for name, record in sorted(records.items()):
        sys.stdout.write(format_row(name, find_license(projects[name].folder), record))
    sys.stderr.write(format_totals(records))


def read_records(work: Path, projects: Mapping[str, Project]) -> dict[str, PackageRecord]:
    """Return the packages that yielded pairs, each with its last record."""
    records = {}
    for path in sorted(work.glob("shard*/projects.jsonl")):
        for record in map(json.loads, path.read_text().splitlines()):
            if record["pairs"] and record["name"] in projects:
                records[record["name"]] = PackageRecord(record["pairs"], Counter(record["bytes"]))
    return records


def find_license(folder: Path) -> str:
    """Return the license of an unpacked package, or "?" if its top folders do not name one."""
    for _ in range(_MAX_DEPTH):
        inside = sorted(folder.iterdir())
        files = [path for path in inside if path.is_file()]
        if found := declared_license(files) or license_of_text(files):
            return found
        folders = [path for path in inside if path.is_dir()]
        if len(folders) != 1:
            break
        (folder,) = folders
    return "?"


def declared_license(files: Sequence[Path]) -> str:
    """Return the license that metadata declares, or "" if there is none."""
    for path in files:
        declared = _DECLARED.search(_read_head(path)) if path.name in _METADATA else None
        if declared:
            return " ".join(declared[1].split())
    return ""


def license_of_text(files: Sequence[Path]) -> str:
    """Return the license that a license file quotes, or "" if there is none."""
    for path in files:
        if _LICENSE_FILE.match(path.name):
            text = " ".join(_read_head(path).lower().split())
            for name, phrase in _PHRASES:
                if phrase in text:
                    return name
    return ""


def _read_head(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(_HEAD_CHARS)


def format_row(name: str, license_name: str, record: PackageRecord) -> str:
    """Return one line of the list, with the size in kB of the four most frequent languages."""
    sizes = record.bytes_by_language
    shares = " ".join(f"{language}:{size // 1000}" for language, size in sizes.most_common(4))
    return f"{name}\t{license_name}\t{record.pairs}\t{sizes.total() // 1000}\t{shares}\n"


def format_totals(records: Mapping[str, PackageRecord]) -> str:
    """Return totals: the packages, MB and pairs of each group, and the MB of each language."""
    groups: dict[str, Counter[str]] = defaultdict(Counter)
    languages: Counter[str] = Counter()
    for name, record in records.items():
        size = record.bytes_by_language.total()
        groups[name.partition("/")[0]] += Counter(packages=1, bytes=size, pairs=record.pairs)
        languages.update(record.bytes_by_language)
    lines = [
        f"{group}: {row['packages']} packages, {row['bytes'] / 1e6:.1f} MB, {row['pairs']} pairs"
        for group, row in sorted(groups.items())
    ]
    lines.append(", ".join(f"{name} {size / 1e6:.1f}" for name, size in languages.most_common()))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
