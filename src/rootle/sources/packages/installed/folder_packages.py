"""Packages that are installed as folders: by npm, Cargo, Go, Bundler and Composer."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice
from typing import Any, Final

from rootle.sources.files.regular_file_reader import read_below
from rootle.sources.packages.installed.readable_folders import (
    Environment,
    existing_folders,
    is_below,
    list_subfolders,
    path_in,
)
from rootle.sources.packages.locks.lock_text import as_mapping, as_text, parse_json_object
from rootle.sources.packages.locks.system_locks import GEM_PLATFORM
from rootle.sources.packages.package import (
    InstalledPackage,
    LockedPackage,
    PackageFile,
    is_safe_name,
)
from rootle.sources.packages.wanted_files import drop_other_formats, list_package_files

_MODULES: Final = "node_modules"
_REQUIRED: Final = ("dependencies", "optionalDependencies", "peerDependencies")
_MAX_MANIFEST_BYTES: Final = 1_000_000
_CACHED_FOLDERS: Final = 64
_MAX_NAMES: Final = 50_000  # the maximum number of installed packages in one folder
# In the name of a pnpm folder, one of these characters precedes the versions of peer dependencies.
_PEERS: Final = re.compile(r"[(_]")
_COMPILED_GEM: Final = re.compile(r"(.+?-\d[^-]*)" + GEM_PLATFORM.pattern)
_CRATE_VERSION: Final = re.compile(
    r"^version[ \t]*=[ \t]*[\"']([^\"'\n]{1,100})[\"']", re.MULTILINE
)
_GO_MODULE: Final = re.compile(
    r"^# (\S{1,300}) (v\S{1,100})(?: => (\S{1,300}) (v\S{1,100}))?[ \t\r]*$", re.MULTILINE
)


class NodePackages:
    """Finds packages in the node_modules folders of a project."""

    refused: Sequence[str] = ()

    def __init__(self, environment: Environment, folder: str) -> None:
        self._environment = environment
        self._folder = folder
        # Many names can be links to the same folder, which is read only once.
        self._manifest = lru_cache(maxsize=_CACHED_FOLDERS)(_read_manifest)
        self._modules = lru_cache(maxsize=_CACHED_FOLDERS)(_list_modules)
        self._stores = lru_cache(maxsize=_CACHED_FOLDERS)(_list_store)
        self._expanded: set[str] = set()

    def find(self, locked: LockedPackage) -> InstalledPackage | None:
        """Return the package from pnpm's folder for this version, or from node_modules.

        The node_modules folders next to the lock file and at the root of the project are searched.
        With pnpm, these folders link only to packages that the project itself names.
        """
        relative = locked.folder or f"{_MODULES}/{locked.name}"
        root = self._environment.root
        folders = [os.path.join(root, self._folder), *([root] if self._folder else [])]
        places = [self._stores(one).get((locked.name, locked.version), "") for one in folders]
        places += [os.path.join(one, relative) for one in folders]
        for extra in self._environment.folders:
            places += [os.path.join(extra, locked.name), os.path.join(extra, relative)]
        for place in places:
            if not place or not os.path.isdir(place):
                continue
            real = os.path.realpath(place)
            if not self._environment.may_read(real):
                message = f"{locked.name} is a link to a folder outside the project: not read"
                return InstalledPackage(locked.name, locked.version, list, (message,))
            manifest = self._manifest(real)
            version = as_text(manifest.get("version"))
            if version and (not locked.folder or _MODULES in real.split(os.sep)):
                files = partial(self._modules, real)
                required = partial(self._list_required, real, manifest)
                return InstalledPackage(locked.name, version, files, list_required=required)
        return None

    def _list_required(self, folder: str, manifest: Mapping[str, Any]) -> list[LockedPackage]:
        """Return the packages that a package requires, in the folders where Node.js finds them.

        Later calls for the same folder return an empty list.
        """
        if folder in self._expanded:
            return []
        self._expanded.add(folder)
        names = {name for group in _REQUIRED for name in as_mapping(manifest.get(group))}
        base = os.path.join(self._environment.root, self._folder)
        within = (self._environment.root, *self._environment.folders)
        found = []
        for name in sorted(names):
            place = _resolve_module(folder, name, within) if is_safe_name(name) else ""
            if place:
                relative = os.path.relpath(place, base)
                found.append(LockedPackage(name, "", False, True, relative))
        return found


def _resolve_module(folder: str, name: str, within: Sequence[str]) -> str:
    """Return the folder of a module for an import from another folder; "" if there is none.

    Only folders below those in `within` are read.
    """
    while any(f"{folder}/".startswith(f"{one}/") for one in within):
        place = os.path.join(folder, _MODULES, name)
        if os.path.basename(folder) != _MODULES and os.path.isdir(place):
            return place
        folder = os.path.dirname(folder)
    return ""


def _list_store(folder: str) -> Mapping[tuple[str, str], str]:
    """Map the name and version of each package in the store of pnpm to the package's folder.

    The names of the folders look like "@types+node@20.1.0" or "hono@4.6.3_typescript@5.0.0".
    """
    store = os.path.join(folder, _MODULES, ".pnpm")
    found: dict[tuple[str, str], str] = {}
    for entry in _list_names(store):
        name, _, rest = entry[1:].partition("@")
        name = (entry[:1] + name).replace("+", "/", 1 if entry.startswith("@") else 0)
        version = _PEERS.split(rest, maxsplit=1)[0]
        if version:
            found.setdefault((name, version), os.path.join(store, entry, _MODULES, name))
    return found


def _list_modules(folder: str) -> tuple[PackageFile, ...]:
    return tuple(drop_other_formats(list_package_files(folder, "")))


def _read_manifest(folder: str) -> Mapping[str, Any]:  # Any: untrusted data
    raw = read_below(folder, "package.json", _MAX_MANIFEST_BYTES)
    return {} if isinstance(raw, str) else parse_json_object(raw.decode("utf-8", "replace"))


class CargoPackages:
    """Finds crates in the registry of Cargo, or in the vendor folder of the project."""

    refused: Sequence[str] = ()

    def __init__(self, environment: Environment, folder: str) -> None:
        home = environment.variable("CARGO_HOME") or environment.home(".cargo")
        self._vendored = os.path.join(environment.root, folder, "vendor")
        registry = path_in(home, "registry", "src")
        self._registries = [*environment.folders, *list_subfolders(registry)]
        self._environment = environment

    def find(self, locked: LockedPackage) -> InstalledPackage | None:
        """Return the sources of this version of a crate."""
        for registry in self._registries:
            place = os.path.join(registry, f"{locked.name}-{locked.version}")
            if os.path.isdir(place) and is_below(place, registry):
                return _make(locked.name, locked.version, place)
        # If a project uses two versions of a crate, Cargo puts only one of them into a folder whose
        # name lacks the version.
        for name in (f"{locked.name}-{locked.version}", locked.name):
            place = os.path.join(self._vendored, name)
            # The folder "vendor" itself can be a link to any folder on the machine.
            is_inside = is_below(place, self._vendored) and self._environment.may_read(place)
            if is_inside and os.path.isfile(os.path.join(place, "Cargo.toml")):
                return _make(locked.name, _read_crate_version(place) or locked.version, place)
        return None


def _read_crate_version(folder: str) -> str:
    """Return the version in the Cargo.toml of an installed crate, or ""."""
    raw = read_below(folder, "Cargo.toml", _MAX_MANIFEST_BYTES)
    text = "" if isinstance(raw, str) else raw.decode("utf-8", "replace")
    found = _CRATE_VERSION.search(text.partition("[package]")[2].partition("\n[")[0])
    return found[1] if found else ""


class GoPackages:
    """Finds modules in the module cache of Go, or in the vendor folder of the project."""

    refused: Sequence[str] = ()

    def __init__(self, environment: Environment, folder: str) -> None:
        path = environment.variables.get("GOPATH", "").split(os.pathsep)[0]
        home = path if os.path.isabs(path) else environment.home("go")
        cache = environment.variable("GOMODCACHE") or path_in(home, "pkg", "mod")
        self._caches = [*environment.folders, *existing_folders([cache])]
        self._root = os.path.join(environment.root, folder)
        self._vendored = lru_cache(maxsize=1)(_read_vendored)

    def find(self, locked: LockedPackage) -> InstalledPackage | None:
        """Return the sources of this version of a module."""
        escaped = "".join(f"!{c.lower()}" if c.isupper() else c for c in locked.name)
        version = "".join(f"!{c.lower()}" if c.isupper() else c for c in locked.version)
        for cache in self._caches:
            place = os.path.join(cache, f"{escaped}@{version}")
            if os.path.isdir(place) and is_below(place, cache):
                return _make(locked.name, locked.version, place)
        vendor = os.path.join(self._root, "vendor")
        if not is_below(vendor, self._root):
            return None
        folder, version = self._vendored(vendor).get(locked.name, (locked.name, locked.version))
        place = os.path.join(vendor, folder)
        if is_safe_name(folder) and os.path.isdir(place) and is_below(place, vendor):
            return _make(locked.name, version, place)
        return None


def _read_vendored(vendor: str) -> Mapping[str, tuple[str, str]]:
    """Map the name of each module in a vendor folder to its folder and version.

    A module that replaces another module is in the folder of the replaced module.
    """
    raw = read_below(vendor, "modules.txt", 20 * _MAX_MANIFEST_BYTES)
    text = "" if isinstance(raw, str) else raw.decode("utf-8", "replace")
    return {
        found[3] or found[1]: (found[1], found[4] or found[2])
        for found in _GO_MODULE.finditer(text)
    }


class RubyPackages:
    """Finds gems in the folders of RubyGems and Bundler."""

    refused: Sequence[str] = ()

    def __init__(self, environment: Environment, folder: str) -> None:
        own = os.path.join(environment.root, folder, "vendor", "bundle", "ruby")
        homes = [environment.variable("GEM_HOME"), *environment.folders]
        # Each folder on the path to the gems of a project can be a link that leads outside.
        in_project = [
            home
            for home in list_subfolders(own)
            if environment.may_read(home) and environment.may_read(os.path.join(home, "gems"))
        ]
        homes += in_project if is_below(own, environment.root) else []
        for shared in (
            environment.home(".gem", "ruby"),
            environment.home(".local", "share", "gem", "ruby"),
            "/var/lib/gems",
            "/usr/local/bundle",
        ):
            homes += [shared, *list_subfolders(shared)]
        folders = [os.path.join(home, "gems") for home in homes if home]
        self._folders = existing_folders([*folders, "/usr/share/rubygems-integration/all/gems"])

        self._gems = lru_cache(maxsize=_CACHED_FOLDERS)(_list_gems)

    def find(self, locked: LockedPackage) -> InstalledPackage | None:
        """Return the sources of this version of a gem, for any platform."""
        for gems in self._folders:
            name = f"{locked.name}-{locked.version}"
            place = os.path.join(gems, self._gems(gems).get(name, name))
            if os.path.isdir(place) and is_below(place, gems):
                return _make(locked.name, locked.version, place)
        return None


def _list_gems(folder: str) -> Mapping[str, str]:
    """Map "NAME-VERSION" of each gem to its folder name, which may end in a platform."""
    found: dict[str, str] = {}
    for name in _list_names(folder):
        compiled = _COMPILED_GEM.fullmatch(name)
        found.setdefault(compiled[1] if compiled else name, name)
    return found


def _list_names(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in islice(entries, _MAX_NAMES))
    except OSError:
        return []


class ComposerPackages:
    """Finds packages in the vendor folder of Composer."""

    refused: Sequence[str] = ()

    def __init__(self, environment: Environment, folder: str) -> None:
        self._environment = environment
        self._folder = folder

    def find(self, locked: LockedPackage) -> InstalledPackage | None:
        """Return the installed package, with the version that Composer has recorded."""
        vendor = os.path.join(self._environment.root, self._folder, "vendor")
        place = os.path.join(vendor, locked.name)
        if not (os.path.isdir(place) and is_below(place, vendor)):
            return None
        if not self._environment.may_read(vendor):
            return None
        versions = _read_installed(vendor)
        return _make(locked.name, versions.get(locked.name, locked.version), place)


def _read_installed(vendor: str) -> dict[str, str]:
    raw = read_below(vendor, "composer/installed.json", 20 * _MAX_MANIFEST_BYTES)
    try:
        data = None if isinstance(raw, str) else json.loads(raw)
        packages = data["packages"] if isinstance(data, dict) else data or []
        return {str(one["name"]): str(one["version"]).removeprefix("v") for one in packages}
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}


def _make(name: str, version: str, place: str) -> InstalledPackage:
    real = os.path.realpath(place)
    return InstalledPackage(name, version, partial(list_package_files, real, ""))
