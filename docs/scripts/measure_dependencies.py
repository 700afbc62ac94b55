"""Print the installed size of every dependency, as listed in docs/reference/dependencies.md.

    python docs/scripts/measure_dependencies.py

The size of a package is the sum of its installed files without compiled bytecode.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from importlib.metadata import distribution
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT: Final = Path(__file__).resolve().parents[2] / "pyproject.toml"


def main() -> None:
    requirements = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]
    sizes = {}
    for name in resolve(requirements):
        sizes[name], version = measure(name)
        print(f"{name:24} {version:10} {sizes[name] / 1e6:6.1f} MB")
    grammars = sum(size for name, size in sizes.items() if name.startswith("tree-sitter-"))
    print(f"{'grammars':35} {grammars / 1e6:6.1f} MB")
    print(f"{'total':35} {sum(sizes.values()) / 1e6:6.1f} MB")


def resolve(requirements: Iterable[str]) -> list[str]:
    """Return the names of the required packages and their dependencies, without duplicates."""
    requested_extras: dict[str, set[str]] = {}
    pending = list(map(Requirement, requirements))
    while pending:
        requirement = pending.pop(0)
        name = canonicalize_name(requirement.name)
        new = {"", *requirement.extras} - requested_extras.get(name, set())
        requested_extras.setdefault(name, set()).update(new)
        for line in distribution(name).requires or ():
            dependency = Requirement(line)
            marker = dependency.marker
            if any(marker is None or marker.evaluate({"extra": extra}) for extra in new):
                pending.append(dependency)
    return list(requested_extras)


def measure(name: str) -> tuple[int, str]:
    """Return the size in bytes and the version of an installed package."""
    package = distribution(name)
    files = [file for file in package.files or () if "__pycache__" not in file.parts]
    return sum(Path(str(file.locate())).stat().st_size for file in files), package.version


if __name__ == "__main__":
    main()
