"""List the installed packages of a project with their files."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, Protocol

from rootle.sources.packages.installed.folder_packages import (
    CargoPackages,
    ComposerPackages,
    GoPackages,
    NodePackages,
    RubyPackages,
)
from rootle.sources.packages.installed.python_environment import PythonPackages
from rootle.sources.packages.installed.readable_folders import Environment
from rootle.sources.packages.installed.source_jars import JavaPackages
from rootle.sources.packages.locks.lock_files import read_lock_files
from rootle.sources.packages.package import (
    Ecosystem,
    InstalledPackage,
    LockedPackage,
    LockFile,
    PackageFile,
    is_safe_name,
    normalize_name,
)
from rootle.types import PACKAGE_URI

Extent = Literal["direct", "all"]
_MAX_PACKAGE_FILES: Final = 150_000  # the total number of files in all packages
_UNSAFE: Final = re.compile(r"[^\w.~!+@/-]", re.ASCII)


class Finder(Protocol):
    """Finds the installed packages of one ecosystem for the lock files in one folder."""

    @property
    def refused(self) -> Sequence[str]:
        """A message for each folder that is not read."""

    def find(self, locked: LockedPackage) -> InstalledPackage | None:
        """Return the package that a lock file names; None if it is not installed."""


@dataclass(frozen=True, slots=True)
class ListedPackage:
    """An installed package with its files."""

    name: str  # unique together with the version; part of the URIs of its files
    version: str
    locked: str  # the version in the lock file; "" if it is not pinned
    files: tuple[PackageFile, ...]

    def uri(self, file: PackageFile) -> str:
        """Return the URI of a file, such as "deps:httpx@0.28.1/httpx/_client.py"."""
        return f"{PACKAGE_URI}{self.name}@{self.version}/{file.path}"


@dataclass(frozen=True, slots=True)
class MissingPackage:
    """A package that is not installed."""

    name: str
    version: str  # "" if it is not pinned
    remedy: str  # the command that installs it


@dataclass(frozen=True, slots=True)
class DependencyListing:
    """The packages of a project."""

    locks: tuple[str, ...]  # paths of the files that name packages
    packages: tuple[ListedPackage, ...]
    missing: tuple[MissingPackage, ...] = ()
    refused: tuple[str, ...] = ()  # a message for each path that is not read
    # The packages that only other packages require, if `extent` is "direct". If no lock file names
    # them, only those that the metadata of the listed packages names.
    unsearched: tuple[str, ...] = ()


def list_dependencies(environment: Environment, extent: Extent) -> DependencyListing:
    """Return the installed packages that are named in the lock files of a project.

    Only lock files and the metadata of packages are read. Other files are only listed.
    """
    locks = read_lock_files(environment.root)
    finders: dict[tuple[str, str], Finder] = {}
    listed: dict[tuple[str, str, str], ListedPackage] = {}
    missing: dict[tuple[str, str], MissingPackage] = {}
    refused = [message for lock in locks for message in lock.refused]
    required: list[tuple[Ecosystem, str]] = []
    for lock in locks:
        indirect = [one.name for one in lock.packages if not one.is_direct]
        required += [(lock.ecosystem, name) for name in indirect]
        place = lock.ecosystem, lock.folder
        if place not in finders:
            finders[place] = _FINDERS[lock.ecosystem](environment, lock.folder)
            refused += finders[place].refused
        for locked, found in _find_all(lock, finders[place], extent):
            if found is None:
                if not locked.is_optional:
                    key = lock.ecosystem, normalize_name(lock.ecosystem, locked.name)
                    missing.setdefault(
                        key, MissingPackage(locked.name, locked.version, lock.remedy)
                    )
                continue
            refused += found.refused
            if extent == "direct" and not indirect:
                required += [(lock.ecosystem, one.name) for one in found.list_required()]
            identity = lock.ecosystem, found.name, found.version
            if found.refused:
                continue
            if identity not in listed:
                listed[identity] = _list(found, locked)
            elif locked.version == found.version:  # another lock file may name another version
                listed[identity] = replace(listed[identity], locked=locked.version)
    return DependencyListing(
        tuple(lock.path for lock in locks),
        tuple(_limit(_distinguish(listed))),
        tuple(missing.values()),
        tuple(dict.fromkeys(refused)),
        _leave_out_direct(required, locks) if extent == "direct" else (),
    )


_FINDERS: Final[Mapping[Ecosystem, Callable[[Environment, str], Finder]]] = {
    "python": PythonPackages,
    "npm": NodePackages,
    "cargo": CargoPackages,
    "go": GoPackages,
    "maven": JavaPackages,
    "ruby": RubyPackages,
    "php": ComposerPackages,
}


def _find_all(
    lock: LockFile, finder: Finder, extent: Extent
) -> Iterator[tuple[LockedPackage, InstalledPackage | None]]:
    """Yield each package of a lock file with its installed package, or with None if it is missing.

    With `extent` "direct", only direct dependencies are yielded. Otherwise, the packages of the
    lock file come first, and then those that the metadata of installed packages requires. Packages
    with a shorter chain of requirements come first. If a Java package is required in two versions,
    the first one is used.
    """
    queue = deque(one for one in lock.packages if extent == "all" or one.is_direct)
    seen = {(normalize_name(lock.ecosystem, one.name), one.folder) for one in queue}
    while queue:
        locked = queue.popleft()
        found = finder.find(locked)
        yield locked, found
        for required in found.list_required() if found and extent == "all" else ():
            key = normalize_name(lock.ecosystem, required.name), required.folder
            if key not in seen:
                seen.add(key)
                queue.append(required)


def _leave_out_direct(
    required: Sequence[tuple[Ecosystem, str]], locks: Sequence[LockFile]
) -> tuple[str, ...]:
    """Return the names of the packages that no lock file names as a direct dependency, sorted."""
    direct = {
        (lock.ecosystem, normalize_name(lock.ecosystem, one.name))
        for lock in locks
        for one in lock.packages
        if one.is_direct
    }
    others = {
        name
        for ecosystem, name in required
        if (ecosystem, normalize_name(ecosystem, name)) not in direct
    }
    return tuple(sorted(others))


def _list(found: InstalledPackage, locked: LockedPackage) -> ListedPackage:
    name, version = _UNSAFE.sub("_", found.name), _UNSAFE.sub("_", found.version) or "0"
    files = found.list_files() if is_safe_name(name, version.replace("/", "_")) else ()
    return ListedPackage(name, version.replace("/", "_"), locked.version, tuple(files))


def _distinguish(listed: Mapping[tuple[str, str, str], ListedPackage]) -> list[ListedPackage]:
    """Return the packages that have files. Repeated names get their ecosystem as a prefix."""
    taken = set[tuple[str, str]]()
    packages = []
    for (ecosystem, _, _), package in listed.items():
        if not package.files:
            continue
        name = package.name
        if (name, package.version) in taken:
            name = f"{ecosystem}/{name}"
        taken.add((name, package.version))
        packages.append(ListedPackage(name, package.version, package.locked, package.files))
    return packages


def _limit(packages: Sequence[ListedPackage]) -> list[ListedPackage]:
    """Return the first packages, with at most _MAX_PACKAGE_FILES files in all."""
    kept, count = [], 0
    for package in packages:
        count += len(package.files)
        if count > _MAX_PACKAGE_FILES:
            break
        kept.append(package)
    return kept


def make_environment(
    root: str | os.PathLike[str], folders: Sequence[str], variables: Mapping[str, str]
) -> Environment:
    """Return the environment of a project. Relative folders are relative to the project."""
    real = os.path.realpath(root)
    resolved = [os.path.realpath(os.path.join(real, os.path.expanduser(one))) for one in folders]
    return Environment(real, tuple(resolved), variables)
