"""JavaScript: package-lock.json, pnpm-lock.yaml, yarn.lock and package.json."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rootle.sources.packages.locks.lock_text import (
    LockTexts,
    as_mapping,
    as_text,
    describe_refusal,
    indented_lines,
    leads_outside,
    make_lock,
    parse_json_object,
)
from rootle.sources.packages.package import LockedPackage, LockFile

_GROUPS: Final = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
_MODULES: Final = "node_modules/"
_MAX_DEPTH: Final = 10  # the maximum depth of the folder of a workspace member
_MAX_PATH_CHARS: Final = 1_024
_EXACT: Final = re.compile(r"\d+\.\d+\.\d+[\w.+-]*", re.ASCII)
# A key such as "/name@1.2.3(peer@1)", or "/name/1.2.3" in earlier formats.
_PNPM_KEY: Final = re.compile(r"'?/?(@?[^@'/]+(?:/[^@'/]+)?)[@/](\d[^'(_:]*)")
_YARN_ENTRY: Final = re.compile(r'"?(@?[^@"\s]+)@')
_YARN_VERSION: Final = re.compile(r'version:?\s+"?([^"\s]+)"?')


def read_package_json(texts: LockTexts, path: str) -> LockFile:
    """Return the packages that a package.json names."""
    return make_lock(path, "npm", list(_list_named(texts, path.rpartition("/")[0])))


def read_package_lock(texts: LockTexts, path: str) -> LockFile:
    """Return the packages of a package-lock.json in any version of the format."""
    data = parse_json_object(texts.read(path))
    folder = path.rpartition("/")[0]
    if "packages" not in data:
        direct = {one.name for one in _list_named(texts, folder)}
        entries = as_mapping(data.get("dependencies")).items()
        packages = [
            LockedPackage(
                name,
                as_text(as_mapping(entry).get("version")),
                name in direct,
                bool(as_mapping(entry).get("optional")),
                _MODULES + name,
            )
            for name, entry in entries
        ]
        return make_lock(path, "npm", packages, _refuse_paths(path, folder, packages))
    return _read_places(path, folder, as_mapping(data.get("packages")))


def _read_places(
    path: str,
    folder: str,
    places: Mapping[str, Any],  # Any: untrusted data
) -> LockFile:
    direct = {
        _find_place(places, parents, name)
        for place, entry in places.items()
        if _MODULES not in place and not leads_outside(folder, place)
        for parents in [_list_parents(place)]
        for group in _GROUPS
        for name in as_mapping(as_mapping(entry).get(group))
    }
    packages, refused = [], []
    for place, entry in places.items():
        data = as_mapping(entry)
        target = place if not data.get("link") else as_text(data.get("resolved"))
        if place and (leads_outside(folder, place) or leads_outside(folder, target)):
            refused.append(describe_refusal(path, place, target))
        elif _MODULES in place and not data.get("link"):
            name = place.rpartition(_MODULES)[2]
            packages.append(
                LockedPackage(
                    name,
                    as_text(data.get("version")),
                    place in direct,
                    bool(data.get("optional") or data.get("peer") or data.get("devOptional")),
                    place,
                )
            )
    return make_lock(path, "npm", packages, refused)


def _list_parents(member: str) -> Sequence[str]:
    """Return the folder of a member of the workspace, and those above it.

    A path that no file system allows has no folders.
    """
    if len(member) > _MAX_PATH_CHARS:
        return ()
    return [member, *(member.rsplit("/", up)[0] for up in range(1, _MAX_DEPTH))]


def _find_place(places: Mapping[str, Any], parents: Sequence[str], name: str) -> str:
    """Return where Node finds a package that a member of the workspace uses.

    `parents` are the folder of the member and those above it.
    """
    found = (f"{parent}/{_MODULES}{name}" for parent in parents)
    return next((place for place in found if place in places), _MODULES + name)


def _refuse_paths(path: str, folder: str, packages: list[LockedPackage]) -> list[str]:
    return [
        describe_refusal(path, one.name, one.version)
        for one in packages
        if one.version.startswith("file:")
        and leads_outside(folder, one.version.removeprefix("file:"))
    ]


def read_pnpm_lock(texts: LockTexts, path: str) -> LockFile:
    """Return the packages of a pnpm-lock.yaml. Those that an importer names are direct.

    pnpm writes the file in a fixed form, so it can be read line by line.
    """
    packages, refused = [], []
    for section, keys, value in _pnpm_values(texts.read(path)):
        if section == "packages" and len(keys) == 1:
            found = _PNPM_KEY.match(keys[0])
            if found is not None:
                packages.append(LockedPackage(found[1], found[2], False))
            continue
        direct = _read_importer(section, keys, value)
        if direct is None:
            continue
        name, version = direct
        if version.startswith(("link:", "file:")):
            target = version.partition(":")[2]
            base = keys[0] if section == "importers" else ""
            if leads_outside(f"{path.rpartition('/')[0]}/{base}".strip("/"), target):
                refused.append(describe_refusal(path, name, target))
        else:
            packages.append(LockedPackage(name, re.split(r"[(_]", version)[0]))
    return make_lock(path, "npm", packages, refused)


def _pnpm_values(text: str) -> Iterator[tuple[str, list[str], str]]:
    """Yield the section, the keys below it and the value of each line of a YAML file."""
    stack: list[tuple[int, str]] = []
    for indent, line in indented_lines(text):
        key, _, value = line.partition(": ")
        if line.startswith("- "):
            continue
        while stack and stack[-1][0] >= indent:
            stack.pop()
        stack.append((indent, key.removesuffix(":").strip("'\"")))
        keys = [name for _, name in stack]
        if len(keys) > 1:
            yield keys[0], keys[1:], value.strip("'\"")


def _read_importer(section: str, keys: list[str], value: str) -> tuple[str, str] | None:
    """Return the name and the version of a package that the project names."""
    if section == "importers":
        keys = keys[1:]
    elif section in _GROUPS:
        keys = [section, *keys]
    else:
        return None
    if len(keys) == 3 and keys[0] in _GROUPS and keys[2] == "version" and value:
        return keys[1], value
    if len(keys) == 2 and keys[0] in _GROUPS and value:
        return keys[1], value
    return None


def read_yarn_lock(texts: LockTexts, path: str) -> LockFile:
    """Return the packages of a yarn.lock of any version; package.json names the direct ones."""
    direct = {one.name for one in _list_named(texts, path.rpartition("/")[0])}
    packages, refused = [], []
    names: list[str] = []
    for indent, line in indented_lines(texts.read(path)):
        if not indent:
            key = line.removesuffix(":").strip('"')
            found = _YARN_ENTRY.match(key)
            names = [found[1]] if found else []
            for protocol in ("file:", "link:", "portal:"):
                target = key.partition(f"@{protocol}")[2].partition("::")[0]
                if target and leads_outside(path.rpartition("/")[0], target):
                    refused.append(describe_refusal(path, key.partition(f"@{protocol}")[0], target))
                    names = []
        elif names and (found := _YARN_VERSION.fullmatch(line)):
            if not found[1].startswith("0.0.0-use.local"):
                packages.append(LockedPackage(names[0], found[1], names[0] in direct))
            names = []
    return make_lock(path, "npm", packages, refused)


def _list_named(texts: LockTexts, folder: str) -> Iterator[LockedPackage]:
    data = parse_json_object(texts.read(f"{folder}/package.json".lstrip("/")))
    for group in _GROUPS:
        for name, wanted in as_mapping(data.get(group)).items():
            text = as_text(wanted)
            if not text.startswith(("file:", "link:", "workspace:", "portal:")):
                version = text if _EXACT.fullmatch(text) else ""
                yield LockedPackage(name, version, is_optional=group != _GROUPS[0])
