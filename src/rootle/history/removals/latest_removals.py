"""Select the last removal of code that was removed several times."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rootle.history.commit_search import RemovedLines
from rootle.index.reader import FileState

# Two definitions with the same name in unknown classes are regarded as one if they have at least
# this share of their lines in common.
_SAME_SHARE: Final = 0.5


@dataclass(frozen=True, slots=True)
class RemovalCandidate:
    """Removed code that may be shown, and how well it fits the question."""

    code: RemovedLines
    state: FileState  # the commit in the index
    score: float


def list_latest(
    candidates: Sequence[RemovalCandidate], ages: Mapping[int, int]
) -> list[RemovalCandidate]:
    """Return the candidates, best first. If code was removed several times, keep the last removal.

    After an earlier removal, the code was added again. `ages` are the positions of the commits in
    the history, newest first. Candidates with the same score are in this order too.
    """

    def order(one: RemovalCandidate) -> tuple[float, int, str, int]:
        return -one.score, ages[one.state.id], one.code.path, one.code.start_line

    newest: dict[tuple[str, str | tuple[str, ...]], list[RemovalCandidate]] = defaultdict(list)
    for one in sorted(candidates, key=lambda one: (ages[one.state.id], order(one))):
        code = one.code
        known = newest[code.path, code.name or tuple(map(str.strip, code.lines))]
        if not any(
            one.state.id != other.state.id and _is_same(code, other.code) for other in known
        ):
            known.append(one)
    return sorted((one for found in newest.values() for one in found), key=order)


def _is_same(one: RemovedLines, other: RemovedLines) -> bool:
    """Return whether two removals from a file, with equal names or lines, removed the same code.

    Methods of different classes may have the same name.
    """
    if not one.name:
        return one.scope == other.scope or not (one.scope and other.scope)
    if _has_known_scope(one) and _has_known_scope(other):
        return one.scope == other.scope
    first, second = (set(map(str.strip, code.lines)) for code in (one, other))
    return len(first & second) >= _SAME_SHARE * min(len(first), len(second))


def _has_known_scope(code: RemovedLines) -> bool:
    """Return whether the scope is known. A definition without indentation has no scope."""
    return bool(code.scope) or not code.lines[0][:1].isspace()


def overlap(one: RemovalCandidate, other: RemovalCandidate) -> bool:
    """Return whether two candidates are overlapping lines or copies of a definition in a commit."""
    first, second = one.code, other.code
    if one.state.id != other.state.id:
        return False
    if first.path != second.path:
        return first.name != "" and (first.name, first.lines) == (second.name, second.lines)
    return first.start_line < second.start_line + len(
        second.lines
    ) and second.start_line < first.start_line + len(first.lines)
