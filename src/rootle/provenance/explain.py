"""Explain why a file contains some lines, from the commits of the repository."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

from rootle.errors import QueryError, SourceError
from rootle.ingest.source_refs import DocumentSet
from rootle.provenance.blamed import credit_last_changes
from rootle.provenance.commits import describe_commits, name_commits
from rootle.provenance.committed_file import CommittedFile, find_committed
from rootle.provenance.mentions import list_names
from rootle.provenance.place import CodePlace, find_place
from rootle.provenance.ranking import rank_commits
from rootle.provenance.uncommitted import compare_lines, number_words, split_uncommitted
from rootle.provenance.walk import PassageWalk
from rootle.serialization.path_text import join_ranges
from rootle.sources.files.text_reader import decode_text
from rootle.sources.git.commit_text import explain_hidden_commits
from rootle.sources.git.git_dirs import find_work_tree
from rootle.sources.git.history import find_shallow_commits
from rootle.sources.git.lines.commit_facts import list_changed_paths, list_file_commits
from rootle.sources.git.lines.ignored_revisions import read_ignored_revisions
from rootle.sources.git.repository import head_commit
from rootle.text.secret_masking import mask_secrets
from rootle.types import CommitFacts, WhyAnswer

if TYPE_CHECKING:
    from rootle.text.secret_detection import Exceptions

DEFAULT_COMMITS: Final = 5
MAX_COMMITS: Final = 50
_WALK_S: Final = 6.0
_BLAME_S: Final = 3.0
_LAST_CHANGES_S: Final = 1.0
_MANY_FILES: Final = 30
_MAX_COUNTED: Final = 100  # commits whose files are counted

_NO_REPOSITORY: Final = "the folder is not in a git repository, so it has no commits"
_NO_COMMIT: Final = "the repository has no commit yet"
_NEW_FILE: Final = "the file is not committed yet"
_SHALLOW: Final = (
    "older commits are missing: this is a shallow clone; git fetch --unshallow completes it"
)
_UNKNOWN: Final = (
    "it is not known which commits changed these lines: git failed, took too long, or lacks older "
    "contents"
)
_NOT_COMPARED: Final = (
    "the file was not completely compared with the last commit, because it repeats too many lines; "
    "some lines that are committed may be called uncommitted"
)
_TOO_LONG: Final = "older commits were not read in time; the first commits may be missing"
_BLAMED: Final = (
    "the whole history could not be read, or not in time; for {lines}, git blame named the last "
    "commit, and older commits may be missing"
)


def explain_place(
    reference: str, documents: DocumentSet, limit: int | None
) -> tuple[CodePlace, WhyAnswer]:
    """Return the place that a reference names and the commits that explain it, at most `limit`.

    Raise SourceError if there is no such place, or if commits must not be shown, and QueryError if
    the limit is out of range.
    """
    count = DEFAULT_COMMITS if limit is None else limit
    if not 1 <= count <= MAX_COMMITS:
        raise QueryError(
            f"limit is {count}; give a number from 1 to {MAX_COMMITS}", parameter="limit"
        )
    place = find_place(reference, documents)
    file = os.path.join(os.path.realpath(documents.root), place.whole.source)
    folder = os.path.dirname(file)
    if not os.path.isdir(folder):
        raise SourceError(
            f"{place.text} is not in a file of the folder, so it has no commits; name a file"
        )
    hidden = explain_hidden_commits(Path(folder))
    if hidden is not None:
        raise SourceError(hidden)
    answer = _Explanation(place, file, documents, count).explain()
    if place.omitted_lines:
        note = f"only the first {len(place.passage.lines)} lines are explained; name fewer lines"
        answer = replace(answer, notes=(note, *answer.notes))
    return place, answer


@dataclass(frozen=True, slots=True)
class LastChanges:
    """The last commits that changed a place or its file, newest first."""

    commits: tuple[CommitFacts, ...]
    are_of_file: bool = False  # no commit that changed the place is known
    note: str = ""  # why there are none


def list_last_changes(place: CodePlace, documents: DocumentSet, limit: int) -> LastChanges:
    """Return the last commits that changed the words of a place, at most `limit`.

    If they are not known, for example because git was too slow, return the last commits that
    changed the file. git is asked in both cases, because the index of commits may lack some.
    """
    file = os.path.join(os.path.realpath(documents.root), place.whole.source)
    folder = os.path.dirname(file)
    if not os.path.isdir(folder):
        return LastChanges((), note=_NO_REPOSITORY)
    if hidden := explain_hidden_commits(Path(folder)):
        return LastChanges((), note=hidden)
    committed = find_committed(file)
    if committed is None:
        is_tree = find_work_tree(folder) is not None
        return LastChanges((), note=_NEW_FILE if is_tree else _NO_REPOSITORY)
    exceptions = documents.rules.secret_exceptions
    walk = _walk(place, committed, exceptions, _LAST_CHANGES_S, limit).walk
    found = [sha for sha in walk.contributions.touched if sha not in walk.ignored][:limit]
    listed = found or list_file_commits(committed.top, committed.path, limit)
    commits = name_commits(committed.top, listed, exceptions)
    if found:
        commits = tuple(sorted(commits, key=lambda commit: commit.date, reverse=True))
    return LastChanges(commits, are_of_file=not found and bool(commits))


@dataclass(frozen=True, slots=True)
class _WalkResult:
    walk: PassageWalk
    uncommitted: tuple[int, ...]
    replaced: tuple[str, ...]
    is_compared: bool  # whether the file was completely compared with the last commit


def _walk(
    place: CodePlace,
    committed: CommittedFile,
    exceptions: Exceptions,
    limit_s: float,
    max_commits: int | None = None,
) -> _WalkResult:
    """Follow the words of a place back to the commits that introduced them."""
    decoded = decode_text(committed.raw)
    text = mask_secrets(decoded[0] if decoded else "", exceptions).text
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    compared = compare_lines(lines, place.whole.lines)
    found, words = number_words(place)
    words, uncommitted, replaced = split_uncommitted(words, compared.changes, found)
    ignored = read_ignored_revisions(committed.top)
    walk = PassageWalk(committed.top, found, ignored, monotonic() + limit_s, max_commits)
    if words:
        walk.run(committed.head, committed.path, words)
    return _WalkResult(walk, uncommitted, replaced, compared.is_complete)


@dataclass(slots=True)
class _Explanation:
    place: CodePlace
    file: str
    documents: DocumentSet
    count: int

    def explain(self) -> WhyAnswer:
        top = find_work_tree(os.path.dirname(self.file))
        if top is None:
            return replace(self._answer(), notes=(_NO_REPOSITORY,))
        head = head_commit(Path(top))
        if head is None:
            return replace(self._answer(), notes=(_NO_COMMIT,), is_complete=True)
        committed = find_committed(self.file)
        if committed is None:
            return replace(
                self._answer(),
                notes=(_NEW_FILE,),
                uncommitted=self._numbers(),
                is_complete=True,
            )
        return self._explain_committed(committed)

    def _explain_committed(self, committed: CommittedFile) -> WhyAnswer:
        top, head, path = committed.top, committed.head, committed.path
        exceptions = self.documents.rules.secret_exceptions
        walked = _walk(self.place, committed, exceptions, _WALK_S)
        walk, found = walked.walk, walked.walk.contributions
        blamed = credit_last_changes(walk, monotonic() + _BLAME_S) if walk.unread else ()
        names = list_names(self.place)
        sweeping = _find_sweeping(top, found.touched)
        ranked = rank_commits(found, self.place.asked_weights(), names, sweeping)[: self.count]
        notes = [] if walked.is_compared else [_NOT_COMPARED]
        is_unknown = not walk.is_complete and not ranked
        if not walk.is_complete:
            notes.append(_describe_gap(blamed, is_unknown=is_unknown))
        if is_unknown:
            ranked = list_file_commits(top, path, self.count)
        shallow = find_shallow_commits(top)
        is_cut = not shallow.isdisjoint(walk.last_seen)
        notes += [_SHALLOW] if is_cut else []
        return replace(
            self._answer(),
            commits=describe_commits(top, head, ranked, found, path, exceptions),
            uncommitted=walked.uncommitted,
            replaced=walked.replaced,
            notes=tuple(notes),
            is_complete=walk.is_complete and walked.is_compared and not is_cut,
            are_of_file=is_unknown,
        )

    def _numbers(self) -> tuple[int, ...]:
        start = self.place.passage.start_line
        return tuple(range(start, start + len(self.place.passage.lines)))

    def _answer(self) -> WhyAnswer:
        """Return an answer that contains the place but no commits, documents or memories."""
        return WhyAnswer(
            place=self.place.text,
            name=" > ".join(self.place.names),
            passage=self.place.passage,
            commits=(),
            uncommitted=(),
            replaced=(),
            documents=(),
            memories=(),
            is_complete=False,
            notes=(),
        )


def _find_sweeping(top: str, hashes: Collection[str]) -> set[str]:
    """Return the commits that changed many files. If git fails, none are known."""
    changed = list_changed_paths(top, list(hashes)[:_MAX_COUNTED]) or {}
    return {sha for sha, paths in changed.items() if len(paths) >= _MANY_FILES}


def _describe_gap(blamed: Sequence[int], *, is_unknown: bool) -> str:
    """Return why commits may be missing; `git blame` was asked about the lines `blamed`."""
    if is_unknown:
        return _UNKNOWN
    noun = "line" if len(blamed) == 1 else "lines"
    return _BLAMED.format(lines=f"{noun} {join_ranges(blamed)}") if blamed else _TOO_LONG
