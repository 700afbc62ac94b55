"""Python: uv.lock, poetry.lock, pdm.lock, requirements files and pyproject.toml."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, Final

from rootle.sources.packages.locks.lock_text import (
    LockTexts,
    as_list,
    as_mapping,
    as_text,
    describe_refusal,
    leads_outside,
    make_lock,
    parse_toml,
)
from rootle.sources.packages.package import LockedPackage, LockFile, normalize_name

# The name, the text up to an environment marker, and the ";" that begins the marker.
_REQUIREMENT: Final = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*([^;#]*)(;?)")
_COMMENT: Final = re.compile(r"(?:^|\s)#")
_INCLUDED: Final = re.compile(r"(?:-r\s*|--requirement(?:\s+|=))(\S.*)")
_EDITABLE: Final = re.compile(r"(?:-e\s+|--editable(?:\s+|=))")
_NAMED_URL: Final = re.compile(r"[A-Za-z0-9][\w.-]*\s*(?:\[[^\]]*\]\s*)?@\s*(?=\S)")
_EGG: Final = re.compile(r"[#&]egg=([A-Za-z0-9][\w.-]*)")
_MAX_FILES: Final = 100  # the maximum number of files that a requirements file includes
_MAX_LINE_CHARS: Final = 2_000
_PINNED: Final = re.compile(r"\s*===?\s*([\w.!+-]+)\s*(?:$|\s|\\|,)")
_VIA_PACKAGE: Final = re.compile(r"#\s+via\s+(?!-[rc]\b)\S", re.IGNORECASE)
_VIA_FILE: Final = re.compile(r"-[rc]\s+\S|\(pyproject\.toml\)|\(setup\.(?:py|cfg)\)")
_LOCAL_SOURCES: Final = ("path", "directory", "editable", "virtual")


def read_uv_lock(texts: LockTexts, path: str) -> LockFile:
    """Return the packages of a uv.lock. Those that a member of the project names are direct."""
    packages = [as_mapping(one) for one in as_list(_load(texts, path).get("package"))]
    members = [one for one in packages if _is_member(one)]
    direct = {
        normalize_name("python", as_text(as_mapping(entry).get("name")))
        for member in members
        for entry in _list_dependencies(member)
    }
    plain = {
        normalize_name("python", as_text(entry.get("name")))
        for member in members
        for entry in map(as_mapping, _list_dependencies(member, only_required=True))
        if "marker" not in entry
    }
    return _read_tables(path, packages, direct, plain)


def read_poetry_lock(texts: LockTexts, path: str) -> LockFile:
    """Return the packages of a poetry.lock or pdm.lock; pyproject.toml names the direct ones."""
    packages = [as_mapping(one) for one in as_list(_load(texts, path).get("package"))]
    project = _load(texts, path.rpartition("/")[0] + "/pyproject.toml" if "/" in path else _PROJECT)
    named = {normalize_name("python", one.name): one for one in _list_named(project)}
    plain = {name for name, one in named.items() if not one.is_optional}
    return _read_tables(path, packages, set(named), plain)


_PROJECT: Final = "pyproject.toml"


def read_pyproject(texts: LockTexts, path: str) -> LockFile:
    """Return the packages that a pyproject.toml names; the versions in use are unknown."""
    return make_lock(path, "python", list(_list_named(_load(texts, path))))


def read_requirements(texts: LockTexts, path: str) -> LockFile:
    """Return the packages of a requirements file and of the files that it includes.

    In a file that pip-tools or uv wrote, the comment on a package names the packages and files that
    require it. The package is a direct dependency unless its comment names only packages.
    """
    packages: list[LockedPackage] = []
    refused: list[str] = []
    files = [path]
    for one in files:  # the loop appends to this list
        folder = one.rpartition("/")[0]
        lines = texts.read(one).splitlines()
        for at, line in enumerate(lines):
            text = _COMMENT.split(line[:_MAX_LINE_CHARS], maxsplit=1)[0].strip()
            included, local = _INCLUDED.fullmatch(text), _find_local_path(text)
            target = included[1] if included else local
            if target and leads_outside(folder, target):
                refused.append(describe_refusal(one, target, target))
            elif included:
                place = posixpath.normpath(posixpath.join(folder, target))
                if place in files or len(files) == _MAX_FILES:
                    continue
                if texts.may_read(place):
                    files.append(place)
                else:
                    refused.append(f"{one} includes a file that too many files include")
            elif not target and (package := _parse_line(text)) is not None:
                is_direct = not _comes_from_packages(lines[at : at + 30])
                packages.append(replace(package, is_direct=is_direct))
    return make_lock(path, "python", packages, refused)


def _find_local_path(text: str) -> str:
    """Return the path or file: URL that a line installs; "" for other lines."""
    editable = _EDITABLE.match(text)
    target = text[editable.end() :] if editable else text
    named = _NAMED_URL.match(target)
    place = target[named.end() :] if named else target
    if place.startswith(("./", "../", "/", "file:")) or (editable and "://" not in place):
        return place.partition(";")[0].strip().removeprefix("file://")
    return ""


def _parse_line(text: str) -> LockedPackage | None:
    """Return the package of a line, which can also be `git+https://host/a.git#egg=name`."""
    editable = _EDITABLE.match(text)
    text = text[editable.end() :] if editable else text
    if text.startswith("-"):
        return None
    if "://" in text and not _NAMED_URL.match(text):
        egg = _EGG.search(text)
        return LockedPackage(egg[1]) if egg else None
    return _parse_requirement(text)


def _comes_from_packages(lines: list[str]) -> bool:
    """Return whether the comment on the package in the first line names only other packages."""
    comment = lines[0].partition("#")[1] + lines[0].partition("#")[2]
    for line in lines[1:]:
        text = line.strip()
        if text and not text.startswith(("#", "--hash")):
            break
        comment += f" {text}"
    return _VIA_PACKAGE.search(comment) is not None and not _VIA_FILE.search(comment)


def _load(texts: LockTexts, path: str) -> Mapping[str, Any]:  # Any: untrusted data
    return parse_toml(texts.read(path))


def _is_member(package: Mapping[str, Any]) -> bool:  # Any: untrusted data
    """Return whether a package of a uv.lock is part of the project itself."""
    source = as_mapping(package.get("source"))
    target = as_text(source.get("virtual")) or as_text(source.get("editable"))
    return bool(target) and not leads_outside("", target)


def _list_dependencies(
    member: Mapping[str, Any],  # Any: untrusted data
    *,
    only_required: bool = False,
) -> Iterable[object]:
    groups = [as_list(member.get("dependencies"))]
    if not only_required:
        for key in ("optional-dependencies", "dev-dependencies"):
            groups += map(as_list, as_mapping(member.get(key)).values())
    return chain.from_iterable(groups)


def _read_tables(
    path: str,
    packages: Iterable[Mapping[str, Any]],  # Any: untrusted data
    direct: set[str],
    plain: set[str],
) -> LockFile:
    """Return the packages in the tables of a lock file; those not in `plain` are optional."""
    found, refused = [], []
    for package in packages:
        name, source = as_text(package.get("name")), as_mapping(package.get("source"))
        targets = [as_text(source.get(key)) for key in _LOCAL_SOURCES]
        if source.get("type") in ("directory", "file"):  # poetry
            targets.append(as_text(source.get("url")))
        targets.append(as_text(package.get("path")))  # pdm
        target = next((one for one in targets if one), "")
        if target and leads_outside(path.rpartition("/")[0], target):
            refused.append(describe_refusal(path, name, target))
        elif not target:
            plain_name = normalize_name("python", name)
            found.append(
                LockedPackage(
                    name,
                    as_text(package.get("version")),
                    plain_name in direct,
                    is_optional=plain_name not in plain,
                )
            )
    return make_lock(path, "python", found, refused)


def _list_named(project: Mapping[str, Any]) -> Iterator[LockedPackage]:  # Any: untrusted data
    """Yield the packages that a pyproject.toml names; those in groups and extras are optional."""
    table = as_mapping(project.get("project"))
    yield from _parse_all(as_list(table.get("dependencies")), is_optional=False)
    groups = as_mapping(table.get("optional-dependencies")), project.get("dependency-groups")
    for group in groups:
        for entries in as_mapping(group).values():
            yield from _parse_all(as_list(entries), is_optional=True)
    poetry = as_mapping(as_mapping(project.get("tool")).get("poetry"))
    for name in as_mapping(poetry.get("dependencies")):
        if name != "python":
            yield LockedPackage(name)
    tables = [as_mapping(one) for one in as_mapping(poetry.get("group")).values()]
    for more in (poetry, *tables):
        key = "dev-dependencies" if more is poetry else "dependencies"
        for name in as_mapping(more.get(key)):
            yield LockedPackage(name, is_optional=True)


def _parse_all(entries: Iterable[object], *, is_optional: bool) -> Iterator[LockedPackage]:
    for entry in entries:
        found = _parse_requirement(as_text(entry))
        if found is not None:
            yield LockedPackage(found.name, found.version, True, is_optional or found.is_optional)


def _parse_requirement(text: str) -> LockedPackage | None:
    """Return the package of a requirement such as `httpx[http2]==0.28.1 ; python_version<"4"`."""
    found = _REQUIREMENT.match(text[:500])
    if found is None:
        return None
    pinned = _PINNED.match(found[2])
    return LockedPackage(found[1], pinned[1] if pinned else "", is_optional=bool(found[3]))
