"""Java packages: archives of sources in the caches of Maven and Gradle."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Final

from rootle.sources.packages.installed.readable_folders import (
    Environment,
    is_below,
    list_subfolders,
    path_in,
)
from rootle.sources.packages.locks.jvm_locks import read_required
from rootle.sources.packages.locks.lock_text import read_lock_text
from rootle.sources.packages.package import (
    InstalledPackage,
    LockedPackage,
    PackageFile,
    is_safe_name,
)
from rootle.sources.packages.wanted_files import MAX_FILES, is_wanted, stat_file

_MAX_MEMBERS: Final = 50_000
_MAX_MEMBER_BYTES: Final = 20_000_000
_MAX_ARCHIVE_BYTES: Final = 300_000_000
_MAX_FOLDERS: Final = 50


class JavaPackages:
    """Finds archives of sources, such as guava-33.0-sources.jar."""

    refused: Sequence[str] = ()

    def __init__(self, environment: Environment, folder: str) -> None:  # noqa: ARG002
        gradle = environment.variable("GRADLE_USER_HOME") or environment.home(".gradle")
        self._maven = [*environment.folders, environment.home(".m2", "repository")]
        self._gradle = path_in(gradle, "caches", "modules-2", "files-2.1")

    def find(self, locked: LockedPackage) -> InstalledPackage | None:
        """Return the package if its sources are on disk."""
        group, _, artifact = locked.name.partition(":")
        if not (group and artifact and locked.version):
            return None
        name = f"{artifact}-{locked.version}-sources.jar"
        for place in self._places(group, artifact, locked.version):
            path = os.path.join(place, name)
            if os.path.isfile(path):
                uri_name = f"{group}/{artifact}"
                files = partial(_list_archive, os.path.realpath(place), name)
                required = partial(read_required, locked.name, locked.version, self._read_pom)
                return InstalledPackage(uri_name, locked.version, files, list_required=required)
        return None

    def _read_pom(self, name: str, version: str) -> str:
        group, _, artifact = name.partition(":")
        if not is_safe_name(name, version) or "/" in name:
            return ""
        for place in self._places(group, artifact, version):
            if text := read_lock_text(place, f"{artifact}-{version}.pom"):
                return text
        return ""

    def _places(self, group: str, artifact: str, version: str) -> Iterator[str]:
        for home in self._maven:
            place = os.path.join(home, *group.split("."), artifact, version)
            if home and is_below(place, home):
                yield place
        place = path_in(self._gradle, group, artifact, version)
        if place and is_below(place, self._gradle):
            yield from islice(list_subfolders(place), _MAX_FOLDERS)


def _list_archive(root: str, name: str) -> list[PackageFile]:
    archive = stat_file("", root, name)
    if archive is None or archive.size > _MAX_ARCHIVE_BYTES:
        return []
    try:
        with zipfile.ZipFile(os.path.join(root, name)) as jar:
            members = jar.infolist()[:_MAX_MEMBERS]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return []
    found = []
    for member in members:
        path = member.filename
        is_inside = path and not path.startswith("/") and ".." not in path.split("/")
        is_small = member.file_size <= _MAX_MEMBER_BYTES and not member.flag_bits & 1
        if is_inside and is_small and not member.is_dir() and is_wanted(path):
            stamp = archive.stamp
            found.append(PackageFile(path, root, name, "zip", path, member.file_size, stamp))
    return found[:MAX_FILES]
