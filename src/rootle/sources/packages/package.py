"""Packages that a project names, and packages that are installed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

Ecosystem = Literal["python", "npm", "cargo", "go", "maven", "ruby", "php"]
Container = Literal["", "zip", "metadata"]

# Maps the name of a lock file to the command that installs its packages. The message about a
# missing package contains this command.
_REMEDIES: Final = {
    "uv.lock": "uv sync",
    "poetry.lock": "poetry install",
    "pdm.lock": "pdm sync",
    "pyproject.toml": "pip install -e .",
    "package-lock.json": "npm ci",
    "npm-shrinkwrap.json": "npm ci",
    "package.json": "npm install",
    "pnpm-lock.yaml": "pnpm install --frozen-lockfile",
    "yarn.lock": "yarn install",
    "Cargo.lock": "cargo fetch",
    "go.mod": "go mod download",
    "pom.xml": "mvn dependency:sources",
    "gradle.lockfile": "mvn dependency:get with the classifier sources",
    "Gemfile.lock": "bundle install",
    "composer.lock": "composer install",
}
_PYTHON_SEPARATORS: Final = re.compile(r"[-_.]+")
# Names of packages become parts of paths, so other characters are refused.
_NAME: Final = re.compile(r"@?[\w.~!+-]+(?:[/:][\w.~!+-]+)*", re.ASCII)
_VERSION: Final = re.compile(r"[\w.~!+*-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class LockedPackage:
    """A package that a lock file or a list of dependencies names."""

    name: str
    version: str = ""  # "" if it is not pinned
    is_direct: bool = True  # whether the project itself requires it
    # True if it need not be installed, for example because it is for another platform.
    is_optional: bool = False
    folder: str = ""  # where npm installs the package, relative to the lock file


@dataclass(frozen=True, slots=True)
class LockFile:
    """The packages that one file names."""

    path: str  # relative to the root of the project
    ecosystem: Ecosystem
    packages: tuple[LockedPackage, ...] = ()
    refused: tuple[str, ...] = ()  # a message for each entry that leads outside the project

    @property
    def folder(self) -> str:
        """The folder of the file, relative to the root; "" for the root."""
        return self.path.rpartition("/")[0]

    @property
    def remedy(self) -> str:
        """The command that installs the packages, to be run in the root of the project."""
        name = self.path.rpartition("/")[2]
        # Paths are quoted, because they can contain anything, and agents may run this command.
        command = _REMEDIES.get(name)
        if command is None:
            return f"pip install -r {shlex.quote(self.path)}"
        return f"cd {shlex.quote(self.folder)} && {command}" if self.folder else command


@dataclass(frozen=True, slots=True)
class PackageFile:
    """A file of an installed package."""

    path: str  # the path in the package; the last part of the URI
    root: str  # the folder below which links are not followed
    relative: str  # relative to `root`: the path of the file, or of the archive that contains it
    container: Container = ""
    member: str = ""  # the name in the archive
    size: int = 0
    stamp: tuple[int, int] = (0, 0)  # times of modification and change


@dataclass(frozen=True, slots=True)
class InstalledPackage:
    """An installed package. Its files are listed when they are needed."""

    name: str
    version: str
    list_files: Callable[[], Sequence[PackageFile]]
    refused: tuple[str, ...] = ()
    # Lists the packages that this package requires according to its metadata; it returns none if
    # only lock files are read for the ecosystem.
    list_required: Callable[[], Sequence[LockedPackage]] = tuple


def normalize_name(ecosystem: Ecosystem, name: str) -> str:
    """Return the normal form of a name, which all spellings of the name have in common."""
    if ecosystem == "python":
        return _PYTHON_SEPARATORS.sub("-", name).lower()
    return name


def is_safe_name(name: str, version: str = "") -> bool:
    """Return whether a path made of a name and a version stays inside its base folder."""
    return (
        len(name) + len(version) <= 300
        and _NAME.fullmatch(name) is not None
        and _VERSION.fullmatch(version) is not None
        and ".." not in re.split(r"[/:]", name)
        and "." not in re.split(r"[/:]", name)
        and version not in (".", "..")
    )
