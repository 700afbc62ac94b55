"""The list of the indexed packages of a project, in a small file next to the indexes.

For a question that does not ask for packages, only this file is read.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from rootle.storage.atomic_file import write_file
from rootle.types import DependencyPackage

_FORMAT: Final = 2


@dataclass(frozen=True, slots=True)
class PackageCatalog:
    """The packages of a project when they were last indexed."""

    view: str  # the folder with their index, relative to the folder of all indexes
    packages: tuple[DependencyPackage, ...]
    missing: tuple[DependencyPackage, ...] = ()
    refused: tuple[str, ...] = ()
    lock_files: tuple[str, ...] = ()
    # Maps the names by which questions may mention a package (its own name, and those of its
    # modules) to the name of the package.
    aliases: Mapping[str, str] = field(default_factory=dict)
    unsearched: tuple[str, ...] = ()  # packages that only other packages require
    indexed_s: float = 0.0  # Unix time


def read_catalog(path: Path) -> PackageCatalog | None:
    """Return the list; None if no packages are indexed."""
    try:
        data = json.loads(path.read_bytes())
        if data.pop("format") != _FORMAT:
            return None
        for key in ("packages", "missing"):
            data[key] = tuple(DependencyPackage(**one) for one in data[key])
        for key in ("refused", "lock_files", "unsearched"):
            data[key] = tuple(data[key])
        return PackageCatalog(**data)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def write_catalog(path: Path, catalog: PackageCatalog) -> None:
    """Store the list."""
    data: dict[str, Any] = {"format": _FORMAT, **asdict(catalog), "indexed_s": time.time()}
    write_file(path, json.dumps(data).encode(), sync=False)
