"""Read lock files with a size limit, without following links or failing on broken files."""

from __future__ import annotations

import json
import posixpath
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from rootle.sources.files.regular_file_reader import read_below
from rootle.sources.packages.package import (
    Ecosystem,
    LockedPackage,
    LockFile,
    is_safe_name,
    normalize_name,
)
from rootle.text.secret_masking import mask_secrets

# The largest lock files of real projects have a few megabytes.
_MAX_BYTES: Final = 30_000_000
MAX_PACKAGES: Final = 10_000
# The total size of files that are read again, because several other files include them. Each file
# counts as at least _MIN_FILE_CHARS, because opening it takes about as long as reading these.
_MAX_REPEATED_CHARS: Final = 1_000_000
_MIN_FILE_CHARS: Final = 500
# `tomllib` looks up all parts of a key from the outermost table for each part of the key. At most
# this many look-ups are made, which take a few seconds. The keys of real lock files need less than
# a tenth of them.
_MAX_KEY_STEPS: Final = 200_000_000
_MAX_SHOWN_CHARS: Final = 80


_Content = TypeVar("_Content")


class LockTexts:
    """Reads the files of one project. Files that others include can be read several times."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._read: set[str] = set()
        self._left = _MAX_REPEATED_CHARS
        self._parsed: dict[str, Any] = {}  # Any: `parse_once` has the type

    def read(self, path: str) -> str:
        """Return the text of a file; "" if it cannot be read or is too large."""
        text = read_lock_text(self._root, path)
        if path in self._read:
            self._left -= max(len(text), _MIN_FILE_CHARS)
        self._read.add(path)
        return text

    def may_read(self, path: str) -> bool:
        """Return whether a file was not read yet, or may be read again."""
        return path not in self._read or self._left > 0

    def parse_once(self, path: str, parse: Callable[[str], _Content]) -> _Content:
        """Return the result of a function for the text of a file, calling it once per file."""
        if path not in self._parsed:
            self._parsed[path] = parse(self.read(path))
        parsed: _Content = self._parsed[path]
        return parsed


def read_lock_text(root: str, path: str) -> str:
    """Return the text of a file below the root; "" if it cannot be read or is too large."""
    raw = read_below(root, path, _MAX_BYTES + 1)
    if isinstance(raw, str) or len(raw) > _MAX_BYTES:
        return ""
    return raw.decode("utf-8", "replace").removeprefix("\ufeff")


def parse_toml(text: str) -> Mapping[str, Any]:  # Any: untrusted data
    """Return the content of a TOML file; empty if it is not valid, or its keys are too deep."""
    if _count_key_steps(text) > _MAX_KEY_STEPS:
        return {}
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return {}


def _count_key_steps(text: str) -> int:
    """Return the maximum number of look-ups for the keys of a TOML file.

    The parts of a key are on one line. The key of a table is part of every key below it.
    """
    steps = table = 0
    for line in text.splitlines():
        dots = line.count(".")
        if line.lstrip().startswith("["):
            table = dots
        steps += (table + dots) * (dots + 1)
    return steps


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
    shown = mask_secrets(f"{name}, {target}" if target != name else name).text
    if len(shown) > _MAX_SHOWN_CHARS:
        shown = f"{shown[:_MAX_SHOWN_CHARS]}…"
    return f"{path} names a path outside the project, which is not read: {shown!r}"


def make_lock(
    path: str, ecosystem: Ecosystem, packages: Sequence[LockedPackage], refused: Sequence[str] = ()
) -> LockFile:
    """Return a lock file with each package once.

    Names that are not safe in a path are refused. So are names that contain a secret, because
    answers show the names.
    """
    found: dict[tuple[str, str, str], LockedPackage] = {}
    messages = list(refused)
    read = packages[:MAX_PACKAGES]
    may_have_secrets = _has_secret("\n".join(f"{one.name} {one.version}" for one in read))
    for package in read:
        if not package.name:  # "" if the name contained an unknown property
            continue
        if may_have_secrets and _has_secret(f"{package.name} {package.version}"):
            messages.append(f"{path} names a package whose name or version contains a secret")
            continue
        if not is_safe_name(package.name, package.version):
            messages.append(describe_refusal(path, package.name, package.version or package.name))
            continue
        key = normalize_name(ecosystem, package.name), package.version, package.folder
        known = found.get(key)
        if known is None or (package.is_direct and not known.is_direct):
            found[key] = package
    return LockFile(path, ecosystem, tuple(found.values()), tuple(dict.fromkeys(messages)))


def _has_secret(names: str) -> bool:
    """Return whether names contain a secret. The colon in "group:artifact" assigns no value."""
    plain = names.replace(":", "/")
    return mask_secrets(plain).text != plain
