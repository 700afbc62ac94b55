"""Read the patches of many commits from one running git process."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from time import monotonic
from typing import Final
from weakref import finalize

from rootle.sources.git.command import GitSession, open_session
from rootle.sources.git.commits.patch_parsing import (
    FORMAT,
    CommitPatch,
    parse_message,
    parse_patch,
)
from rootle.sources.git.history import find_shallow_commits
from rootle.text.file_kinds import is_vendored

# Maximum number of bytes of a patch that are read. A longer patch usually moves or imports many
# files.
_MAX_PATCH_BYTES: Final = 2_000_000
# Time limit for one commit. git needs this long only for a commit that changes thousands of files.
_TIMEOUT_S: Final = 60.0
# Limit on the total time of all commits that take longer than a second. After that, no further
# patches are read. In the repository of Kafka, no commit takes longer than a second.
_SLOW_S: Final = 1.0
_ALL_SLOW_S: Final = 120.0
_DIFF: Final = (
    *("--stdin", "--always", "--root", "-r", "--raw", "-z"),
    *("--no-ext-diff", "--no-textconv", "--no-color", "--no-notes", "--encoding=UTF-8"),
    *("--diff-algorithm=myers", "--ignore-submodules", f"--format={FORMAT}"),
    "-c",  # for a merge, list the files that differ from all of its parents
)
# The options for a whole patch, and those for paths only. git can list paths, including those of
# files that were renamed without a change, even in a partial clone, which lacks the contents of
# files.
_PATCH: Final = ("-p", "-M", "-l300", "-U1")
_WITHOUT_RENAMES: Final = ("-p", "--no-renames", "-U1")
_PATHS: Final = ("-M100%",)
# Sets of options that are tried in order until git can read a commit.
Levels = tuple[tuple[str, ...], ...]
ALL_LEVELS: Final[Levels] = (_PATCH, _PATHS)
# A file that assigns a language to each file type, so that git recognizes lines that begin a
# definition. git knows most of these languages, but not the file names that belong to them.
_ATTRIBUTES: Final = os.path.join(os.path.dirname(__file__), "definitions.gitattributes")
_DEFINITIONS: Final = {
    "core.attributesFile": _ATTRIBUTES,
    # git shows the first group of the expression as the heading, so the group includes the
    # indentation. For Python, decorators and statements at the top level of a module are headings
    # too, so that the lines below them are not attributed to the definition above.
    "diff.rootle-python.xfuncname": (
        "^([ \t]*((async[ \t]+)?def|class)[ \t].*)$\n"
        "^([ \t]*@[A-Za-z_].*)$\n"
        "^([A-Za-z_][A-Za-z0-9_.]*[ \t]*(:[^=]*)?=.*[[({][ \t]*)$\n"
        "^([A-Za-z_][A-Za-z0-9_.]*\\([ \t]*)$\n"
        "^((if|with|for|while|try|else)[ \t:].*)$"
    ),
    "diff.rootle-python.binary": "auto",
    "diff.rootle-script.xfuncname": (
        "!^[ \t]*(if|else|for|while|switch|catch|return|await|do|throw|new|yield)[^A-Za-z0-9_$]\n"
        "^([ \t]*((export|default|async|static|public|private|protected|abstract|override|get|set"
        "|readonly)[ \t]+)*((function|class|interface|enum|type|namespace)[ \t*]"
        "|(const|let|var)[ \t]+[A-Za-z0-9_$]+[^=]*=[^=].*(=>|function)"
        "|[A-Za-z_$#][A-Za-z0-9_$]*[ \t]*(<[^>]*>)?\\([^;]*\\{[ \t]*$).*)"
    ),
    "diff.rootle-script.binary": "auto",
    "diff.rootle-swift.xfuncname": (
        "^([ \t]*((@?[A-Za-z]+(\\([a-z]+\\))?)[ \t]+)*"
        "(func|class|struct|enum|protocol|extension|init|actor)[ \t(<].*)"
    ),
    "diff.rootle-shell.xfuncname": (
        "^([ \t]*((function[ \t]+[A-Za-z0-9_:-]+)|([A-Za-z0-9_:-]+[ \t]*\\(\\))).*)"
    ),
}


def find_readable_levels(folder: str, hashes: Iterable[str]) -> Levels:
    """Return the sets of options with which git can read all of these commits of a partial clone.

    The decision is made once for all commits, so that their texts do not depend on the order in
    which they are read.
    """
    process = PatchProcess(folder)
    try:
        for sha in hashes:
            process.read(sha)
    finally:
        process.close()
    return tuple(level for level in ALL_LEVELS if level not in process.failed_levels)


class PatchProcess:
    """Git processes that read commits. They start on first use, and again after a huge patch.

    If git fails for a commit, the commit is read without its patch, and git is started again. In a
    partial clone, which lacks the contents of most commits, these restarts would be slow. Pass the
    `levels` from `find_readable_levels` for such a clone.

    An object of this class can be pickled; the copy starts its own processes.
    """

    def __init__(self, folder: str, levels: Levels = ALL_LEVELS) -> None:
        self._folder = folder
        self._levels = levels
        self.failed_levels: set[tuple[str, ...]] = set()
        self._left_s = _ALL_SLOW_S
        self._sessions: dict[tuple[str, ...], GitSession] = {}
        # End the processes even if nothing calls `close`, but not when rootle exits: a thread may
        # still be reading then, and git ends by itself because its input is closed.
        finalize(self, _close_all, self._sessions).atexit = False

    def __reduce__(self) -> tuple[type[PatchProcess], tuple[str, Levels]]:
        return PatchProcess, (self._folder, self._levels)

    @cached_property
    def _shallow(self) -> frozenset[str]:
        return find_shallow_commits(self._folder)

    def read(self, sha: str) -> CommitPatch | None:
        """Return a commit with its changes; None if the repository does not have it.

        The oldest commits of a shallow clone have no changes: git would report all their files as
        added. If many commits took too long to read, the changes have paths only.
        """
        levels = self._levels if self._left_s > 0 else (_PATHS,)
        if sha in self._shallow:
            return self.read_message(sha)
        for level in levels:
            session = self._open("diff-tree", *level)
            if session is None:
                return None
            data = self._ask(session, sha, "")
            if not session.has_failed:
                return self._add_moved_out(parse_patch(data, is_cut=not session.is_open))
            self.failed_levels.add(level)
        commit = self.read_message(sha)
        return None if commit is None else replace(commit, is_cut=True)

    def _add_moved_out(self, commit: CommitPatch | None) -> CommitPatch | None:
        """Return a commit with the whole text of the files that it moved to vendored folders.

        The content of such a folder is not indexed, so a later deletion of the folder would not be
        recorded. Therefore, the move counts as the removal of the code.
        """
        renamed = [] if commit is None else [one for one in commit.changes if one.status == "R"]
        paths = {one.old_path for one in renamed if is_vendored(one.path)}
        paths = {path for path in paths if not is_vendored(path)}
        session = self._open("diff-tree", *_WITHOUT_RENAMES) if paths else None
        if commit is None or session is None:
            return commit
        data = self._ask(session, commit.sha, "")
        whole = None if session.has_failed else parse_patch(data, is_cut=not session.is_open)
        deleted = () if whole is None else whole.changes
        found = tuple(one for one in deleted if one.status == "D" and one.path in paths)
        return replace(commit, moved_out=found)

    def read_message(self, sha: str) -> CommitPatch | None:
        """Return a commit without its changes; None if the repository does not have it."""
        session = self._open("cat-file")
        return None if session is None else parse_message(self._ask(session, sha, " missing"))

    def close(self) -> None:
        """End the processes. The next read starts new ones."""
        _close_all(self._sessions)

    def _ask(self, session: GitSession, sha: str, answer: str) -> bytes:
        """Return the output for a commit.

        The hash is followed by a marker, which is not a hash. git prints the marker and `answer`
        after the output for the hash, so they show where this output ends.
        """
        marker = f"end {secrets.token_hex(16)}"
        request, end = f"{sha}\n{marker}\n", f"{marker}{answer}\n"
        started_s = monotonic()
        found = session.ask(
            request.encode("ascii"), end.encode("ascii"), _MAX_PATCH_BYTES, _TIMEOUT_S
        )
        if (seconds := monotonic() - started_s) > _SLOW_S:
            self._left_s -= seconds
        return found

    def _open(self, command: str, *options: str) -> GitSession | None:
        key = command, *options
        session = self._sessions.get(key)
        if session is not None and session.is_open:
            return session
        if command == "diff-tree":
            session = open_session(self._folder, "diff-tree", *_DIFF, *options, config=_DEFINITIONS)
        else:
            session = open_session(self._folder, "cat-file", "--batch", config={})
        if session is not None:
            self._sessions[key] = session
        return session


def _close_all(sessions: dict[tuple[str, ...], GitSession]) -> None:
    while sessions:
        _, session = sessions.popitem()
        with suppress(OSError):
            session.close()
