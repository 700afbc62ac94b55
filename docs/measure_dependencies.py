"""Prints what the dependencies weigh as they are installed: the figures of docs/dependencies.md.

    .venv/bin/python docs/measure_dependencies.py

A size is the sum over the files that a wheel unpacked, compiled bytecode left out.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from importlib.metadata import distribution
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def main() -> None:
    lines = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]
    sizes = {}
    for name in with_their_own(map(name_of, lines)):
        sizes[name], version = measured(name)
        print(f"{name:24} {version:10} {sizes[name] / 1e6:6.1f} MB")
    grammars = sum(size for name, size in sizes.items() if name.startswith("tree-sitter-"))
    print(f"{'the grammars together':35} {grammars / 1e6:6.1f} MB")
    print(f"{'all together':35} {sum(sizes.values()) / 1e6:6.1f} MB")


def with_their_own(names: Iterable[str]) -> list[str]:
    """These packages and what they need in turn on every system, each once."""
    known: list[str] = []
    pending = list(names)
    while pending:
        name = pending.pop(0)
        if name not in known:
            known.append(name)
            needed = distribution(name).requires or ()
            pending += [name_of(line) for line in needed if ";" not in line]
    return known


def name_of(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0]


def measured(name: str) -> tuple[int, str]:
    """Bytes on disk and version of an installed package."""
    found = distribution(name)
    files = [file for file in found.files or () if "__pycache__" not in file.parts]
    return sum(Path(str(file.locate())).stat().st_size for file in files), found.version


if __name__ == "__main__":
    main()
