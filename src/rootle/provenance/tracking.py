"""Follow the words of a passage from commit to commit, back to where they were introduced."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from rootle.provenance.word_diff import WordPosition, align, split_words, weigh_word
from rootle.sources.git.lines.patch_hunks import LineChange

# If at least this share of the weight of a line existed before a commit, the commit is said to have
# changed the line. Otherwise, it is said to have introduced the line.
_MIN_SHARE: Final = 0.45

Words = dict[int, WordPosition]  # id of a word -> its position in a version of a file


def shift(words: Words, changes: Sequence[LineChange]) -> tuple[Words, Words]:
    """Split words into words on unchanged lines and words on lines that a commit changed.

    Words on unchanged lines get their positions before the commit. Words on changed lines keep
    their positions after the commit.
    """
    starts = [change.first_new for change in changes]
    deltas, delta = [], 0
    for change in changes:
        delta += len(change.old_lines) - len(change.new_lines)
        deltas.append(delta)
    kept, changed = {}, {}
    for word, position in words.items():
        at = bisect_right(starts, position.line) - 1
        if at >= 0 and position.line < starts[at] + len(changes[at].new_lines):
            changed[word] = position
        else:
            line = position.line + (deltas[at] if at >= 0 else 0)
            kept[word] = WordPosition(line, position.column)
    return kept, changed


def trace(
    words: Words, changes: Sequence[LineChange], weights: Mapping[int, float], *, is_forced: bool
) -> tuple[Words, set[int]]:
    """Return the words that a commit kept from the lines that it replaced, with old positions.

    Also return the words on lines from which other words were removed. If `is_forced` is set, words
    count as kept even if most of their line is new.
    """
    by_change: dict[int, Words] = defaultdict(dict)
    starts = [change.first_new for change in changes]
    for word, position in words.items():
        by_change[bisect_right(starts, position.line) - 1][word] = position
    found: Words = {}
    shortened: set[int] = set()
    for at, part in by_change.items():
        change = changes[at]
        if at < 0 or not change.old_lines:
            continue
        places = align(change.old_lines, change.old_start, change.new_lines, change.new_start)
        min_share = 0.0 if is_forced else _MIN_SHARE
        kept = keep_similar(part, places, weights, min_share=min_share)
        lost = _lines_with_loss(change, places)
        shortened.update(word for word, position in kept.items() if position.line in lost)
        found.update(kept)
    return found, shortened


def _lines_with_loss(change: LineChange, places: Mapping[WordPosition, WordPosition]) -> set[int]:
    """Return the numbers of the old lines that contain a word that no new line contains."""
    kept = set(places.values())
    return {
        number
        for number, line in enumerate(change.old_lines, start=change.old_start)
        if any(
            weigh_word(word) and WordPosition(number, column) not in kept
            for column, word in enumerate(split_words(line))
        )
    }


def keep_similar(
    words: Words,
    places: Mapping[WordPosition, WordPosition],
    weights: Mapping[int, float],
    *,
    min_share: float = _MIN_SHARE,
) -> Words:
    """Return the old positions of words. Leave out lines on which too few words are old."""
    lines: dict[int, list[int]] = defaultdict(list)
    for word, position in words.items():
        lines[position.line].append(word)
    found = {}
    for ids in lines.values():
        matched = [word for word in ids if words[word] in places]
        total = sum(weights[word] for word in ids)
        if matched and sum(weights[word] for word in matched) >= min_share * total:
            found.update({word: places[words[word]] for word in matched})
    return found


def subtract(words: Words, others: Collection[int]) -> Words:
    """Return `words` except `others`."""
    return {word: position for word, position in words.items() if word not in others}
