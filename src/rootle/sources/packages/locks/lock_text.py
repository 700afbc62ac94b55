"""Read lock files with a size limit, without following links or failing on broken files."""

from __future__ import annotations

import json
import posixpath
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rootle.sources.files.regular_file_reader import read_below
from rootle.sources.packages.package import (
    Ecosystem,
    LockedPackage,
    LockFile,
    is_safe_name,
    normalize_name,
)

# The largest lock files of real projects have a few megabytes.
_MAX_BYTES: Final = 30_000_000
MAX_PACKAGES: Final = 10_000
_MAX_SHOWN_CHARS: Final = 80


def read_lock_text(root: str, path: str) -> str:
    """Return the text of a file below the root; "" if it cannot be read or is too large."""
    raw = read_below(root, path, _MAX_BYTES + 1)
    if isinstance(raw, str) or len(raw) > _MAX_BYTES:
        return ""
    return raw.decode("utf-8", "replace").removeprefix("\ufeff")


def parse_toml(text: str) -> Mapping[str, Any]:  # Any: untrusted data
    """Return the content of a TOML file; empty if it is not valid."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return {}


def parse_json_object(text: str) -> Mapping[str, Any]:  # Any: untrusted data
    """Return the content of a JSON file; empty if it is not a valid object."""
    try:
        return as_mapping(json.loads(text))
    except (ValueError, RecursionError):
        return {}


def as_mapping(value: object) -> Mapping[str, Any]:  # Any: untrusted data
    """Return a value if it is a mapping, else an empty mapping."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> Sequence[Any]:  # Any: untrusted data
    """Return a value if it is a list, else an empty one."""
    return value if isinstance(value, list) else ()


def as_text(value: object) -> str:
    """Return a value if it is a string, else ""."""
    return value if isinstance(value, str) else ""


def indented_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the indentation and stripped text of each line, except blank lines and comments."""
    for line in text.splitlines():
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            yield len(line) - len(line.lstrip(" ")), stripped


def leads_outside(folder: str, path: str) -> bool:
    """Return whether a path leads out of the project; `folder` contains the lock file."""
    plain = path.replace("\\", "/")
    if plain.startswith(("/", "~")) or plain[1:3] == ":/":
        return True
    joined = posixpath.normpath(posixpath.join(folder, plain))
    return joined == ".." or joined.startswith("../")


def describe_refusal(path: str, name: str, target: str) -> str:
    """Return the message about a refused entry of a lock file."""
    shown = f"{name}, {target}" if target != name else name
    if len(shown) > _MAX_SHOWN_CHARS:
        shown = f"{shown[:_MAX_SHOWN_CHARS]}…"
    return f"{path} names a path outside the project, which is not read: {shown!r}"


def make_lock(
    path: str, ecosystem: Ecosystem, packages: Sequence[LockedPackage], refused: Sequence[str] = ()
) -> LockFile:
    """Return a lock file with each package once. Names that are not safe in a path are refused."""
    found: dict[tuple[str, str, str], LockedPackage] = {}
    messages = list(refused)
    for package in packages[:MAX_PACKAGES]:
        if not package.name:  # "" if the name contained an unknown property
            continue
        if not is_safe_name(package.name, package.version):
            messages.append(describe_refusal(path, package.name, package.version or package.name))
            continue
        key = normalize_name(ecosystem, package.name), package.version, package.folder
        known = found.get(key)
        if known is None or (package.is_direct and not known.is_direct):
            found[key] = package
    return LockFile(path, ecosystem, tuple(found.values()), tuple(dict.fromkeys(messages)))
