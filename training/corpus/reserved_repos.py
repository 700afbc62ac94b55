"""What training must never see: reserved repositories, told by their names and by their text."""

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

NAMES: Final = Path(__file__).with_name("reserved_names.txt")

LINES: Final = 5  # consecutive lines of a shingle
MIN_LINE: Final = 8  # characters without spaces; shorter lines (braces, ends) say nothing
MAX_SHARE: Final = 0.1  # of a file's shingles that may be reserved
# A shingle of three or more reserved repositories is a licence or boilerplate, not theirs.
MAX_OWNERS: Final = 2
MAX_BYTES: Final = 400_000

_TEXT: Final = frozenset(
    extension
    for table in (CODE_EXTENSIONS, PROSE_EXTENSIONS)
    for extensions in table.values()
    for extension in extensions
)
_VERSION: Final = re.compile(r"[-_@.]v?\d[\w.+~-]*$")
_MULTIPLIER: Final = np.uint64(0x9E3779B97F4A7C15)


def shingles(text: str) -> Shingles:
    """One 64-bit hash for each run of five lines that say something, spaces left out."""
    squeezed = ["".join(line.split()) for line in text.split("\n")]
    hashes = [
        zlib.crc32(line.encode("utf-8", "replace")) for line in squeezed if len(line) >= MIN_LINE
    ]
    if len(hashes) < LINES:
        return np.zeros(0, np.uint64)
    lines = np.array(hashes, np.uint64)
    count = len(hashes) - LINES + 1
    mixed = np.zeros(count, np.uint64)
    for offset in range(LINES):
        mixed = mixed * _MULTIPLIER + lines[offset : offset + count]
    return np.unique(mixed)


def shingles_of_repositories(folders: Iterable[Path]) -> Shingles:
    """The sorted shingles of repositories: clones at HEAD, folders without git as they are.

    Folders of one name (`owner+name` or `name`) are copies of one repository.
    """
    owners: dict[str, list[Shingles]] = {}
    for folder in folders:
        of_one = [shingles(text) for _, text in repository_texts(folder)]
        owners.setdefault(folder.name.rpartition("+")[2].lower(), []).extend(of_one)
    gathered = [np.unique(np.concatenate(of_one)) for of_one in owners.values() if of_one]
    if not gathered:
        return np.zeros(0, np.uint64)
    values, counts = np.unique(np.concatenate(gathered), return_counts=True)
    return values[counts <= MAX_OWNERS]


class Reserved:
    """Tells whether a path or a text belongs to a reserved repository."""

    def __init__(self, names: Iterable[str], known: Shingles) -> None:
        self._names = frozenset(names)
        self._known = known

    def has_name(self, path: str) -> bool:
        """Whether a folder or file of the path is called like a reserved project."""
        parts = path.lower().split("/")
        parts[-1] = parts[-1].partition(".")[0]
        return any(part in self._names or _bare(part) in self._names for part in parts)

    def has_text(self, text: str) -> bool:
        """Whether more than a tenth of the text stands in a reserved repository."""
        found = shingles(text)
        if not found.size or not self._known.size:
            return False
        at = np.minimum(np.searchsorted(self._known, found), self._known.size - 1)
        return float(np.mean(self._known[at] == found)) > MAX_SHARE


def read_names(path: Path) -> list[str]:
    """The names of a list file, lower case; "#" begins a comment."""
    lines = [line.partition("#")[0] for line in path.read_text(encoding="utf-8").splitlines()]
    return [name.lower() for line in lines for name in line.split()]


def is_text(name: str) -> bool:
    """Whether a file is code or prose, by its extension."""
    return name.lower().rpartition(".")[2] in _TEXT


def repository_texts(
    folder: Path, is_wanted: Callable[[str], bool] = is_text
) -> Iterator[tuple[str, str]]:
    """Path and text of each code or prose file of a repository, in git or not."""
    git_dir = next((d for d in (folder / ".git", folder / "repo", folder) if _is_git(d)), None)
    if git_dir is not None:
        yield from _git_texts(git_dir, is_wanted)
        return
    for path in sorted(folder.rglob("*")):
        if (
            is_wanted(path.name)
            and path.is_file()
            and not path.is_symlink()
            and path.stat().st_size <= MAX_BYTES
        ):
            yield str(path.relative_to(folder)), path.read_text(encoding="utf-8", errors="replace")


def _bare(part: str) -> str:
    """A package's name without its version: `click-8.1.7` -> `click`."""
    return _VERSION.sub("", part)


def _is_git(folder: Path) -> bool:
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir()


def _git_texts(git_dir: Path, is_wanted: Callable[[str], bool]) -> Iterator[tuple[str, str]]:
    listing = _git(git_dir, "ls-tree", "-r", "-l", "-z", "HEAD").decode("utf-8", "replace")
    wanted = []
    for entry in filter(None, listing.split("\0")):
        head, _, path = entry.partition("\t")
        _, kind, sha, size = head.split()
        if kind == "blob" and is_wanted(path) and size.isdigit() and int(size) <= MAX_BYTES:
            wanted.append((path, sha))
    answer = _git(git_dir, "cat-file", "--batch", stdin="\n".join(s for _, s in wanted) + "\n")
    at = 0
    for path, _ in wanted:
        end = answer.index(b"\n", at)
        fields = answer[at:end].split()
        at = end + 1
        if fields[-1] == b"missing":
            continue
        size = int(fields[2])
        yield path, answer[at : at + size].decode("utf-8", "replace")
        at += size + 1


def _git(git_dir: Path, *arguments: str, stdin: str = "") -> bytes:
    command = ["git", f"--git-dir={git_dir}", *arguments]
    # A snapshot may lack blobs, and must not try to fetch them.
    environment = {"GIT_NO_LAZY_FETCH": "1", "PATH": "/usr/bin:/bin:/usr/local/bin"}
    return subprocess.run(
        command, input=stdin.encode(), capture_output=True, check=True, env=environment
    ).stdout
