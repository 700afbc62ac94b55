"""Number the words of a passage, and separate those that are not committed yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rootle.provenance.contributions import Contributions
from rootle.provenance.limited_matcher import LimitedMatcher
from rootle.provenance.moves import find_moved, list_removed
from rootle.provenance.place import CodePlace
from rootle.provenance.tracking import Words, shift, subtract, trace
from rootle.provenance.word_diff import WordPosition, signature, split_words, weigh_word
from rootle.sources.git.lines.patch_hunks import LineChange

_MAX_REPLACED: Final = 40


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences between two texts."""

    changes: list[LineChange]
    # Whether all equal lines were found. If not, a change may contain lines that did not change.
    is_complete: bool


def number_words(place: CodePlace) -> tuple[Contributions, Words]:
    """Return the words of a passage, with their weights and their positions in the file."""
    line_weights = place.line_weights()
    found = Contributions({}, {})
    positions: Words = {}
    for number, line in enumerate(place.passage.lines, start=place.passage.start_line):
        words = split_words(line)
        total = sum(map(weigh_word, words))
        for column, word in enumerate(words):
            key = len(positions)
            positions[key] = WordPosition(number, column)
            found.lines[key] = number
            found.weights[key] = line_weights[number] * weigh_word(word) / total if total else 0.0
    return found, positions


def compare_lines(old: Sequence[str], new: Sequence[str]) -> Comparison:
    """Return the changes between two texts; differences in white space are ignored.

    The comparison is not complete if it would take too long, because many lines are repeated.
    """
    start, end = 0, 0
    shortest = min(len(old), len(new))
    while start < shortest and old[start] == new[start]:
        start += 1
    while end < shortest - start and old[-1 - end] == new[-1 - end]:
        end += 1
    before, after = old[start : len(old) - end], new[start : len(new) - end]
    matcher = LimitedMatcher(list(map(_key, before)), list(map(_key, after)))
    changes = [
        LineChange(
            start + first_old + (1 if last_old > first_old else 0),
            tuple(before[first_old:last_old]),
            start + first_new + (1 if last_new > first_new else 0),
            tuple(after[first_new:last_new]),
        )
        for kind, first_old, last_old, first_new, last_new in matcher.get_opcodes()
        if kind != "equal"
    ]
    return Comparison(changes, matcher.is_complete)


def split_uncommitted(
    words: Words, changes: Sequence[LineChange], found: Contributions
) -> tuple[Words, tuple[int, ...], tuple[str, ...]]:
    """Return the committed words with their positions in the last commit.

    Also return the numbers of the lines that are not committed, and the text of the lines that
    these lines replace.
    """
    kept, changed = shift(words, changes)
    old, shortened = trace(changed, changes, found.weights, is_forced=False)
    rest = subtract(changed, old)
    moved: Words = {}
    for _, block in find_moved(rest, changes, list_removed(changes), found.weights):
        moved.update(block)
    new = subtract(rest, moved)
    lines = {found.lines[word] for word in (*new, *shortened) if found.weights[word]}
    replaced = [
        line
        for change in changes
        if not lines.isdisjoint(range(change.new_start, change.new_start + len(change.new_lines)))
        for line in change.old_lines
    ]
    return {**kept, **old, **moved}, tuple(sorted(lines)), tuple(replaced[:_MAX_REPLACED])


def _key(line: str) -> str:
    return signature(line) or line.strip()
