"""Format the answers of `App.gone` and `App.impact` as text."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice
from typing import Final

from rootle.serialization.citation import describe_commit_briefly
from rootle.serialization.path_text import cut_line, cut_lines, escape_path, short_hash
from rootle.types import MAX_INDEXED_FILES, ImpactAnswer, ImpactedFile, Removal, RemovalAnswer

MAX_LINES: Final = 12  # the maximum number of lines to show of a piece of removed code
# How many lines of each piece to show, if an answer must be shorter.
SHORTER_LINES: Final = (9, 7, 5, 4, 3, 2, 1, 0)
_MAX_LINE_CHARS: Final = 160
_MAX_SEEDS: Final = 3
_NO_OTHER_FILE: Final = "no other file found"
_LIMIT: Final = f"without commits that changed {MAX_INDEXED_FILES} or more files"


def removal_lines(removal: Removal, max_lines: int = MAX_LINES) -> Iterator[str]:
    """Yield the place of removed code, the commit that removed it, and its first lines."""
    commit = removal.commit
    yield f"{escape_path(removal.path)}:{removal.start_line}  {_describe(removal)}".rstrip()
    if removal.moved_to is not None:
        yield f"  moved to {escape_path(removal.moved_to)}, where it no longer is"
    verb = "removed" if removal.moved_to is None else "moved"
    yield f"  {verb} by {short_hash(commit.hash)} {describe_commit_briefly(commit)}"
    shown = cut_lines(removal.lines, max_lines)
    for line in shown:
        yield f"  -{cut_line(line, _MAX_LINE_CHARS)}"
    if left := len(removal.lines) - len(shown):
        yield f"  … {left} more removed lines"


def describe_no_removal(answer: RemovalAnswer) -> str:
    """Return the statement that no removed code was found; "" if no commits were searched."""
    if not answer.degraded:
        return "no removed code matches"
    if not answer.searched_commits:
        return ""
    return "no removed code matches in the part of the history that was searched"


def _describe(removal: Removal) -> str:
    if not removal.name:
        return f"in {removal.scope}" if removal.scope else ""
    return f"{removal.scope} > {removal.name}" if removal.scope else removal.name


def impact_lines(answer: ImpactAnswer, max_reasons: int | None = None) -> Iterator[str]:
    """Yield a line with the changed files; then, for each other file, probability and evidence.

    `max_reasons` is the maximum number of lines with evidence for a file; None means all.
    """
    shown = ", ".join(escape_path(path) for path in answer.seeds[:_MAX_SEEDS])
    left = len(answer.seeds) - _MAX_SEEDS
    # Without `_LIMIT`, the counts would seem to contradict those of `git log`.
    counted = any(file.cochanges for file in answer.files)
    more = f" and {left} more" if left > 0 else ""
    yield f"together with {shown}{more}:"
    if counted:
        yield f"  ({_LIMIT})"
    if not answer.files:
        yield _NO_OTHER_FILE
    known: set[str] = set()  # the hashes of the commits that were named
    previous: ImpactedFile | None = None
    for file in answer.files:
        is_same = max_reasons != 0 and previous is not None and _has_same_commit(file, previous)
        same = ", in the same commit" if is_same else ""
        yield f"{file.probability:4.0%}  {escape_path(file.path)} ({file.kind}){same}"
        reasons = _list_evidence(file, known, has_many_seeds=len(answer.seeds) > 1)
        for reason in islice(reasons, 1 if is_same else 0, max_reasons):
            yield f"      {reason}"
        known.update(commit.hash for commit in file.commits[:1])
        previous = file


def _has_same_commit(file: ImpactedFile, other: ImpactedFile) -> bool:
    """Return whether the same commit, and no other, connects two files to the same changed file."""
    return (
        file.seed == other.seed
        and file.cochanges == other.cochanges == 1
        and file.commits[0].hash == other.commits[0].hash
    )


def _list_evidence(
    file: ImpactedFile, known: Collection[str], *, has_many_seeds: bool
) -> Iterator[str]:
    """Yield lines with evidence. The subjects of the `known` commits are left out."""
    with_seed = f" with {escape_path(file.seed)}" if has_many_seeds else ""
    if file.cochanges:
        commits = "commit" if file.seed_commits == 1 else "commits"
        count = f"{file.cochanges} of {file.seed_commits} {commits}"
        commit = file.commits[0]
        subject = "" if commit.hash in known else f" {commit.subject}"
        newest = f"{short_hash(commit.hash)}{subject}"
        yield f"changed{with_seed or ' together'} in {count}: {newest}"
    if file.references:
        yield f"shares names{with_seed}: {', '.join(file.references)}"
    if not file.cochanges and not file.references:
        if file.similarity:
            share = f"{file.similarity:.0%} of the highest score"
            yield f"shares rare words{with_seed} ({share})"
        else:
            yield "often changes, or has a similar path; no commit or name connects it"
