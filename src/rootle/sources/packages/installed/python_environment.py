"""Python packages in a virtual environment."""

from __future__ import annotations

import csv
import json
import os
import posixpath
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final
from urllib.parse import unquote, urlsplit

from rootle.sources.files.regular_file_reader import read_below
from rootle.sources.packages.installed.readable_folders import (
    Environment,
    existing_folders,
    is_below,
)
from rootle.sources.packages.package import (
    InstalledPackage,
    LockedPackage,
    PackageFile,
    normalize_name,
)
from rootle.sources.packages.wanted_files import (
    MAX_FILES,
    is_wanted,
    list_package_files,
    stat_file,
)

_INFO: Final = re.compile(r"(.+?)-([^-]+?)(?:-py\d.*)?\.(?:dist-info|egg-info)", re.ASCII)
_REQUIRED: Final = re.compile(r"Requires-Dist:\s*([A-Za-z0-9][\w.-]*)", re.ASCII)
_EXTRA: Final = re.compile(r"\bextra\b")
_VENV_NAMES: Final = (".venv", "venv", "env")
_SITE: Final = "site-packages"
_MAX_LIST_BYTES: Final = 20_000_000
_MAX_URL_BYTES: Final = 10_000
_MAX_SITES: Final = 8


class PythonPackages:
    """Finds the installed packages of one environment. Each folder is listed once."""

    def __init__(self, environment: Environment, folder: str) -> None:
        """`folder` is the folder of the lock file, relative to the root."""
        self._environment = environment
        self._folder = folder
        self.refused: list[str] = []
        self._sites = self._find_sites()
        self._found = [dict(_list_infos(site)) for site in self._sites]

    def find(self, locked: LockedPackage) -> InstalledPackage | None:
        """Return the installed package with this name, whatever its version."""
        name = normalize_name("python", locked.name)
        for site, infos in zip(self._sites, self._found, strict=True):
            if name in infos:
                info, version = infos[name]
                return self._open(site, info, name, version)
        return None

    def _open(self, site: str, info: str, name: str, version: str) -> InstalledPackage | None:
        editable = _editable_folder(site, info)
        if not editable:
            files = partial(_list_installed, site, info)
            required = partial(_list_required, site, info)
            return InstalledPackage(name, version, files, list_required=required)
        if is_below(editable, self._environment.root):  # the project's own files
            return InstalledPackage(name, version, list)
        if self._environment.may_read(editable):
            files = partial(list_package_files, os.path.realpath(editable), "")
            return InstalledPackage(name, version, files)
        # The metadata can name any path, even a path with line breaks.
        shown = editable if editable.isprintable() else repr(editable)
        return InstalledPackage(
            name,
            version,
            list,
            (
                f"{name} is installed from {shown}, which is outside the project and is not "
                "read; to read it, add the folder to dependencyFolders",
            ),
        )

    def _find_sites(self) -> list[str]:
        """Return the site-packages folders: configured folders, then folders of the project.

        The active virtual environment is used if the project has none.
        """
        root = self._environment.root
        homes = dict.fromkeys((os.path.join(root, self._folder), os.path.join(root, "")))
        own = [os.path.join(home, name) for home in homes for name in _VENV_NAMES]
        outside = [path for path in existing_folders(own) if not self._environment.may_read(path)]
        self.refused += [
            f"{os.path.basename(path)} is a link to a folder outside the project and is not read; "
            "add the folder to dependencyFolders"
            for path in outside
            if _list_sites(path)
        ]
        project = [path for path in existing_folders(own) if path not in outside]
        configured = [
            os.path.join(folder, name)
            for folder in self._environment.folders
            for name in ("", *_VENV_NAMES)
        ]
        sites = [site for folder in (*configured, *project) for site in _list_sites(folder)]
        if not any(_list_sites(folder) for folder in project):
            sites += _list_sites(self._environment.variable("VIRTUAL_ENV"))
        return list(dict.fromkeys(sites))[:_MAX_SITES]


