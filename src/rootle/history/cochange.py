"""Count how often files changed together."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rootle.index.reader import FileState, IndexReader
from rootle.types import COMMIT_MESSAGE

# Commits with more files move, format or import code. The sections name at most 30 files.
MAX_FILES: Final = 30
# The weight of a commit halves for each interval of this length before the newest commit.
_HALF_LIFE_S: Final = 2 * 365 * 86_400.0
_RECENT: Final = 5  # commits of a file that count as its last ones
_SMOOTHING: Final = 1.0  # commits in which the file changed alone


@dataclass(frozen=True, slots=True)
class PastChange:
    """A commit that counts."""

    state: FileState
    paths: tuple[str, ...]
    weight: float  # greater for a newer commit with fewer files


@dataclass(frozen=True, slots=True)
class Cochange:
    """How often a file changed together with another one."""

    count: int
    share: float  # of the weighted commits of the other file, smoothed, from 0 to 1
    commits: tuple[FileState, ...]  # the newest first
    reverse_share: float = 0.0  # of the weighted commits of this file
    recent_share: float = 0.0  # of the last commits of the other file


class ChangeHistory:
    """The commits of an index by changed file."""

    def __init__(self, changes: Iterable[PastChange]) -> None:
        self._by_path: dict[str, list[PastChange]] = defaultdict(list)
        self._weights: dict[str, float] = defaultdict(float)
        self.newest_s = 0
        self.count = 0
        for change in changes:
            self.count += 1
            self.newest_s = max(self.newest_s, change.state.committed_s or 0)
            for path in change.paths:
                self._by_path[path].append(change)
                self._weights[path] += change.weight

    def changes_of(self, path: str) -> Sequence[PastChange]:
        """Return the commits that changed a file, the newest first."""
        return self._by_path.get(path, ())

    def frequent(self, count: int) -> list[str]:
        """Return the files that changed most often."""
        ordered = sorted(self._by_path, key=lambda path: (-len(self._by_path[path]), path))
        return ordered[:count]

    def partners(self, path: str) -> Mapping[str, Cochange]:
        """Return the files that changed together with a file."""
        changes = self.changes_of(path)
        total = self._weights.get(path, 0.0) + _SMOOTHING
        recent = [frozenset(change.paths) for change in changes[:_RECENT]]
        weights: dict[str, float] = defaultdict(float)
        commits: dict[str, list[FileState]] = defaultdict(list)
        for change in changes:
            for other in change.paths:
                if other != path:
                    weights[other] += change.weight
                    commits[other].append(change.state)
        return {
            other: Cochange(
                len(states),
                weights[other] / total,
                tuple(states),
                weights[other] / (self._weights[other] + _SMOOTHING),
                sum(other in paths for paths in recent) / _RECENT,
            )
            for other, states in commits.items()
        }


def read_history(index: IndexReader, prefix: str = "") -> ChangeHistory:
    """Return the commits of an index that changed few files, with paths below a folder.

    The paths are relative to the folder, whose path in the repository is `prefix` ("a/b/").
    """
    states = sorted(index.all_files(), key=lambda state: (-(state.committed_s or 0), state.path))
    newest_s = (states[0].committed_s or 0) if states else 0
    return ChangeHistory(
        change for state in states if (change := _read(index, state, prefix, newest_s)) is not None
    )


def _read(index: IndexReader, state: FileState, prefix: str, newest_s: int) -> PastChange | None:
    labels = [one.label for one in index.sections_of(state.id) if one.label != COMMIT_MESSAGE]
    if not labels or len(labels) >= MAX_FILES:
        return None
    paths = tuple(path.removeprefix(prefix) for path in labels if path.startswith(prefix))
    age_s = newest_s - (state.committed_s or 0)
    weight = 0.5 ** (age_s / _HALF_LIFE_S) / (1 + math.log2(len(labels)) / 4)
    return PastChange(state, paths, weight)
