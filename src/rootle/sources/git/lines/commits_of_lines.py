"""List the commits that changed ranges of lines, or whole files, newest first."""

from __future__ import annotations

import math
import re
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from time import monotonic
from typing import Final, NamedTuple

from rootle.sources.git.command import stream_git
from rootle.sources.git.history import find_shallow_commits

_OPTIONS: Final = (
    *("--no-ext-diff", "--no-textconv", "--no-notes", "--no-decorate", "--no-color"),
    *("--no-show-signature", "--ignore-submodules", "--format=%x00%H %P%x00"),
)
_CONFIG: Final = {"log.showRoot": "true", "log.follow": "false"}
_CHANGED: Final = re.compile(rb"^[-+](?!(?:-- |\+\+ ))(.*)$", re.MULTILINE)
_MAX_LINES: Final = 40  # changed lines that are returned for each commit
_MAX_LINE_BYTES: Final = 1_000
# git prints the whole range for each commit. This is enough for 300 changes of 5,000 lines.
_MAX_BYTES: Final = 64_000_000
_PARTIAL_S: Final = 60.0  # how long an incomplete answer is kept
_MAX_KNOWN: Final = 16  # stored answers; one takes about a megabyte at most


class CommittedLines(NamedTuple):
    """A range of lines in a file of a commit, counted from 1, including both ends."""

    path: str  # relative to the top of the work tree
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class LoggedChanges:
    """The commits that changed ranges of lines or a path, newest first."""

    commits: Mapping[str, Sequence[str]]  # hash -> the first changed lines, each with "+" or "-"
    merges: frozenset[str]  # those of the commits that are merges
    is_complete: bool  # False: git failed or was stopped, so older commits are missing


class ChangeLog:
    """Asks git for the commits that changed lines or files, and stores answers. Thread-safe.

    git takes seconds for a definition in a large repository, and each page of an answer asks for
    the same commits. The answer for a hash stays valid as long as the history of a shallow clone
    ends at the same commits. If git was stopped, the commits found so far are stored for a minute,
    so that the next page continues the first one.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[object, ...], tuple[LoggedChanges, float]] = OrderedDict()
        self._lock = threading.Lock()

    def list_range_changes(
        self, top: str, revision: str, ranges: Sequence[CommittedLines], deadline_s: float
    ) -> LoggedChanges:
        """Return the commits that changed these lines, or an earlier version of them.

        The ranges are lines in files of the commit with the hash `revision`. `top` is the top of
        the work tree. Renamed files are followed. git is stopped at `deadline_s` on the monotonic
        clock.
        """
        places = [f"-L{one.first_line},{one.last_line}:{one.path}" for one in ranges]
        return self._find(top, ("-p", *places, revision, "--"), deadline_s)

    def list_path_changes(
        self, top: str, revision: str, path: str, deadline_s: float
    ) -> LoggedChanges:
        """Return the commits that changed a folder, or a file under its current or an earlier name.

        `path` is relative to the top of the work tree `top`; the path of a folder ends in "/". The
        changed lines are not read. `revision` is a hash, or a range of hashes. git is stopped at
        `deadline_s` on the monotonic clock.
        """
        follow = () if path.endswith("/") else ("--follow",)
        arguments = ("-s", *follow, revision, "--", f":(top,literal){path}")
        return self._find(top, arguments, deadline_s)

    def _find(self, top: str, arguments: Sequence[str], deadline_s: float) -> LoggedChanges:
        key = (top, find_shallow_commits(top), *arguments)
        with self._lock:
            known, end_s = self._known.get(key, (None, 0.0))
            if known is not None and monotonic() < end_s:
                self._known.move_to_end(key)
                return known
        found = _read_log(top, arguments, deadline_s)
        if found.is_complete or found.commits:
            end_s = math.inf if found.is_complete else monotonic() + _PARTIAL_S
            with self._lock:
                self._known[key] = found, end_s
                self._known.move_to_end(key)
                while len(self._known) > _MAX_KNOWN:
                    self._known.popitem(last=False)
        return found


def _read_log(top: str, arguments: Sequence[str], deadline_s: float) -> LoggedChanges:
    timeout_s = deadline_s - monotonic()
    with stream_git(
        top, "log", *_OPTIONS, *arguments, config=_CONFIG, timeout_s=timeout_s
    ) as stream:
        parts, size = [], 0
        for chunk in stream:
            parts.append(chunk)
            size += len(chunk)
            if size > _MAX_BYTES:
                stream.stop()
                break
        is_complete = not stream.is_stopped and stream.wait() == 0
    fields = b"".join(parts).split(b"\0")[1:]
    found = list(_parse(fields))
    merges = frozenset(sha for (sha, *parents), _ in found if len(parents) > 1)
    return LoggedChanges({shas[0]: lines for shas, lines in found}, merges, is_complete)


def _parse(fields: Sequence[bytes]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Yield the hashes of each commit and of its parents, and the lines that the commit changed.

    `fields` contains hashes and patches in alternation.
    """
    for hashes, patch in zip(fields[::2], fields[1::2], strict=False):
        found = islice(_CHANGED.finditer(patch), _MAX_LINES)
        lines = [match[0][:_MAX_LINE_BYTES].decode("utf-8", "replace") for match in found]
        yield hashes.decode("ascii", "replace").split() or [""], lines
