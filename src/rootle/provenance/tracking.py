"""Follow the words of a passage from commit to commit, until the commits that introduced them."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from rootle.provenance.words import (
    WordPosition,
    align,
    count_letters,
    signature,
    split_words,
    weigh_word,
)
from rootle.sources.git.lines.line_changes import LineChange

# Of the weight of a line, the share that must occur before a commit for the line to count as
# changed by the commit, and not as introduced.
_MIN_SHARE: Final = 0.45
# A shorter block also occurs elsewhere by chance; the limits of `git blame -M` are similar.
MIN_MOVED_LETTERS: Final = 20
_AROUND: Final = 6
_MIN_SEQUENCES: Final = 2
_MARGIN: Final = 20  # lines around those that were moved, for changed ones


Words = dict[int, WordPosition]  # id of a word -> where it is in one version of a file


def shift(words: Words, changes: Sequence[LineChange]) -> tuple[Words, Words]:
    """Split words into those on lines that a commit left unchanged, and the others.

    The first ones are returned with their positions before the commit, the others with their
    positions after it.
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
    """Return the positions before a commit of the words that it took over from replaced lines.

    Also return the words on lines from which other words were removed. `is_forced` takes over the
    words of a line even if most of the line is new.
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
    """Return the old lines with a word that no new line contains."""
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
    """Return the old positions of the words on the lines of which enough is old."""
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


def find_moved(
    words: Words,
    changes: Sequence[LineChange],
    removals: Iterable[tuple[str, LineChange]],
    weights: Mapping[int, float],
    min_letters: int = MIN_MOVED_LETTERS,
) -> tuple[str, Words]:
    """Return the path and the old positions of added words that a commit removed elsewhere.

    `removals` are removed lines with the paths of their files. The block with the most lines in
    common is the origin.
    """
    added = _lines_around(words, changes)
    keys = {signature(line): count_letters(line) for _, line in added}
    removals = list(removals)
    best: tuple[int, Sequence[str]] = (0, ())
    best_letters, best_path = min_letters - 1, ""
    for path, removal in removals:
        letters, start, end = _densest_part(removal.old_lines, keys, len(added))
        if letters > best_letters:
            best = removal.old_start + start, removal.old_lines[start:end]
            best_letters, best_path = letters, path
    moved = _align_block(words, added, best, weights)
    if moved:
        return best_path, moved
    best_path, best = _most_similar(words, added, removals)
    return best_path, _align_block(words, added, best, weights)


def list_removed(changes: Iterable[LineChange]) -> list[tuple[str, LineChange]]:
    """Return the changes that removed lines, as `removals` of `find_moved` within one file."""
    return [("", change) for change in changes if change.old_lines]


def without(words: Words, others: Collection[int]) -> Words:
    """Return words except some."""
    return {word: position for word, position in words.items() if word not in others}


def _lines_around(words: Words, changes: Sequence[LineChange]) -> list[tuple[int, str]]:
    """Return the added lines with these words, and those next to them, with their numbers.

    A short line that was moved is recognized by the lines around it.
    """
    lines = {position.line for position in words.values()}
    near = {line + offset for line in lines for offset in range(-_AROUND, _AROUND + 1)}
    return [
        (change.new_start + offset, line)
        for change in changes
        for offset, line in enumerate(change.new_lines)
        if change.new_start + offset in near
    ]


def _most_similar(
    words: Words, added: Sequence[tuple[int, str]], removals: Iterable[tuple[str, LineChange]]
) -> tuple[str, tuple[int, Sequence[str]]]:
    """Return the removed lines that share the most sequences of words with added lines.

    They were moved and changed at the same time.
    """
    lines = {position.line for position in words.values()}
    wanted = set().union(*(_sequences(line) for number, line in added if number in lines))
    best: tuple[int, Sequence[str]] = (0, ())
    best_count, best_path = max(_MIN_SEQUENCES, len(wanted) // 4) - 1, ""
    length = 2 * len(added) + _MARGIN
    for path, removal in removals:
        for start in range(0, len(removal.old_lines), length):
            part = removal.old_lines[start : start + 2 * length]
            count = len(wanted & set().union(*map(_sequences, part)))
            if count > best_count:
                best = removal.old_start + start, part
                best_count, best_path = count, path
    return best_path, best


def _sequences(line: str) -> set[tuple[str, ...]]:
    """Return the sequences of two names or numbers in a line."""
    words = [word for word in split_words(line) if word[0].isalnum() or word[0] == "_"]
    return set(pairwise(words))


def _align_block(
    words: Words,
    added: Sequence[tuple[int, str]],
    best: tuple[int, Sequence[str]],
    weights: Mapping[int, float],
) -> Words:
    """Return the old positions of words in a block: its first line and its lines."""
    if not best[1]:
        return {}
    numbers = [number for number, _ in added]
    places = align(best[1], best[0], [line for _, line in added], 0)
    moved = {WordPosition(numbers[new.line], new.column): old for new, old in places.items()}
    return keep_similar(words, moved, weights)


def _densest_part(
    lines: Sequence[str], keys: Mapping[str, int], count: int
) -> tuple[int, int, int]:
    """Return the part of removed lines with the most letters of known lines, and their number.

    `keys` are the signatures of `count` lines with their numbers of letters. A part is a few times
    as long as these lines.
    """
    length = 2 * count + _MARGIN
    hits = [
        (number, key, keys[key])
        for number, key in enumerate(map(signature, lines))
        if keys.get(key)
    ]
    best = (0, 0, 0)
    inside: Counter[str] = Counter()
    letters = first = 0
    for number, key, size in hits:
        letters += 0 if inside[key] else size
        inside[key] += 1
        while hits[first][0] <= number - length:
            inside[hits[first][1]] -= 1
            letters -= 0 if inside[hits[first][1]] else hits[first][2]
            first += 1
        if letters > best[0]:
            best = (letters, hits[first][0], number + 1)
    margin = _MARGIN if best[0] else 0
    return best[0], max(0, best[1] - margin), min(len(lines), best[2] + margin)
