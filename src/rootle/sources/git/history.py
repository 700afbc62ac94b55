"""Read the history of a git repository: its commits, newest first, and the files they changed."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, NamedTuple

from rootle.sources.files.regular_file_reader import read_regular
from rootle.sources.git.command import GitStream, run_git, stream_git
from rootle.sources.git.commit_time import parse_commit_time
from rootle.sources.git.git_dirs import GitFolders, find_git_folders, find_work_tree
from rootle.sources.git.special_files import is_special
from rootle.storage.change_time import read_modification_time_ns

_SHA: Final = re.compile(r"[0-9a-f]{7,64}", re.ASCII)
_REFERENCE: Final = b"ref: "
_MAX_REFERENCES: Final = 5  # for a chain of references; git has the same limit
_TIMEOUT_S: Final = 10.0
_LIST_TIMEOUT_S: Final = 120.0
# Limits of `find_base`. If one is exceeded, which is rare, the whole history is read again.
_MAX_STEPS: Final = 10
_MAX_PARENTS: Final = 50
_OPTIONS: Final = (
    # With --date-order, a commit follows all its descendants, whatever its date. Reading new
    # commits first and old commits later therefore gives the same result as reading all at once.
    *("-z", "--name-status", "--relative", "--date-order"),
    # A merge counts as changing only the files that differ from all its parents.
    *("--diff-merges=combined", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-notes"),
    *("--no-decorate", "--no-color", "--ignore-submodules", "--encoding=UTF-8"),
)


@dataclass(frozen=True, slots=True)
class LastCommit:
    """The last commit that changed a file."""

    seconds: int  # Unix time
    author: str  # "Name <address>"


class Commit(NamedTuple):
    """A commit, and the files that it added or changed, relative to the folder of the log.

    The header is parsed on demand, because most commits are not the last change of any file.
    """

    header: str  # as in `_log_format`; bytes that are not UTF-8 become surrogates
    paths: list[str]

    @property
    def sha(self) -> str:
        return self.header.partition(" ")[0]

    @property
    def facts(self) -> LastCommit:
        text = self.header if self.header.isascii() else _replace_surrogates(self.header)
        seconds, _, author = text.partition(" ")[2].partition(" ")
        return LastCommit(parse_commit_time(seconds), author)


class CommitLog:
    """The commits of a history in the order of `git log --date-order`, read while git runs."""

    def __init__(self, stream: GitStream) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[Commit]:
        """Yield the commits. If git was stopped, an incomplete last commit is left out."""
        header, status, paths = "", "", list[str]()
        for entries in _split(self._stream):
            for entry in entries:
                if status:
                    if not status.endswith("D"):
                        paths.append(entry)
                    status = ""
                elif " " in entry:  # the header of a commit; a status is one or more letters
                    if header:
                        yield Commit(header, paths)
                    header, paths = entry.lstrip("\n"), []
                else:
                    status = entry
        if header and self._stream.wait() == 0:
            yield Commit(header, paths)

    @property
    def is_complete(self) -> bool:
        """Whether git has reached the first commit; only valid after the last commit was read."""
        return self._stream.wait() == 0

    @property
    def has_failed(self) -> bool:
        """Whether git cannot read older commits, as in a partial clone.

        This is only valid after the last commit was read.
        """
        return self._stream.wait() > 0

    def stop(self) -> None:
        """End the iteration soon. Another thread may call this."""
        self._stream.stop()


@contextmanager
def open_log(
    folder: str, *revisions: str, skip: int = 0, without: Collection[str] = ()
) -> Iterator[CommitLog]:
    """Read the history of `revisions`, without the history of `without`.

    The first `skip` commits are left out.
    """
    assert all(map(_SHA.fullmatch, (*revisions, *without)))
    excluded = (f"^{sha}" for sha in without)
    arguments = (*_OPTIONS, _log_format(folder), f"--skip={skip}", *revisions, *excluded, "--")
    config = {"log.showRoot": "true"}
    with stream_git(folder, "log", *arguments, config=config, buffers=True) as stream:
        yield CommitLog(stream)


def _log_format(folder: str) -> str:
    """Return the format of a log entry; git reads `.mailmap` for the names %aN and %aE."""
    top = find_work_tree(os.path.realpath(folder)) or ""
    names = "%an <%ae>" if is_special(os.path.join(top, ".mailmap")) else "%aN <%aE>"
    return f"--format=%x00%H %ct {names}"


def _split(chunks: Iterable[bytes]) -> Iterator[list[str]]:
    """Yield the complete entries, which end with NUL, of each chunk; empty ones are left out."""
    rest = b""
    for chunk in chunks:
        complete, _, rest = (rest + chunk).rpartition(b"\0")
        entries = os.fsdecode(complete).split("\0")
        yield [entry for entry in entries if entry and entry != "\n"]


def _replace_surrogates(text: str) -> str:
    """Return a text with replacement characters for the bytes that are not UTF-8."""
    return os.fsencode(text).decode("utf-8", "replace")


def list_committed_files(folder: str, head: str) -> list[str] | None:
    """Return the files of a commit below a folder, without submodules; None if git fails."""
    output = run_git(folder, "ls-tree", "-r", "-z", head, timeout_s=_LIST_TIMEOUT_S)
    if output.returncode != 0:
        return None
    entries = (entry.partition("\t") for entry in os.fsdecode(output.stdout).split("\0"))
    return [path for facts, _, path in entries if path and " blob " in facts]


def find_base(folder: str, known: str, head: str, *, max_commits: int) -> str | None:
    """Return a common ancestor from which all newer commits of both histories descend.

    This ancestor and its history therefore come last in the histories of both commits, in the same
    order. Return None if there is no such ancestor, or if more than `max_commits` commits are
    newer.
    """
    if not (_SHA.fullmatch(known) and _SHA.fullmatch(head)):
        return None
    base = find_merge_base(folder, (known, head))
    for _ in range(_MAX_STEPS):
        if base is None:
            return None
        borders = _list_borders(folder, base, (known, head), max_commits)
        if borders is None or borders <= {base}:
            return None if borders is None else base
        if len(borders) > _MAX_PARENTS:
            return None
        base = find_merge_base(folder, (base, *sorted(borders)))
    return None


def find_merge_base(folder: str, commits: Collection[str]) -> str | None:
    """Return the hash of the best common ancestor of commits; None if there is none."""
    output = run_git(folder, "merge-base", "--octopus", *commits, timeout_s=_TIMEOUT_S)
    return output.stdout.decode("ascii").split("\n")[0] or None


def _list_borders(
    folder: str, base: str, tips: Collection[str], max_commits: int
) -> set[str] | None:
    """Return the commits in the history of `base` that have children outside this history.

    Return None if there are too many commits outside this history, or if one of them has no parent.
    """
    limit = f"--max-count={max_commits + 1}"
    output = run_git(
        folder,
        *("rev-list", "--parents", "--boundary", limit, *tips, f"^{base}", "--"),
        timeout_s=_TIMEOUT_S,
    )
    lines = output.stdout.decode("ascii").split("\n")[:-1]
    commits = [line for line in lines if not line.startswith("-")]
    has_root = any(" " not in line for line in commits)
    if output.returncode != 0 or output.timed_out or has_root or len(commits) > max_commits:
        return None
    return {line[1:].split(" ")[0] for line in lines if line.startswith("-")}


def find_shallow_commits(folder: str) -> frozenset[str]:
    """Return the commits whose parents a shallow clone lacks."""
    git = find_git_folders(os.path.realpath(folder))
    return frozenset() if git is None else _read_shallow_commits(git)


def _read_shallow_commits(git: GitFolders) -> frozenset[str]:
    text = read_regular(os.path.join(git.common, "shallow"))
    lines = text.decode("ascii", "replace") if isinstance(text, bytes) else ""
    return frozenset(lines.split())


def read_head_state(folder: str) -> str:
    """Return a string that changes when another commit is checked out; "" outside git.

    The files in the git folder are read directly, which saves the time to start git.
    """
    git = find_git_folders(os.path.realpath(folder))
    if git is None:
        return ""
    contents = list(_follow_references(git))
    if contents and not contents[-1].startswith(_REFERENCE):
        return _digest(map(repr, contents))
    # Either the last reference is in a shared file (packed-refs or reftable) instead of a file of
    # its own, or there is no commit yet.
    tables = read_regular(os.path.join(git.own, "reftable", "tables.list"))
    packed = read_modification_time_ns(os.path.join(git.common, "packed-refs"))
    return _digest(map(repr, (contents, tables, packed)))


def _follow_references(git: GitFolders) -> Iterator[bytes]:
    """Yield the contents of HEAD, of the reference that it names, and so on.

    The file of a branch usually contains a hash, but can also name another branch.
    """
    text = read_regular(os.path.join(git.own, "HEAD"))
    for _ in range(_MAX_REFERENCES):
        if not isinstance(text, bytes):
            return
        yield text
        if not text.startswith(_REFERENCE):
            return
        name = os.fsdecode(text.removeprefix(_REFERENCE).strip()).replace("\0", "")
        text = read_regular(os.path.join(git.common, name))


def digest_history_facts(folder: str) -> str:
    """Return a digest of everything, apart from commits, on which dates and authors depend.

    It covers the limits of a shallow clone, the pack files of a partial clone, and `.mailmap`.
    """
    real = os.path.realpath(folder)
    git = find_git_folders(real)
    if git is None:
        return ""
    mailmap = read_regular(os.path.join(find_work_tree(real) or real, ".mailmap"))
    return _digest([*_list_limits(git), mailmap.hex() if isinstance(mailmap, bytes) else ""])


def digest_clone_limits(folder: str) -> str:
    """Return a digest that changes if a shallow or partial clone was extended.

    The digest is the same in all work trees of a repository.
    """
    git = find_git_folders(os.path.realpath(folder))
    return "" if git is None else _digest(_list_limits(git))


def _list_limits(git: GitFolders) -> list[str]:
    shallow = " ".join(sorted(_read_shallow_commits(git)))
    return [shallow, " ".join(_list_packs_of_partial_clone(git))]


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def is_partial_clone(folder: str) -> bool:
    """Return whether a repository may lack contents because it was cloned with a filter."""
    git = find_git_folders(os.path.realpath(folder))
    return git is not None and bool(_list_packs_of_partial_clone(git))


def _list_packs_of_partial_clone(git: GitFolders) -> list[str]:
    """Return the pack files of a partial clone, which may lack objects; [] if it is not partial.

    git marks the pack files that a server has filtered. Unmarked files are also returned, because
    they may contain the objects that the marked files lack.
    """
    try:
        names = sorted(os.listdir(os.path.join(git.common, "objects", "pack")))
    except OSError:
        return []
    is_partial = any(name.endswith(".promisor") for name in names)
    return [name for name in names if name.endswith(".pack")] if is_partial else []


def is_short_history(folder: str, max_index_bytes: int) -> bool:
    """Return whether the history is short, as estimated from the size of the pack indexes.

    This size is proportional to the number of objects in pack files; few objects are elsewhere.
    """
    git = find_git_folders(os.path.realpath(folder))
    if git is None:
        return True
    try:
        with os.scandir(os.path.join(git.common, "objects", "pack")) as entries:
            sizes = [entry.stat().st_size for entry in entries if entry.name.endswith(".idx")]
    except OSError:
        return True
    return sum(sizes) <= max_index_bytes
