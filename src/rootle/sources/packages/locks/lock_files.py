"""Find and read the lock files of a project."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from typing import Final

from rootle.sources.packages.locks.jvm_locks import read_gradle_lock, read_pom
from rootle.sources.packages.locks.lock_text import LockTexts
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

_Read = Callable[[LockTexts, str], LockFile]
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
# Each member of a workspace has such a file, although the lock file of the workspace names the same
# packages. So these files are read only in the root and in its direct subfolders.
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
    texts = LockTexts(root)
    found = []
    for folder, names in _list_folders(root):
        is_deep = "/" in folder
        for group in _GROUPS:
            for pattern, read in group.items():
                matching = sorted(name for name in names if fnmatchcase(name, pattern))
                if matching and not (is_deep and pattern in _MEMBER_LISTS):
                    found += [read(texts, f"{folder}/{name}".lstrip("/")) for name in matching]
                    break
    return [lock for lock in found if lock.packages or lock.refused]


def _list_folders(root: str) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the relative paths of the folders that may contain lock files, higher ones first.

    Each path comes with the names of the files in the folder.
    """
    queue = deque([("", 0)])  # paths and levels
    count = 1
    while queue:
        folder, level = queue.popleft()
        files, subfolders = _list_entries(os.path.join(root, folder))
        yield folder, files
        if level == _MAX_DEPTH or folder.rpartition("/")[2] in _SAMPLES:
            continue
        kept = sorted(name for name in subfolders if name not in _SKIPPED and name[0] != ".")
        kept = kept[: min(_MAX_FOLDERS, _MAX_ALL_FOLDERS - count)]
        queue += [(f"{folder}/{name}".lstrip("/"), level + 1) for name in kept]
        count += len(kept)


def _list_entries(folder: str) -> tuple[list[str], list[str]]:
    """Return the names of the files in a folder, and those of its subfolders.

    Names with control characters are left out, because messages contain the names of lock files.
    """
    files: list[str] = []
    folders: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in islice(entries, _MAX_NAMES):
                if not entry.name.isprintable():
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                elif entry.is_file(follow_symlinks=False):
                    files.append(entry.name)
    except OSError:
        return [], []
    return files, folders
