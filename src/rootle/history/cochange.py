"""Count how often files changed together."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rootle.history.commit_view import CommitView
from rootle.types import COMMIT_MESSAGE, MAX_INDEXED_FILES, RENAMED_TO

# The weight of a commit is halved for each such interval between it and the newest commit.
_HALF_LIFE_S: Final = 2 * 365 * 86_400.0
_RECENT: Final = 5  # how many of the newest commits of a file count as recent
_SMOOTHING: Final = 1.0  # added to the total weight of the commits of a file
_YEAR_S: Final = 365 * 86_400
_RECENCY: Final = 10  # the rank by last change, from 0, at which the recency of a file is 0.5


@dataclass(frozen=True, slots=True)
class PastChange:
    """A commit that is counted because it changed few files."""

    commit: int  # the id of the commit in the index
    committed_s: int
    paths: tuple[str, ...]
    weight: float  # greater for a newer commit with fewer files


@dataclass(frozen=True, slots=True)
class Cochange:
    """The frequency of commits that changed both a given file and another one.

    Each share, from 0 to 1, counts the commits that changed both files among those that the comment
    of the field describes.
    """

    count: int
    share: float  # among all commits of the given file; weighted and smoothed
    commits: tuple[int, ...]  # the ids of the commits that changed both files, newest first
    reverse_share: float = 0.0  # among all commits of the other file; weighted and smoothed
    recent_share: float = 0.0  # among the newest commits of the given file
    year_share: float = 0.0  # among the commits of the given file in the last year; smoothed


class ChangeHistory:
    """The commits that changed each file."""

    def __init__(self, changes: Iterable[PastChange]) -> None:
        self._by_path: dict[str, list[PastChange]] = defaultdict(list)
        self._by_folder: dict[str, list[PastChange]] = defaultdict(list)
        self._weights: dict[str, float] = defaultdict(float)
        self.newest_s = 0
        self.count = 0
        for change in changes:
            self.count += 1
            self.newest_s = max(self.newest_s, change.committed_s)
            for path in change.paths:
                self._by_path[path].append(change)
                self._weights[path] += change.weight
            for folder in set(map(_folder, change.paths)):
                self._by_folder[folder].append(change)
        newest = sorted(self._by_path, key=lambda one: (-self._by_path[one][0].committed_s, one))
        self._recency = {path: 1 / (1 + at / _RECENCY) for at, path in enumerate(newest)}

    def list_changes(self, path: str) -> Sequence[PastChange]:
        """Return the commits that changed a file, newest first."""
        return self._by_path.get(path, ())

    def frequent(self, count: int) -> list[str]:
        """Return the files that changed most often."""
        ordered = sorted(self._by_path, key=lambda path: (-len(self._by_path[path]), path))
        return ordered[:count]

    def measure_recency(self, path: str) -> float:
        """Return 1 for the most recently changed file, and lower values for earlier changes."""
        return self._recency.get(path, 0.0)

    def folder_partners(self, path: str) -> Mapping[str, float]:
        """Return the files that changed together with any file in the folder of `path`.

        Each is mapped to the share of the commits in the folder that changed it, weighted and
        smoothed.
        """
        weights: dict[str, float] = defaultdict(float)
        total = _SMOOTHING
        for change in self._by_folder.get(_folder(path), ()):
            total += change.weight
            for other in change.paths:
                weights[other] += change.weight
        return {other: weight / total for other, weight in weights.items()}

    def partners(self, path: str) -> Mapping[str, Cochange]:
        """Return the files that changed together with a file."""
        changes = self.list_changes(path)
        total = self._weights.get(path, 0.0) + _SMOOTHING
        recent = [frozenset(change.paths) for change in changes[:_RECENT]]
        in_year = sum(change.committed_s > self.newest_s - _YEAR_S for change in changes)
        year: dict[str, int] = defaultdict(int)
        weights: dict[str, float] = defaultdict(float)
        commits: dict[str, list[int]] = defaultdict(list)
        for change in changes:
            for other in change.paths:
                if other != path:
                    weights[other] += change.weight
                    commits[other].append(change.commit)
                    year[other] += change.committed_s > self.newest_s - _YEAR_S
        return {
            other: Cochange(
                len(ids),
                weights[other] / total,
                tuple(ids),
                weights[other] / (self._weights[other] + _SMOOTHING),
                sum(other in paths for paths in recent) / _RECENT,
                year[other] / (in_year + _SMOOTHING),
            )
            for other, ids in commits.items()
        }


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def read_history(view: CommitView) -> ChangeHistory:
    """Return the commits that changed few files, with paths relative to the folder.

    A file that was renamed later has its newest path.
    """
    labels = view.index.section_labels()
    states = view.newest_first(view.states())
    newest_s = max((state.committed_s or 0 for state in states), default=0)
    renames = _read_renames(view)
    current: dict[str, str] = {}  # path at the time of a commit -> newest path
    changes = []
    for state in states:
        renamed = renames.get(state.id, {})
        files = [label for label in labels.get(state.id, ()) if label not in renamed]
        paths = [current.get(label, label) for label in files if label != COMMIT_MESSAGE]
        change = _make_change(view, state.id, state.committed_s or 0, newest_s, paths)
        if change is not None:
            changes.append(change)
        current |= {old: current.get(new, new) for old, new in renamed.items()}
    return ChangeHistory(changes)


def _read_renames(view: CommitView) -> Mapping[int, Mapping[str, str]]:
    """Return the files that each commit renamed: old path -> new path."""
    found: dict[int, dict[str, str]] = defaultdict(dict)
    for commit, section in view.index.sections_titled(RENAMED_TO):
        found[commit][section.label] = section.title.removeprefix(RENAMED_TO)
    return found


def _make_change(
    view: CommitView, commit: int, committed_s: int, newest_s: int, files: Sequence[str]
) -> PastChange | None:
    """Return a commit that changed these files; None if it is too large."""
    # Commits that change this many files or more usually move, format or import code.
    if not files or len(files) >= MAX_INDEXED_FILES:
        return None
    relative = (view.relative_label(label) for label in files)
    paths = tuple(dict.fromkeys(path for path in relative if path is not None))
    weight = 0.5 ** ((newest_s - committed_s) / _HALF_LIFE_S) / (1 + math.log2(len(files)) / 4)
    return PastChange(commit, committed_s, paths, weight)
