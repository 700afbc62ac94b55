"""Keep the commit dates and authors of files up to date with the history of their repositories."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Final

from rootle.index.local.commit_dates import (
    CommitDate,
    CommitDates,
    HistoryRecord,
    parse_records,
)
from rootle.index.local.manifest import DATES_DUE, Manifest
from rootle.index.reader import FileState
from rootle.indexing.git_history.history_walk import HistoryWalk
from rootle.sources.git.git_dirs import find_work_tree
from rootle.sources.git.history import (
    digest_history_facts,
    find_base,
    is_short_history,
    list_committed_files,
    open_log,
    read_head_state,
)
from rootle.sources.git.repository import has_unreadable_head, head_commit, list_changed_files
from rootle.types import FILES

_HEAD = "head"
# Limits on the history that an update reads itself; the rest is read in the background. If the pack
# indexes are larger than _MAX_PACK_INDEX_BYTES (about 50,000 objects), an update reads only new
# commits. git reads 2,000 commits in 0.05 s.
_MAX_COMMITS_AT_ONCE: Final = 2_000
_MAX_PACK_INDEX_BYTES: Final = 1_500_000
_MAX_S_AT_ONCE: Final = 2.0
_UNREAD: Final = CommitDate(False, None, "")


def is_history_current(root: Path, value: Callable[[str], str]) -> bool:
    """Return whether the stored dates of files match the current commits.

    `value` looks up a value in the manifest.
    """
    records = parse_records(value)
    heads = _read_heads(root, {"", *records}, records)
    return not value(DATES_DUE) and _join(heads) == value(_HEAD)


def update_commit_dates(
    root: Path,
    connection: sqlite3.Connection,
    *,
    content_changed: bool,
    only: Collection[str] = (),
) -> None:
    """Update the dates and authors of files to the current commits.

    The caller opens the transaction. `only` names the files that may have changed; by default, all
    are updated. A long history is not read here; its record then says where to continue.
    """
    manifest, dates = Manifest(connection), CommitDates(connection)
    records = dates.records()
    repositories = {"", *records}
    if content_changed and not only:
        repositories = {"", *_find_nested(root, manifest.files())}
    heads = _read_heads(root, repositories, records)
    has_same_heads = _join(heads) == manifest.value(_HEAD)
    if has_same_heads and not content_changed:
        return
    if not has_same_heads:
        updated = {place: _update(root, place, dates) for place in sorted(repositories)}
        records = {place: record for place, record in updated.items() if record is not None}
        dates.set_records(records)
        heads = {place: head for place, head in heads.items() if not place or place in records}
    _write_states(root, manifest, dates, only if has_same_heads else ())
    manifest.set_value(_HEAD, _join(heads))
    manifest.set_value(DATES_DUE, "")


def record_dates_at(root: Path, connection: sqlite3.Connection, sha: str) -> None:
    """Store the dates of the files in the index of one commit; the caller opens the transaction.

    A long history is not read here; its record then says where to continue.
    """
    manifest, dates = Manifest(connection), CommitDates(connection)
    folder = os.path.realpath(root)
    facts = digest_history_facts(folder)
    committed = list_committed_files(folder, sha)
    dates.replace("", committed or ())
    record = HistoryRecord("" if committed is None else sha, facts)
    if committed:
        record = _read_at_once(folder, "", dates, replace(record, walk_head=sha))
    dates.set_records({"": record})
    found = dates.find("")
    manifest.set_history(
        (date.seconds, date.author, False, state.id)
        for state in manifest.files()
        if (date := found.get(state.path)) is not None
    )
    if not record.is_walking:
        dates.replace("", ())  # this commit never changes, so the dates are not needed again


def _read_heads(
    root: Path, repositories: Iterable[str], records: Mapping[str, HistoryRecord]
) -> dict[str, str]:
    """Return, for each repository, a string that changes if its files may get different dates."""
    heads = {}
    for place in repositories:
        folder = os.path.join(root, place)
        record = records.get(place)
        if record is not None and not record.head:
            # git could not read the repository, but may be able to read it later even if its files
            # stay unchanged.
            head = head_commit(Path(folder)) or ""
        else:
            # git is not run, because it would slow down each check for changes.
            head = read_head_state(folder)
        if head or find_work_tree(os.path.realpath(folder)) is not None:
            heads[place] = f"{head} {digest_history_facts(folder)}"
    return heads


def _join(heads: Mapping[str, str]) -> str:
    lines = (f"{place} {head}" for place, head in sorted(heads.items()))
    return ascii("\n".join(lines)) if heads else ""


def _find_nested(root: Path, states: Iterable[FileState]) -> set[str]:
    """Return the folders of the repositories below the root, each with "/" at its end."""
    folders: set[str] = set()
    for state in states:
        folder = state.path.rpartition("/")[0] if state.source == FILES else ""
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return {f"{at}/" for at in folders if os.path.lexists(os.path.join(root, at, ".git"))}


def _update(root: Path, place: str, dates: CommitDates) -> HistoryRecord | None:
    """Return the new record of a repository after updating its dates; None if it has no commit."""
    folder = os.path.join(root, place)
    head, facts = head_commit(Path(folder)), digest_history_facts(folder)
    if head is None:
        dates.replace(place, ())
        return HistoryRecord("", facts) if has_unreadable_head(folder) else None
    record = dates.records().get(place)
    if record is not None and record.head and record.facts == facts:
        record = record if record.head == head else _extend(folder, place, dates, head)
    else:
        record = None
    if record is None:
        committed = list_committed_files(folder, head)
        dates.replace(place, committed or ())
        if committed is None:
            return HistoryRecord("", facts)
        record = HistoryRecord(head, facts, walk_head=head)
    return _read_at_once(folder, place, dates, record) if record.is_walking else record


def _extend(folder: str, place: str, dates: CommitDates, head: str) -> HistoryRecord | None:
    """Read the commits that are not in the history of the recorded head; return the new record.

    Return None if there are too many, or if reading the whole history could yield different dates.
    """
    record = dates.records()[place]
    base = find_base(folder, record.head, head, max_commits=_MAX_COMMITS_AT_ONCE)
    if base is None or (record.is_walking and base != record.head):
        return None
    added = _read_range(folder, head, base)
    removed = _read_range(folder, record.head, base)
    committed = list_committed_files(folder, head)
    if added is None or removed is None or committed is None:
        return None
    dates.retain(place, committed)
    dates.put(place, dict.fromkeys(removed, _UNREAD), overwrite=True)
    dates.put(place, added, overwrite=True)
    record = replace(record, head=head)
    if not record.is_walking and dates.unread(place):
        record = replace(record, walk_head=base)
    return record


def _read_range(folder: str, head: str, base: str) -> dict[str, CommitDate] | None:
    """Return the last commit of each file that changed after `base`; None if git fails."""
    if head == base:
        return {}
    found: dict[str, CommitDate] = {}
    with open_log(folder, head, without=(base,)) as log:
        for commit in log:
            date = CommitDate(True, commit.facts.seconds, commit.facts.author)
            for path in commit.paths:
                found.setdefault(path, date)
        return found if log.is_complete else None


def is_read_at_once(folder: str) -> bool:
    """Return whether an update reads the history of a repository itself, because it is short."""
    return is_short_history(folder, _MAX_PACK_INDEX_BYTES)


def _read_at_once(
    folder: str, place: str, dates: CommitDates, record: HistoryRecord
) -> HistoryRecord:
    """Read the history if it is short; leave a long one to be read in the background."""
    if not is_read_at_once(folder):
        return record
    walk = HistoryWalk(folder, record, dates.unread(place))
    limit = record.walk_position + _MAX_COMMITS_AT_ONCE
    deadline = monotonic() + _MAX_S_AT_ONCE
    walk.run(lambda: walk.position < limit and monotonic() < deadline)
    progress = walk.take_progress()
    dates.put(place, progress.dates, overwrite=False)
    if not progress.record.is_walking:
        dates.end(place)
    return progress.record


@dataclass(frozen=True, slots=True)
class _Repository:
    """The record of a repository, and the dates and changes of its files."""

    record: HistoryRecord
    dates: dict[str, CommitDate]
    changed: set[str]

    def describe(self, path: str) -> tuple[int | None, str, bool]:
        """Return a file's commit date and author, and whether the file has changed since then."""
        date = self.dates.get(path)
        if date is None:
            # If git cannot read the repository, the file may still be committed, and its
            # modification time is meaningless.
            return None, "", bool(self.record.head)
        return date.seconds, date.author, path in self.changed


