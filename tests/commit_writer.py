"""Commits of small repositories, written without a git process.

A commit takes git three processes, and the tests make thousands of commits. The objects, the index
and the reflog are those that git writes (see `test_commit_writer.py`).
"""

from __future__ import annotations

import os
import re
import stat
import struct
import zlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha1
from pathlib import Path

_CONFIG = b"[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"
_CONFIG += b"\tlogallrefupdates = true\n"
# Other files in `.git` mean a merge, a sparse checkout or something else that needs git.
_KNOWN = frozenset(
    "COMMIT_EDITMSG HEAD ORIG_HEAD config index info logs objects packed-refs refs".split(),
)
_BRANCH = re.compile(r"ref: (refs/heads/\S+)\n")
_AUTHOR = re.compile(r"\w(?:[\w ]*\w)? <[\w@.+]+>")
# Git removes spaces at the ends of lines and repeated empty lines. A surrogate is an invalid byte.
_CHANGED_BY_GIT = re.compile(r"\A(?:\s|\Z)|\s\Z|[^\S\n]\n|\n{3}|[\0\ud800-\udfff]")
_COMMITTER = "t <t@example.com>"
_LINK, _PROGRAM, _FILE = 0o120000, 0o100755, 0o100644


@dataclass(frozen=True)
class _Entry:
    path: bytes
    mode: int
    sha: bytes
    status: os.stat_result


def init_repository(root: Path) -> None:
    """Make an empty repository with the branch main, as `git init` does."""
    for folder in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info"):
        (root / ".git" / folder).mkdir(parents=True)
    (root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (root / ".git/config").write_bytes(_CONFIG)
    (root / ".git/info/exclude").touch()


def write_commit(root: Path, message: str, author: str, when_s: int) -> str | None:
    """Commit all files and return the hash, or return None for a commit that needs git.

    It needs git if the repository has other settings or rules for files, or if git would change the
    message.
    """
    git_dir = root / ".git"
    branch = _find_branch(git_dir)
    if branch is None or not _AUTHOR.fullmatch(author) or _CHANGED_BY_GIT.search(message):
        return None
    entries = _add_files(git_dir, os.fspath(root), b"")
    if entries is None:
        return None
    parent = _read(branch)
    times = f"{when_s} +0000"
    lines = [f"tree {_write_tree(git_dir, entries, 0).hex()}"]
    if parent:
        lines.append(f"parent {parent}")
    lines += [f"author {author} {times}", f"committer {_COMMITTER} {times}", "", f"{message}\n"]
    sha = _write_object(git_dir, b"commit", "\n".join(lines).encode()).hex()
    _write_index(git_dir, entries)
    branch.write_text(f"{sha}\n")
    what = "commit" if parent else "commit (initial)"
    subject = message.partition("\n")[0]
    for log in (git_dir / "logs/HEAD", git_dir / "logs" / branch.relative_to(git_dir)):
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a") as file:
            file.write(f"{parent or '0' * 40} {sha} {_COMMITTER} {times}\t{what}: {subject}\n")
    return sha


def _find_branch(git_dir: Path) -> Path | None:
    """Return the file of the current branch, or None if the repository is not a plain one."""
    try:
        is_plain = _KNOWN.issuperset(os.listdir(git_dir))
        is_plain &= (git_dir / "config").read_bytes() == _CONFIG
        rules = _read(git_dir / "info/exclude").splitlines()
        is_plain &= all(rule.startswith("#") for rule in rules)
    except NotADirectoryError:
        return None
    found = _BRANCH.fullmatch((git_dir / "HEAD").read_text())
    if found is None or not is_plain:
        return None
    branch = git_dir / found[1]
    is_new = not branch.exists() and not (git_dir / "packed-refs").exists()
    return branch if is_new or branch.exists() else None


def _read(file: Path) -> str:
    with suppress(FileNotFoundError):
        return file.read_text().strip()
    return ""


def _add_files(git_dir: Path, folder: str, prefix: bytes) -> list[_Entry] | None:
    """Write the files of a folder as objects; return None if git has rules for some of them."""
    entries = []
    for found in list(os.scandir(folder)):  # which closes the listing
        path = prefix + os.fsencode(found.name)
        if found.name == ".git" and not prefix:
            continue
        if found.name.startswith(".git"):
            return None
        if found.is_dir(follow_symlinks=False):
            below = _add_files(git_dir, found.path, path + b"/")
            if below is None:
                return None
            entries += below
            continue
        status = found.stat(follow_symlinks=False)
        if found.is_symlink():
            mode, content = _LINK, os.fsencode(os.readlink(found.path))
        elif stat.S_ISREG(status.st_mode):
            mode = _PROGRAM if status.st_mode & stat.S_IXUSR else _FILE
            content = Path(found.path).read_bytes()
        else:
            return None
        entries.append(_Entry(path, mode, _write_object(git_dir, b"blob", content), status))
    return entries if prefix else sorted(entries, key=lambda entry: entry.path)


def _write_tree(git_dir: Path, entries: Iterable[_Entry], start: int) -> bytes:
    """Write the tree of entries whose paths are equal up to `start`."""
    rows: dict[bytes, tuple[int, bytes]] = {}
    folders: dict[bytes, list[_Entry]] = {}
    for entry in entries:
        name, slash, _ = entry.path[start:].partition(b"/")
        if slash:
            folders.setdefault(name, []).append(entry)
        else:
            rows[name] = (entry.mode, entry.sha)
    for name, below in folders.items():
        rows[name + b"/"] = (0o40000, _write_tree(git_dir, below, start + len(name) + 1))
    tree = (b"%o %b\0%b" % (rows[at][0], at.rstrip(b"/"), rows[at][1]) for at in sorted(rows))
    return _write_object(git_dir, b"tree", b"".join(tree))


def _write_object(git_dir: Path, kind: bytes, content: bytes) -> bytes:
    data = b"%b %d\0%b" % (kind, len(content), content)
    digest = sha1(data)
    sha = digest.hexdigest()
    folder = git_dir / "objects" / sha[:2]
    if not (folder / sha[2:]).exists():
        folder.mkdir(exist_ok=True)
        (folder / sha[2:]).write_bytes(zlib.compress(data, 1))
    return digest.digest()


def _write_index(git_dir: Path, entries: list[_Entry]) -> None:
    parts = [struct.pack(">4sII", b"DIRC", 2, len(entries))]
    for entry in entries:
        of = entry.status
        times = (*divmod(of.st_ctime_ns, 10**9), *divmod(of.st_mtime_ns, 10**9))
        others = (of.st_dev, of.st_ino, entry.mode, of.st_uid, of.st_gid, of.st_size)
        head = struct.pack(">10I", *(number & 0xFFFFFFFF for number in (*times, *others)))
        head += entry.sha + struct.pack(">H", min(len(entry.path), 0xFFF)) + entry.path
        parts.append(head + b"\0" * (8 - len(head) % 8))
    data = b"".join(parts)
    (git_dir / "index").write_bytes(data + sha1(data).digest())
