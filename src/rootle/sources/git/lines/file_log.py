"""Read the commits that changed one file, newest first, with the lines that they changed."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Final

from rootle.sources.git.command import GitStream, stream_git
from rootle.sources.git.lines.patch_hunks import LineChange, parse_changes, parse_merge

# git leaves out commits that do not change the file, and --parents shows the nearest remaining
# ancestors as parents. A merge has a patch only if it differs from all its parents.
_OPTIONS: Final = (
    *("--parents", "-p", "-U0", "--diff-merges=combined", "--no-renames", "--no-ext-diff"),
    *("--no-textconv", "--no-notes", "--no-decorate", "--no-color", "--ignore-submodules"),
    *("--no-show-signature", "--encoding=UTF-8", "--format=%x00%H %P%x00%B%x00", "--no-prefix"),
)
_CONFIG: Final = {"log.showRoot": "true", "log.follow": "false", "core.quotePath": "false"}
_FIELDS: Final = 3
_NEW_FILE: Final = b"\nnew file mode "
_HEADER_BYTES: Final = 10_000
# Maximum number of bytes of a patch. A longer patch of one file is usually generated or imported
# text.
_MAX_PATCH_BYTES: Final = 8_000_000


@dataclass(frozen=True, slots=True)
class FileCommit:
    """A commit that changed a file."""

    sha: str
    parents: tuple[str, ...]  # the nearest ancestors that the log contains
    message: str
    changes: tuple[tuple[LineChange, ...], ...]  # relative to each parent, or to an empty file
    is_new: bool  # whether no parent has the file


class FileLog:
    """The commits that changed one file, read while git runs until a deadline."""

    def __init__(self, stream: GitStream, deadline_s: float) -> None:
        self._stream = stream
        self._deadline_s = deadline_s
        self._is_stopped = False

    def __iter__(self) -> Iterator[FileCommit]:
        fields: list[bytes] = []
        for field in self._fields():
            fields.append(field)
            if len(fields) == _FIELDS:
                yield _parse(fields)
                fields = []

    @property
    def is_complete(self) -> bool:
        """Whether git has reached the first commit; only valid after the last commit was read."""
        return not self._is_stopped and self._stream.wait() == 0

    def stop(self) -> None:
        """End the iteration soon; a timer calls this."""
        self._is_stopped = True
        self._stream.stop()

    def _fields(self) -> Iterator[bytes]:
        """Yield hashes, messages and patches in turn. A patch that is cut off is left out."""
        parts: list[bytes] = []
        size = 0
        is_first = True
        for chunk in self._stream:
            if self._is_stopped or monotonic() > self._deadline_s or size > _MAX_PATCH_BYTES:
                self.stop()
                return
            first, *rest = chunk.split(b"\0")
            parts.append(first)
            size += len(first)
            for part in rest:
                if not is_first:
                    yield b"".join(parts)
                is_first = False
                parts, size = [part], len(part)
        if not is_first and self.is_complete:  # otherwise the last patch is cut off
            yield b"".join(parts)


@contextmanager
def open_file_log(folder: str, revision: str, path: str, deadline_s: float) -> Iterator[FileLog]:
    """Read the history of the file at `path`, relative to the top of the work tree `folder`.

    `revision` is a hash. git is stopped at `deadline_s` on the monotonic clock.
    """
    pathspec = f":(top,literal){os.fspath(path)}"
    arguments = (*_OPTIONS, revision, "--", pathspec)
    with stream_git(folder, "log", *arguments, config=_CONFIG) as stream:
        log = FileLog(stream, deadline_s)
        timer = threading.Timer(max(0.0, deadline_s - monotonic()), log.stop)
        timer.daemon = True
        timer.start()
        try:
            yield log
        finally:
            timer.cancel()


def _parse(fields: list[bytes]) -> FileCommit:
    sha, *parents = fields[0].decode("ascii", "replace").split() or [""]
    message = fields[1].decode("utf-8", "replace").replace("\r\n", "\n").strip()
    is_new = not parents or _NEW_FILE in fields[2][:_HEADER_BYTES]
    if len(parents) > 1:
        changes = parse_merge(fields[2], len(parents))
        is_new = is_new and any(changes)
    else:
        changes = (tuple(parse_changes(fields[2])),)
    return FileCommit(sha, tuple(parents), message, changes, is_new)
