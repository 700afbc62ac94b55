"""Walk from the current version of a passage back through the commits that changed its file."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

from rootle.provenance.contributions import Contributions
from rootle.provenance.moves import MIN_MOVED_LETTERS, find_moved, list_removed
from rootle.provenance.tracking import Words, shift, subtract, trace
from rootle.sources.git.lines.commit_changes import read_removals
from rootle.sources.git.lines.file_log import FileCommit, open_file_log
from rootle.sources.git.lines.patch_hunks import LineChange
from rootle.sources.git.lines.renames import find_source

REVERTED_HASH: Final = re.compile(r"\b[Tt]his reverts commit ([0-9a-f]{7,64})")
_REVERT_SUBJECT: Final = re.compile(r'^Revert:? "(.*)"')
_MAX_FILES: Final = 8  # files that are followed, including those from which lines were moved
_MAX_LARGE_READS: Final = 12  # whole commits that are read to find moved lines
_MIN_COPIED_LETTERS: Final = 40  # letters of a block from another file, as in `git blame -C`
_NEGLIGIBLE: Final = 0.01  # words with a smaller total weight are not followed further
_REVERT_SHARE: Final = 0.5  # share of a word's weight for a revert that restored the word
_REMOVAL_SHARE: Final = 0.3  # share of a line's weight for a commit that removed words from it
IGNORED_SHARE: Final = 0.1  # share of a word's weight for an ignored commit that introduced it
_TIMEOUT_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class _Revert:
    sha: str
    words: Words
    changes: Sequence[LineChange]


@dataclass(slots=True)
class PassageWalk:
    """Follows words back to the commits that introduced them, until a deadline at the latest."""

    folder: str  # the top of the work tree
    contributions: Contributions
    ignored: Collection[str]  # commits that only reformat the code
    deadline_s: float
    # Stop as soon as this many commits that changed the words are known.
    max_commits: int | None = None
    is_complete: bool = True
    # Words whose history was not read: the revision and path of a file, and their positions in it.
    unread: list[tuple[str, str, Words]] = field(default_factory=list)
    last_seen: set[str] = field(default_factory=set)  # commits in which a file is new
    _queue: list[tuple[str, str, Words]] = field(default_factory=list)
    _states: dict[str, Words] = field(default_factory=lambda: defaultdict(dict))
    _early: dict[str, FileCommit] = field(default_factory=dict)
    _done: set[str] = field(default_factory=set)  # commits whose words are already processed
    _reverts: list[tuple[str, _Revert]] = field(default_factory=list)
    _undone: set[str] = field(default_factory=set)  # commits that a later commit reverts
    _large_reads: int = 0

    def run(self, revision: str, path: str, words: Words) -> None:
        """Follow words of the file at `path`, starting from a commit."""
        self._queue.append((revision, path, words))
        for _ in range(_MAX_FILES):
            if not self._queue or self._has_enough():
                return
            self._queue.sort(key=lambda item: self._weight(item[2]))
            self._follow(*self._queue.pop())
        for revision, path, others in self._queue:
            self._give_up(revision, path, others)

    def _give_up(self, revision: str, path: str, words: Words) -> None:
        self.is_complete = False
        self.unread.append((revision, path, words))

    def _enqueue(self, revision: str, path: str, words: Words) -> None:
        """Queue words of a file, together with other words of the same version."""
        for known_revision, known_path, others in self._queue:
            if (known_revision, known_path) == (revision, path):
                others.update(words)
                return
        self._queue.append((revision, path, dict(words)))

    def _follow(self, revision: str, path: str, words: Words) -> None:
        """Follow words through the history of one file."""
        self._states.clear()
        self._early.clear()
        self._done.clear()
        self._reverts.clear()
        is_first = True
        with open_file_log(self.folder, revision, path, self.deadline_s) as log:
            for commit in log:
                if is_first:
                    self._states[commit.sha] = words
                    is_first = False
                self._visit(commit, path)
                if not self._reverts and self._live_weight() < _NEGLIGIBLE:
                    return
                if self._has_enough():
                    return
            if is_first:
                self._give_up(revision, path, words)
            if not log.is_complete or self._live_weight() >= _NEGLIGIBLE:
                self.is_complete = False
        for sha, left in self._states.items():
            if self._weight(left) >= _NEGLIGIBLE:
                self._give_up(sha, path, left)

    def _visit(self, commit: FileCommit, path: str) -> None:
        """Process a commit, and those of its ancestors that git listed before it."""
        todo = [commit]
        while todo:
            current = todo.pop()
            self._restore(current, path)
            words = self._states.pop(current.sha, None)
            if not words:
                self._early[current.sha] = current
                continue
            self._done.add(current.sha)
            if not current.is_new:
                self._step(current, words, path)
            else:
                self._originate(current, words, path)
            todo += [
                self._early.pop(parent)
                for parent in current.parents
                if parent in self._early and self._states.get(parent)
            ]

    def _step(self, commit: FileCommit, words: Words, path: str) -> None:
        """Pass the words on to the parents of a commit."""
        for parent, changes in zip(commit.parents, commit.changes, strict=True):
            kept, words = shift(words, changes)
            self._pass_on(parent, kept, path)
            if len(commit.parents) == 1:
                self._note_removals(commit, kept, changes, path)
        if words:
            parent, changes = commit.parents[0], commit.changes[0]
            rest = self._take_over(commit, parent, words, changes, path)
            if rest:
                self._introduce(commit, rest, changes, path)

    def _pass_on(self, parent: str, words: Words, path: str) -> None:
        """Pass words on to a parent. If the parent is done, read the history again from there.

        If dates are wrong, git lists a commit before some of its children. git could sort the
        commits, but then it would have to read the whole history before it lists the first commit.
        """
        if parent not in self._done:
            self._states[parent].update(words)
        elif words:
            self._enqueue(parent, path, words)

    def _take_over(
        self,
        commit: FileCommit,
        parent: str,
        words: Words,
        changes: Sequence[LineChange],
        path: str,
    ) -> Words:
        """Pass the words that the commit kept to the parent, and return the other words."""
        is_ignored = commit.sha in self.ignored
        weights = self.contributions.weights
        old, shortened = trace(words, changes, weights, is_forced=is_ignored)
        self._pass_on(parent, old, path)
        rest = subtract(words, old)
        if not is_ignored:
            self._shorten(commit, shortened, path)
        pool = list_removed(changes)
        for _, moved in self._find_blocks(rest, changes, pool, min_letters=MIN_MOVED_LETTERS):
            self._pass_on(parent, moved, path)
            rest = subtract(rest, moved)
        return rest

    def _introduce(
        self, commit: FileCommit, words: Words, changes: Sequence[LineChange], path: str
    ) -> None:
        """Follow words that the commit moved, and credit the commit with the other words."""
        for old_path, moved in self._find_in_commit(commit, words, changes, path):
            self._enqueue(f"{commit.sha}^1", old_path, moved)
            words = subtract(words, moved)
        if not words:
            return
        if commit.sha in self.ignored:
            self.contributions.add(
                commit.sha, commit.message, path, set(words), share=IGNORED_SHARE
            )
            return
        target = _find_reverted(commit.message)
        if target:
            self._reverts.append((target, _Revert(commit.sha, words, changes)))
        self.contributions.add(commit.sha, commit.message, path, set(words))

    def _originate(self, commit: FileCommit, words: Words, path: str) -> None:
        """Follow words of a renamed or copied file to its source.

        Credit the commit with the other words.
        """
        self.last_seen.add(commit.sha)
        changes = commit.changes[0]
        if self._weight(words) >= _NEGLIGIBLE:
            left_s = min(self.deadline_s - monotonic(), _TIMEOUT_S)
            entry = find_source(self.folder, commit.sha, path, left_s) if left_s > 0 else None
            if entry is None:  # the commit may only have renamed the file, so do not credit it
                self._give_up(commit.sha, path, words)
                return
            if entry.status in ("R", "C"):
                kept, rest = shift(words, entry.changes)
                old, shortened = trace(
                    rest,
                    entry.changes,
                    self.contributions.weights,
                    is_forced=commit.sha in self.ignored,
                )
                self._shorten(commit, shortened, path)
                self._enqueue(f"{commit.sha}^1", entry.old_path, {**kept, **old})
                words = subtract(rest, old)
        if words:
            self._introduce(commit, words, changes, path)

    def _restore(self, commit: FileCommit, path: str) -> None:
        """Pass on words that the commit removed and a later revert restored."""
        subject = commit.message.partition("\n")[0]
        for target, revert in list(self._reverts):
            if not (commit.sha.startswith(target) or subject == target) or not commit.parents:
                continue
            self._reverts.remove((target, revert))
            self._undone.add(commit.sha)
            self.contributions.reverts[revert.sha] = commit.sha
            self.contributions.messages.setdefault(commit.sha, commit.message)
            pool = list_removed(commit.changes[0])
            words = revert.words
            for _, moved in self._find_blocks(words, revert.changes, pool, min_letters=1):
                self._pass_on(commit.parents[0], moved, path)
                words = subtract(words, moved)
                for word in moved:
                    self.contributions.added[revert.sha][word] = _REVERT_SHARE

    def _find_in_commit(
        self, commit: FileCommit, words: Words, changes: Sequence[LineChange], path: str
    ) -> Iterator[tuple[str, Words]]:
        if self._weight(words) < _NEGLIGIBLE:
            return
        lines = {position.line for position in words.values()}
        added = [
            line
            for change in changes
            for number, line in enumerate(change.new_lines, start=change.new_start)
            if number in lines
        ]
        pool = self._read_removals(commit.sha, path, added)
        yield from self._find_blocks(words, changes, pool, min_letters=_MIN_COPIED_LETTERS)

    def _find_blocks(
        self,
        words: Words,
        changes: Sequence[LineChange],
        pool: Sequence[tuple[str, LineChange]],
        *,
        min_letters: int,
    ) -> Iterator[tuple[str, Words]]:
        """Yield the paths and old positions of words that occur in blocks of removed lines."""
        return find_moved(words, changes, pool, self.contributions.weights, min_letters=min_letters)

    def _read_removals(
        self, sha: str, path: str, added: Sequence[str]
    ) -> Sequence[tuple[str, LineChange]]:
        """Return removed lines from which a commit may have moved the lines `added`."""
        left_s = min(self.deadline_s - monotonic(), _TIMEOUT_S)
        found = None
        if self._large_reads < _MAX_LARGE_READS and left_s > 0:
            self._large_reads += 1
            found = read_removals(self.folder, sha, path, added, left_s)
        if found is None:
            self.is_complete = False
        return found or ()

    def _note_removals(
        self, commit: FileCommit, words: Words, changes: Sequence[LineChange], path: str
    ) -> None:
        """Credit a commit that removed lines between two lines of the passage."""
        gaps = {change.old_start for change in changes if change.old_lines and not change.new_lines}
        if not gaps or commit.sha in self.ignored or commit.sha in self._undone:
            return
        sizes = {change.old_start: len(change.old_lines) for change in changes}
        lines = {position.line for position in words.values()}
        for start in gaps:
            before, after = start - 1, start + sizes[start]
            if before in lines and after in lines:
                near = {
                    word for word, position in words.items() if position.line in (before, after)
                }
                self._shorten(commit, near, path, is_change=False)

    def _shorten(
        self, commit: FileCommit, words: set[int], path: str, *, is_change: bool = True
    ) -> None:
        lines = {self.contributions.lines[word] for word in words}
        weights = self.contributions.weights
        weight = sum(
            weights[word] for word, line in self.contributions.lines.items() if line in lines
        )
        self.contributions.shorten(
            commit.sha,
            commit.message,
            path,
            words,
            weight * _REMOVAL_SHARE,
            is_change=is_change,
        )

    def _has_enough(self) -> bool:
        count = len(self.contributions.touched.keys() - set(self.ignored))
        return self.max_commits is not None and count >= self.max_commits

    def _weight(self, words: Words) -> float:
        return sum(self.contributions.weights[word] for word in words)

    def _live_weight(self) -> float:
        return sum(map(self._weight, self._states.values()))


def _find_reverted(message: str) -> str:
    """Return the commit that a message reverts: its full or abbreviated hash, or its subject."""
    found = REVERTED_HASH.search(message) or _REVERT_SUBJECT.match(message)
    return found[1] if found else ""
