"""Print the installed size of every dependency, as listed in docs/reference/dependencies.md.

    .venv/bin/python docs/scripts/measure_dependencies.py

A size is the sum over the files that a wheel unpacked, compiled bytecode left out.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"


def main() -> None:
    lines = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]
    sizes = {}
    for name in with_their_own(lines):
        sizes[name], version = measured(name)
        print(f"{name:24} {version:10} {sizes[name] / 1e6:6.1f} MB")
    grammars = sum(size for name, size in sizes.items() if name.startswith("tree-sitter-"))
    print(f"{'the grammars together':35} {grammars / 1e6:6.1f} MB")
    print(f"{'all together':35} {sum(sizes.values()) / 1e6:6.1f} MB")


def with_their_own(lines: Iterable[str]) -> list[str]:
    """The packages of these requirements and what they need here in turn, each once."""
    known: dict[str, set[str]] = {}  # name -> the extras that were asked for
    pending = list(map(Requirement, lines))
    while pending:
        wanted = pending.pop(0)
        name = canonicalize_name(wanted.name)
        new = {"", *wanted.extras} - known.get(name, set())
        known.setdefault(name, set()).update(new)
        for line in distribution(name).requires or ():
            needed = Requirement(line)
            marker = needed.marker
            if any(marker is None or marker.evaluate({"extra": extra}) for extra in new):
                pending.append(needed)
    return list(known)


def measured(name: str) -> tuple[int, str]:
    """Bytes on disk and version of an installed package."""
    found = distribution(name)
    files = [file for file in found.files or () if "__pycache__" not in file.parts]
    return sum(Path(str(file.locate())).stat().st_size for file in files), found.version


if __name__ == "__main__":
    main()
