"""Repositories that training must never see, recognized by their names and by their text."""

from __future__ import annotations

import re
import subprocess
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rootle.text.languages import CODE_EXTENSIONS, PROSE_EXTENSIONS

Shingles = NDArray[np.uint64]

RESERVED_NAMES: Final = Path(__file__).with_name("reserved_names.txt")
SHINGLE_LINES: Final = 5
MIN_LINE_CHARS: Final = 8  # without spaces; shorter lines (braces, ends) are ignored
# The maximum share of a file's shingles that may occur in reserved repositories. A shingle is a run
# of SHINGLE_LINES long lines.
MAX_RESERVED_SHARE: Final = 0.1
# A shingle that occurs in more reserved repositories than this is part of a license or boilerplate.
MAX_OWNERS: Final = 2
MAX_BYTES: Final = 400_000

_TEXT_EXTENSIONS: Final = frozenset(
    extension
    for table in (CODE_EXTENSIONS, PROSE_EXTENSIONS)
    for extensions in table.values()
    for extension in extensions
)
_VERSION: Final = re.compile(r"[-_@.]v?\d[\w.+~-]*$")
_MULTIPLIER: Final = np.uint64(0x9E3779B97F4A7C15)


def text_shingles(text: str) -> Shingles:
    """Return the sorted 64-bit hashes of all runs of five long lines, ignoring spaces."""
    squeezed = ["".join(line.split()) for line in text.split("\n")]
    hashes = [
        zlib.crc32(line.encode("utf-8", "replace"))
        for line in squeezed
        if len(line) >= MIN_LINE_CHARS
    ]
    if len(hashes) < SHINGLE_LINES:
        return np.zeros(0, np.uint64)
    lines = np.array(hashes, np.uint64)
    count = len(hashes) - SHINGLE_LINES + 1
    mixed = np.zeros(count, np.uint64)
    for offset in range(SHINGLE_LINES):
        mixed = mixed * _MULTIPLIER + lines[offset : offset + count]
    return np.unique(mixed)


def repository_shingles(folders: Iterable[Path]) -> Shingles:
    """Return the sorted shingles of repositories: clones at HEAD, or folders without git.

    Folders with the same name (`owner+name` or `name`) count as copies of one repository.
    """
    owners: dict[str, list[Shingles]] = {}
    for folder in folders:
        found = [text_shingles(text) for _, text in repository_texts(folder)]
        owners.setdefault(folder.name.rpartition("+")[2].lower(), []).extend(found)
    by_owner = [np.unique(np.concatenate(found)) for found in owners.values() if found]
    if not by_owner:
        return np.zeros(0, np.uint64)
    values, counts = np.unique(np.concatenate(by_owner), return_counts=True)
    return values[counts <= MAX_OWNERS]


class ReservedRepositories:
    """Recognizes paths and texts of reserved repositories."""

    def __init__(self, names: Iterable[str], shingles: Shingles) -> None:
        self._names = frozenset(names)
        self._shingles = shingles

    def has_name(self, path: str) -> bool:
        """Return whether a folder or file in the path has the name of a reserved project."""
        parts = path.lower().split("/")
        parts[-1] = parts[-1].partition(".")[0]
        return any(part in self._names or _strip_version(part) in self._names for part in parts)

    def has_text(self, text: str) -> bool:
        """Return whether more than a tenth of a text occurs in a reserved repository."""
        found = text_shingles(text)
        if not found.size or not self._shingles.size:
            return False
        nearest = np.searchsorted(self._shingles, found)
        nearest = np.minimum(nearest, self._shingles.size - 1)
        return float(np.mean(self._shingles[nearest] == found)) > MAX_RESERVED_SHARE


def read_names(path: Path = RESERVED_NAMES) -> list[str]:
    """Return the names in a list file, in lower case and without comments."""
    lines = [line.partition("#")[0] for line in path.read_text(encoding="utf-8").splitlines()]
    return [name.lower() for line in lines for name in line.split()]


def is_text_file(name: str) -> bool:
    """Return whether a file is code or prose, by its extension."""
    return name.lower().rpartition(".")[2] in _TEXT_EXTENSIONS


def repository_texts(
    folder: Path, is_wanted: Callable[[str], bool] = is_text_file
) -> Iterator[tuple[str, str]]:
    """Yield path and text of each wanted file of a repository, with or without git."""
    git_dir = next((d for d in (folder / ".git", folder / "repo", folder) if _is_git(d)), None)
    if git_dir is not None:
        yield from _read_git_texts(git_dir, is_wanted)
        return
    for path in sorted(folder.rglob("*")):
        if (
            is_wanted(path.name)
            and path.is_file()
            and not path.is_symlink()
            and path.stat().st_size <= MAX_BYTES
        ):
            yield str(path.relative_to(folder)), path.read_text(encoding="utf-8", errors="replace")


def _strip_version(part: str) -> str:
    """Return a package's name without its version: `click-8.1.7` -> `click`."""
    return _VERSION.sub("", part)


def _is_git(folder: Path) -> bool:
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir()


def _read_git_texts(git_dir: Path, is_wanted: Callable[[str], bool]) -> Iterator[tuple[str, str]]:
    listing = _run_git(git_dir, "ls-tree", "-r", "-l", "-z", "HEAD").decode("utf-8", "replace")
    wanted = []
    for entry in filter(None, listing.split("\0")):
        head, _, path = entry.partition("\t")
        _, kind, sha, size = head.split()
        if kind == "blob" and is_wanted(path) and size.isdigit() and int(size) <= MAX_BYTES:
            wanted.append((path, sha))
    names = "\n".join(sha for _, sha in wanted) + "\n"
    output = _run_git(git_dir, "cat-file", "--batch", stdin=names)
    start = 0
    for path, _ in wanted:
        end = output.index(b"\n", start)
        fields = output[start:end].split()
        start = end + 1
        if fields[-1] == b"missing":
            continue
        length = int(fields[2])
        yield path, output[start : start + length].decode("utf-8", "replace")
        start += length + 1


def _run_git(git_dir: Path, *arguments: str, stdin: str = "") -> bytes:
    command = ["git", f"--git-dir={git_dir}", *arguments]
    # A snapshot may lack blobs, and git must not try to fetch them.
    environment = {"GIT_NO_LAZY_FETCH": "1", "PATH": "/usr/bin:/bin:/usr/local/bin"}
    return subprocess.run(
        command, input=stdin.encode(), capture_output=True, check=True, env=environment
    ).stdout
