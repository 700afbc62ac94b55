"""List the commits that changed the lines of definitions, or whole files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Final, NamedTuple

from rootle.provenance.committed_file import CommittedFile, find_committed, find_old_range
from rootle.provenance.uncommitted import compare_lines
from rootle.sources.files.regular_file_reader import read_regular
from rootle.sources.files.text_reader import decode_text
from rootle.sources.git.commit_text import explain_hidden_commits
from rootle.sources.git.commits.commit_list import find_commit
from rootle.sources.git.git_dirs import find_prefix, find_work_tree
from rootle.sources.git.history import find_shallow_commits
from rootle.sources.git.lines.commits_of_lines import (
    ChangeLog,
    CommittedLines,
    LoggedChanges,
)
from rootle.sources.git.repository import head_commit
from rootle.types import RevisionRange

_TIMEOUT_S: Final = 6.0
_SHALLOW: Final = "older commits are missing, because this is a shallow clone"
_STOPPED: Final = "git did not read all commits in time, so older ones may be missing"


class CurrentLines(NamedTuple):
    """Lines of the current version of a file, from 1; both ends are included."""

    file: str  # an absolute path
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class PlaceChanges:
    """The commits that changed a place, newest first."""

    commits: dict[str, Sequence[str]]  # hash -> the first changed lines, each with "+" or "-"
    merges: frozenset[str]  # the merges among these commits
    note: str  # why older commits may be missing; "" if they are not


def list_definition_changes(places: Sequence[CurrentLines], log: ChangeLog) -> PlaceChanges | None:
    """Return the commits that changed lines of places in the files of one work tree.

    Lines and files that are not committed are left out. Return None if nothing is left, if git
    cannot list them, or if commits must not be shown.
    """
    if not places or not _may_show(places[0].file):
        return None
    deadline_s = monotonic() + _TIMEOUT_S
    places = [place for place in places if not any(_is_inside(place, one) for one in places)]
    committed = {place.file: find_committed(place.file) for place in places}
    found = [file for file in committed.values() if file is not None]
    ranges = [
        CommittedLines(file.path, *old)
        for place in places
        if (file := committed[place.file]) is not None
        and (old := _committed_range(place, file)) is not None
    ]
    if not ranges or any(file.top != found[0].top for file in found):
        return None
    return _describe(
        found[0].top, [log.list_range_changes(found[0].top, found[0].head, ranges, deadline_s)]
    )


def list_file_changes(
    root: Path, paths: Sequence[str], log: ChangeLog, period: RevisionRange | None = None
) -> PlaceChanges | None:
    """Return the commits that changed one of several files or folders below a folder.

    With `period`, only commits in this range are returned; without it, commits in the history of
    HEAD. The files need not exist any more. The paths of folders end in "/". Return None if git
    cannot list the commits, or if they must not be shown.
    """
    if explain_hidden_commits(root) is not None:
        return None
    real = os.path.realpath(root)
    top = find_work_tree(real)
    newest = None if top is None else _find_newest(top, period)
    if top is None or newest is None:
        return None
    prefix, deadline_s = find_prefix(real), monotonic() + _TIMEOUT_S
    return _describe(
        top, [log.list_path_changes(top, newest, f"{prefix}{path}", deadline_s) for path in paths]
    )


def _find_newest(top: str, period: RevisionRange | None) -> str | None:
    """Return the hash of HEAD, or the hashes of a range, as an argument for git."""
    if period is None:
        return head_commit(Path(top))
    older, newer = (find_commit(top, name) for name in (period.older, period.newer))
    return None if older is None or newer is None else f"{older.sha}..{newer.sha}"


def _may_show(file: str) -> bool:
    folder = os.path.dirname(file)
    return os.path.isdir(folder) and explain_hidden_commits(Path(folder)) is None


def _is_inside(place: CurrentLines, other: CurrentLines) -> bool:
    return place != other and (
        place.file == other.file
        and other.first_line <= place.first_line
        and place.last_line <= other.last_line
    )


def _committed_range(place: CurrentLines, file: CommittedFile) -> tuple[int, int] | None:
    """Return the range that the lines at a place have in the last commit.

    Return None if there are none, or if the file could not be completely compared.
    """
    content = read_regular(place.file)
    current = _lines(content) if isinstance(content, bytes) else []
    compared = compare_lines(_lines(file.raw), current)
    if not compared.is_complete:
        return None
    return find_old_range(compared.changes, place.first_line, min(place.last_line, len(current)))


def _lines(content: bytes) -> list[str]:
    decoded = decode_text(content)
    text = decoded[0] if decoded else ""
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def _describe(top: str, logs: Iterable[LoggedChanges]) -> PlaceChanges | None:
    """Return the changes in several logs; None if git failed before it found a commit."""
    commits: dict[str, Sequence[str]] = {}
    merges = frozenset[str]()
    is_complete = True
    for log in logs:
        commits = {**commits, **log.commits}
        merges |= log.merges
        is_complete = is_complete and log.is_complete
    if not commits and not is_complete:
        return None
    # git shows the oldest commits of a shallow clone as if they had added everything.
    shallow = find_shallow_commits(top).intersection(commits)
    known = {sha: lines for sha, lines in commits.items() if sha not in shallow}
    note = _SHALLOW if shallow else "" if is_complete else _STOPPED
    return PlaceChanges(known, merges, note)
