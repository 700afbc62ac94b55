"""The share of each commit in the words of a passage."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final

_MIN_SHARE: Final = 0.5


@dataclass(slots=True)
class Contributions:
    """Records which commits changed the words of a passage. Words are identified by numbers.

    The weight of a word is its share of the meaning of the passage. All weights add up to 1.
    """

    lines: dict[int, int]  # word -> line of the passage
    weights: dict[int, float]  # word -> its weight
    added: dict[str, dict[int, float]] = field(default_factory=lambda: defaultdict(dict))
    removed: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    newest: dict[int, str] = field(default_factory=dict)  # line -> last commit that changed it
    # commit -> lines that it changed
    touched: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    messages: dict[str, str] = field(default_factory=dict)
    paths: dict[str, str] = field(default_factory=dict)  # commit -> path of the file in it
    reverts: dict[str, str] = field(default_factory=dict)  # commit -> commit that it reverts

    def add(self, sha: str, message: str, path: str, words: set[int], share: float = 1.0) -> None:
        """Record that a commit introduced words. A small share does not count as a change."""
        self._note(sha, message, path, words, is_change=share >= _MIN_SHARE)
        for word in words:
            self.added[sha][word] = share

    def shorten(
        self,
        sha: str,
        message: str,
        path: str,
        words: set[int],
        weight: float,
        *,
        is_change: bool,
    ) -> None:
        """Record that a commit removed other words from the lines that contain these words.

        If `is_change` is false, the commit removed whole lines next to these words instead.
        """
        if words:
            self._note(sha, message, path, words, is_change=is_change)
            self.removed[sha] += weight

    def measure_share(self, sha: str) -> float:
        """Return the share of the meaning that a commit added, from 0 to 1."""
        words = self.added.get(sha, {})
        return sum(self.weights[word] * share for word, share in words.items())

    def measure_line_share(self, sha: str, line: int) -> float:
        """Return the share of the meaning of a line that a commit added, from 0 to 1."""
        words = [word for word, at in self.lines.items() if at == line]
        total = sum(self.weights[word] for word in words)
        added = self.added.get(sha, {})
        found = sum(self.weights[word] * added.get(word, 0.0) for word in words)
        return found / total if total else 0.0

    def _note(
        self, sha: str, message: str, path: str, words: set[int], *, is_change: bool = True
    ) -> None:
        self.messages[sha] = message
        self.paths.setdefault(sha, path)
        for line in {self.lines[word] for word in words if self.weights[word] > 0}:
            if is_change:
                self.newest.setdefault(line, sha)
            self.touched[sha].add(line)
