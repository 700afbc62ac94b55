"""What has to be done to bring an index up to date with its folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rootle.index.local.manifest import Manifest
from rootle.index.reader import FileState
from rootle.sources.files.discovery import Discovery, FileEntry, Skip
from rootle.sources.files.skip_rules import UNREADABLE
from rootle.types import IndexUpdated


@dataclass(frozen=True, slots=True)
class Plan:
    """The difference between a folder and its index."""

    read: tuple[tuple[FileEntry, FileState | None], ...]  # to be read, with what is known of them
    skip: tuple[tuple[Skip, FileState | None], ...]  # newly left out by name or size
    remove: tuple[FileState, ...]  # gone, or no longer ours
    unchanged: int

    @property
    def is_empty(self) -> bool:
        return not (self.read or self.skip or self.remove)

    @property
    def only_adds(self) -> bool:
        """Whether nothing that the index knows is touched."""
        return not self.remove and all(known is None for _, known in (*self.read, *self.skip))


def make_plan(walk: Discovery, known: Iterable[FileState]) -> Plan:
    """Compare by size and time; a file whose times cannot be trusted is read again."""
    states = {state.path: state for state in known}
    read = []
    unchanged = 0
    for entry in walk.files:
        state = states.pop(entry.path, None)
        if state is not None and _is_unchanged(entry, state):
            unchanged += 1
        else:
            read.append((entry, state))
    skip = []
    for left_out in walk.skips:
        state = states.pop(left_out.path, None)
        if state is None or state.skip != left_out.reason:
            skip.append((left_out, state))
    return Plan(tuple(read), tuple(skip), tuple(states.values()), unchanged)


def _is_unchanged(entry: FileEntry, state: FileState) -> bool:
    # Without a digest it was left out unread; now it is to be read.
    if entry.size != state.size or entry.mtime_ns != state.mtime_ns or state.digest is None:
        return False
    return state.is_settled


def to_compare(root: Path, known: Iterable[FileState]) -> Iterator[FileState]:
    """What is known of files; what could not be read but can be now is to be read again."""
    for state in known:
        if state.skip == UNREADABLE and os.access(root / state.path, os.R_OK):
            yield state._replace(digest=None)
        else:
            yield state


def update_since(before: int, plan: Plan, manifest: Manifest) -> IndexUpdated | None:
    """What a run changed for whoever searches, since a generation; None if nothing."""
    generation = manifest.generation()
    if generation == before:
        return None
    states, _ = manifest.changed_since(before)
    known = [state for _, state in (*plan.read, *plan.skip) if state is not None]
    indexed_before = {state.path for state in (*known, *plan.remove) if state.skip is None}
    changed = {state.path for state in states if state.skip is None}
    left_out = {state.path for state in states if state.skip is not None}
    removed = {*left_out, *(state.path for state in plan.remove)} & indexed_before
    return IndexUpdated(generation, tuple(sorted(changed)), tuple(sorted(removed)))