def _list_sites(folder: str) -> list[str]:
    """Return the site-packages folders of an environment, or the folder itself if it is one."""
    if not folder or not os.path.isdir(folder):
        return []
    real = os.path.realpath(folder)
    if os.path.basename(real) == _SITE:
        return [real]
    found = [os.path.join(real, "Lib", _SITE)]
    try:
        names = sorted(os.listdir(os.path.join(real, "lib")))
    except OSError:
        names = []
    found += [os.path.join(real, "lib", name, _SITE) for name in names if "python" in name]
    return [site for site in existing_folders(found) if is_below(site, real)]


def _list_infos(site: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the normalized name of each package with its metadata folder and its version."""
    try:
        names = sorted(os.listdir(site))
    except OSError:
        return
    for name in names:
        found = _INFO.fullmatch(name)
        if found is not None:
            yield normalize_name("python", found[1]), (name, found[2])


def _editable_folder(site: str, info: str) -> str:
    """Return the folder of a package that is installed in editable mode, or ""."""
    raw = read_below(site, f"{info}/direct_url.json", _MAX_URL_BYTES)
    if isinstance(raw, str):
        return ""
    try:
        data = json.loads(raw)
        if not data["dir_info"].get("editable"):
            return ""
        path = unquote(urlsplit(str(data["url"])).path)
        return path.replace("\0", "_")  # no path contains a null character
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ""


def _list_required(site: str, info: str) -> list[LockedPackage]:
    """Return the packages that a package always requires, not those that only extras require."""
    raw = read_below(site, f"{info}/METADATA", _MAX_LIST_BYTES)
    lines = [] if isinstance(raw, str) else raw.decode("utf-8", "replace").splitlines()
    found = []
    for line in lines[: lines.index("") if "" in lines else None]:
        required = _REQUIRED.match(line)
        if required is not None and not _EXTRA.search(line.partition(";")[2]):
            found.append(LockedPackage(required[1], is_direct=False, is_optional=True))
    return found


def _list_installed(site: str, info: str) -> list[PackageFile]:
    found = [file for path in _list_recorded(site, info) if (file := _stat(site, path)) is not None]
    described = stat_file("", site, f"{info}/METADATA") or stat_file("", site, f"{info}/PKG-INFO")
    if described is not None:
        found.append(
            PackageFile(
                "DESCRIPTION.md",
                site,
                described.relative,
                "metadata",
                size=described.size,
                stamp=described.stamp,
            )
        )
    return found[:MAX_FILES]


def _list_recorded(site: str, info: str) -> Sequence[str]:
    """Return the wanted paths in the list of installed files.

    Scripts and data outside of site-packages are left out.
    """
    raw = read_below(site, f"{info}/RECORD", _MAX_LIST_BYTES)
    if isinstance(raw, str):
        return _list_by_modules(site, info)
    paths = []
    try:
        for row in csv.reader(raw.decode("utf-8", "replace").splitlines()):
            path = posixpath.normpath(row[0].replace("\\", "/")) if row else ""
            is_inside = path and not path.startswith(("/", "../")) and path != ".."
            if is_inside and not path.startswith(f"{info}/") and is_wanted(path):
                paths.append(path)
    except csv.Error:
        pass
    return paths[:MAX_FILES]


def _list_by_modules(site: str, info: str) -> Sequence[str]:
    """Return the files of the modules in top_level.txt, for packages without a list of files."""
    raw = read_below(site, f"{info}/top_level.txt", _MAX_URL_BYTES)
    names = [] if isinstance(raw, str) else raw.decode("utf-8", "replace").split()
    paths = []
    for name in names:
        if re.fullmatch(r"\w+", name):
            paths += [file.relative for file in list_package_files(site, name, f"{name}/")]
            paths.append(f"{name}.py")
    return paths[:MAX_FILES]


def _stat(site: str, path: str) -> PackageFile | None:
    return stat_file(path, site, path)
