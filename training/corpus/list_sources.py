"""What was read: one line a package with its licence, its text and its pairs, and the sums.

    python -m training.corpus.list_sources WORK PACKAGES... [--histories DIR] > training/sources.tsv

The licence is what the package's own metadata says, or what its licence file looks like; "?" where
neither tells.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Final

from training.corpus.sampling import Project, find_projects

_DECLARED: Final = re.compile(
    r"^(?:\s*\"license\"\s*:\s*(?:\{\s*\"type\"\s*:\s*)?\"|license\s*=\s*\"|License(?:-Expression)?:"
    r"\s*)([^\"\n]{2,60})",
    re.MULTILINE,
)
_METADATA: Final = frozenset({"Cargo.toml", "package.json", "PKG-INFO", "METADATA"})
_LICENCE_FILE: Final = re.compile(r"(?:licen[sc]e|copying|copyright|unlicense)", re.IGNORECASE)
# In order: the first that fits names the licence.
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
_DEPTH: Final = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("work", type=Path)
    parser.add_argument("packages", type=Path, nargs="+")
    parser.add_argument("--histories", type=Path)
    args = parser.parse_args()
    projects = {one.name: one for one in find_projects(args.packages, args.histories)}
    entries = read_entries(args.work, projects)
    out = sys.stdout
    out.write("package\tlicence\tpairs\tkB\tlanguages\n")
    for name, entry in sorted(entries.items()):
        size: Counter[str] = Counter(entry["bytes"])
        shares = " ".join(f"{language}:{count // 1000}" for language, count in size.most_common(4))
        licence = licence_of(projects[name])
        out.write(f"{name}\t{licence}\t{entry['pairs']}\t{size.total() // 1000}\t{shares}\n")
    sys.stderr.write(sums(entries))


def read_entries(work: Path, projects: dict[str, Project]) -> dict[str, dict]:
    """The packages that gave pairs; one that was read twice counts once."""
    found = {}
    for path in sorted(work.glob("shard*/projects.jsonl")):
        for entry in map(json.loads, path.read_text().splitlines()):
            if entry["pairs"] and entry["name"] in projects:
                found[entry["name"]] = entry
    return found


def licence_of(project: Project) -> str:
    folder, depth = project.folder, 0
    while depth < _DEPTH:
        inside = sorted(folder.iterdir())
        files = [path for path in inside if path.is_file()]
        for path in files:
            declared = _DECLARED.search(_head(path)) if path.name in _METADATA else None
            if declared:
                return " ".join(declared[1].split())
        for path in files:
            text = " ".join(_head(path).lower().split()) if _LICENCE_FILE.match(path.name) else ""
            for name, phrase in _PHRASES:
                if phrase in text:
                    return name
        folders = [path for path in inside if path.is_dir()]
        if len(folders) != 1:
            break
        folder, depth = folders[0], depth + 1
    return "?"


def _head(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(20_000)


def sums(entries: dict[str, dict]) -> str:
    """Packages, MB and pairs of each group of packages; MB of each language."""
    groups: dict[str, Counter[str]] = defaultdict(Counter)
    languages: Counter[str] = Counter()
    for name, entry in entries.items():
        size = sum(entry["bytes"].values())
        groups[name.partition("/")[0]] += Counter(packages=1, bytes=size, pairs=entry["pairs"])
        languages.update(entry["bytes"])
    rows = [
        f"{group}: {row['packages']} packages, {row['bytes'] / 1e6:.1f} MB, {row['pairs']} pairs"
        for group, row in sorted(groups.items())
    ]
    rows.append(", ".join(f"{name} {size / 1e6:.1f}" for name, size in languages.most_common()))
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    main()
