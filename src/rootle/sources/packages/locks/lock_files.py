"""Find and read the lock files of a project."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from typing import Final

from rootle.sources.packages.locks.jvm_locks import read_gradle_lock, read_pom
from rootle.sources.packages.locks.node_locks import (
    read_package_json,
    read_package_lock,
    read_pnpm_lock,
    read_yarn_lock,
)
from rootle.sources.packages.locks.python_locks import (
    read_poetry_lock,
    read_pyproject,
    read_requirements,
    read_uv_lock,
)
from rootle.sources.packages.locks.system_locks import (
    read_cargo_lock,
    read_composer_lock,
    read_gemfile_lock,
    read_go_mod,
)
from rootle.sources.packages.package import LockFile

_Read = Callable[[str, str], LockFile]
# Of each group, only the first pattern that matches a file in the folder is used: the patterns of
# exact lock files precede those of lists of names. All files that match this pattern are read.
_GROUPS: Final[Sequence[Mapping[str, _Read]]] = (
    {
        "uv.lock": read_uv_lock,
        "poetry.lock": read_poetry_lock,
        "pdm.lock": read_poetry_lock,
        "requirements*.txt": read_requirements,
        "pyproject.toml": read_pyproject,
    },
    {
        "package-lock.json": read_package_lock,
        "npm-shrinkwrap.json": read_package_lock,
        "pnpm-lock.yaml": read_pnpm_lock,
        "yarn.lock": read_yarn_lock,
        "package.json": read_package_json,
    },
    {"Cargo.lock": read_cargo_lock},
    {"go.mod": read_go_mod},
    {"gradle.lockfile": read_gradle_lock, "pom.xml": read_pom},
    {"Gemfile.lock": read_gemfile_lock},
    {"composer.lock": read_composer_lock},
)
# Lists of names that a member of a workspace has in addition to the lock file of the workspace, and
# that are read at the top two levels only.
_MEMBER_LISTS: Final = {"pyproject.toml", "package.json", "pom.xml"}
# Folders that usually contain files of other projects, or test data.
_SKIPPED: Final = {"node_modules", "vendor", "venv", "env", "target", "build", "dist", "testdata"}
# Folders whose subfolders are often small projects whose packages are not installed.
_SAMPLES: Final = frozenset(
    """
    __tests__ benchmark benchmarks demo demos e2e example examples fixture fixtures integration
    playground playgrounds sample samples spec specs template templates test tests
    """.split()
)
_MAX_DEPTH: Final = 3
_MAX_FOLDERS: Final = 200  # in one folder
_MAX_ALL_FOLDERS: Final = 1_000
_MAX_NAMES: Final = 10_000


def read_lock_files(root: str) -> list[LockFile]:
    """Return the lock files in a folder and in its subfolders, up to three levels deep.

    The lock files of higher folders come first.
    """
    found = []
    for folder in _list_folders(root):
        is_deep = "/" in folder
        names = _list_names(os.path.join(root, folder))
        for group in _GROUPS:
            for pattern, read in group.items():
                matching = sorted(name for name in names if fnmatchcase(name, pattern))
                if matching and not (is_deep and pattern in _MEMBER_LISTS):
                    found += [read(root, f"{folder}/{name}".lstrip("/")) for name in matching]
                    break
    return [lock for lock in found if lock.packages or lock.refused]


def _list_folders(root: str) -> list[str]:
    """Return the relative paths of the folders that may contain lock files, by level."""
    folders = [""]
    level = [""]
    for depth in range(_MAX_DEPTH):
        parents = [one for one in level if depth == 0 or one.rpartition("/")[2] not in _SAMPLES]
        level = []
        for parent in parents:
            if len(folders) + len(level) >= _MAX_ALL_FOLDERS:
                break
            level += [f"{parent}/{name}".lstrip("/") for name in _list_subfolders(root, parent)]
        folders += level
    return folders[:_MAX_ALL_FOLDERS]


def _list_subfolders(root: str, folder: str) -> list[str]:
    names = _list_names(os.path.join(root, folder), folders=True)
    kept = [name for name in names if name not in _SKIPPED and not name.startswith(".")]
    return sorted(kept)[:_MAX_FOLDERS]


def _list_names(folder: str, *, folders: bool = False) -> list[str]:
    """Return the names of the files in a folder, or of the folders in it.

    Names with control characters are left out, because messages contain the names of lock files.
    """
    try:
        with os.scandir(folder) as entries:
            return [
                entry.name
                for entry in islice(entries, _MAX_NAMES)
                if entry.name.isprintable()
                and (entry.is_dir if folders else entry.is_file)(follow_symlinks=False)
            ]
    except OSError:
        return []