def _write_states(
    root: Path, manifest: Manifest, dates: CommitDates, only: Collection[str]
) -> None:
    """Store the dates in the states of the indexed files."""
    states = manifest.files_at(only) if only else manifest.files()
    groups: dict[str, list[FileState]] = {}
    records = dates.records()
    for state in states:
        if state.source == FILES:
            groups.setdefault(_find_place(state.path, records), []).append(state)
    for place, group in groups.items():
        paths = [state.path.removeprefix(place) for state in group] if only else []
        repository = _open(root, place, dates, paths) if place in records else None
        manifest.set_history(
            (*facts, state.id)
            for state in group
            if (facts := _describe(state, place, repository))
            != (state.committed_s, state.author, bool(state.is_dirty))
        )


def _describe(
    state: FileState, place: str, repository: _Repository | None
) -> tuple[int | None, str, bool]:
    if repository is None:
        return None, "", True
    return repository.describe(state.path.removeprefix(place))


def _open(root: Path, place: str, dates: CommitDates, only: Collection[str]) -> _Repository:
    changed = list_changed_files(root / place, only)
    return _Repository(dates.records()[place], dates.find(place, only), changed)


def _find_place(path: str, places: Collection[str]) -> str:
    """Return the folder of the innermost nested repository that contains a file; "" without one."""
    folder = path
    while folder and len(places) > ("" in places):
        folder = folder.rpartition("/")[0]
        if f"{folder}/" in places:
            return f"{folder}/"
    return ""
