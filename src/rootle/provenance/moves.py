"""Find the lines that a commit moved: words that it added in one place and removed in another."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from rootle.provenance.tracking import Words, keep_similar, subtract
from rootle.provenance.word_diff import (
    WordPosition,
    align,
    count_letters,
    signature,
    split_words,
)
from rootle.sources.git.lines.patch_hunks import LineChange

# Minimum number of letters and digits of a moved block. A shorter block can occur elsewhere by
# chance; `git blame -M` has a similar limit.
MIN_MOVED_LETTERS: Final = 20
_MAX_BLOCKS: Final = 4  # limit on blocks of removed lines, and on groups of added lines
_AROUND: Final = 6
_MIN_COMMON: Final = 2  # the minimum number of names or word sequences in common with old lines
_RARE: Final = 3  # a name in at most this many removed lines is rare
_MIN_NAME_CHARS: Final = 5
_MARGIN: Final = 20  # lines around moved lines; they may have been moved and changed


def find_moved(
    words: Words,
    changes: Sequence[LineChange],
    removals: Sequence[tuple[str, LineChange]],
    weights: Mapping[int, float],
    min_letters: int = MIN_MOVED_LETTERS,
) -> Iterator[tuple[str, Words]]:
    """Yield the path and the old positions of added words that a commit removed elsewhere.

    `removals` are removed lines with the paths of their files. Blocks of removed lines come first,
    beginning with the block that has the most lines in common with the added lines. Then the
    remaining added lines are compared one group of adjacent lines at a time. This finds lines that
    were moved and changed by the same commit. If the commit added a removed line again unchanged,
    the line moved to that place, so it is not the source of another line that is only similar.
    """
    settled: set[int] = set()

    def find(part: Words) -> tuple[str, Words]:
        nonlocal words
        path, moved = _find_block(part, changes, removals, weights, min_letters, settled)
        moved = subtract(moved, _list_added_again(part, path, moved, changes, removals))
        settled.update(part[word].line for word in moved)
        words = subtract(words, moved)
        return path, moved

    for _ in range(_MAX_BLOCKS if removals else 0):
        path, moved = find(words)
        if not moved:
            break
        yield path, moved
    groups = sorted(_split_groups(words), key=lambda part: -_sum_weights(part, weights))
    for part in groups[:_MAX_BLOCKS] if removals and (settled or len(groups) > 1) else ():
        path, moved = find(part)
        if moved:
            yield path, moved


def _list_added_again(
    words: Words,
    path: str,
    moved: Words,
    changes: Sequence[LineChange],
    removals: Sequence[tuple[str, LineChange]],
) -> set[int]:
    """Return the moved words whose old line the commit added again, unchanged, in another place."""
    if not moved:
        return set()
    added = _number_lines((change.new_start, change.new_lines) for change in changes)
    removed = _number_lines(
        (change.old_start, change.old_lines) for source, change in removals if source == path
    )
    free = Counter(removed.values())  # how often each line was removed without being added again
    free.subtract(added.values())
    found = set()
    for word, old in moved.items():
        line = removed.get(old.line, "")
        if line and free[line] <= 0 and added.get(words[word].line) != line:
            found.add(word)
    return found


def _number_lines(blocks: Iterable[tuple[int, Sequence[str]]]) -> dict[int, str]:
    """Return each line number with its line, without indentation.

    A block consists of the number of its first line, and the lines.
    """
    return {
        start + offset: line.strip() for start, lines in blocks for offset, line in enumerate(lines)
    }


def list_removed(changes: Iterable[LineChange]) -> list[tuple[str, LineChange]]:
    """Return the changes that removed lines, for `find_moved` within one file."""
    return [("", change) for change in changes if change.old_lines]


def _split_groups(words: Words) -> list[Words]:
    """Return the words of each group of adjacent lines."""
    groups: list[Words] = []
    last = -2
    for word, position in sorted(words.items(), key=lambda item: item[1].line):
        if position.line > last + 1:
            groups.append({})
        groups[-1][word] = position
        last = position.line
    return groups


def _sum_weights(words: Words, weights: Mapping[int, float]) -> float:
    return sum(weights[word] for word in words)


def _find_block(
    words: Words,
    changes: Sequence[LineChange],
    removals: Sequence[tuple[str, LineChange]],
    weights: Mapping[int, float],
    min_letters: int,
    settled: Collection[int],
) -> tuple[str, Words]:
    """Find the block of removed lines that has the most lines in common with the added lines.

    Return its path and the old positions of the words. `settled` are the numbers of lines that were
    already found. They are not used as context.
    """
    added = _lines_around(words, changes, settled)
    keys = {signature(line): count_letters(line) for _, line in added}
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
    moved = _align_block(words, added, best, weights)
    return best_path, moved or _align_lines(words, added, best, weights)


def _lines_around(
    words: Words, changes: Sequence[LineChange], settled: Collection[int]
) -> list[tuple[int, str]]:
    """Return the added lines that contain these words, and added lines nearby, with their numbers.

    A short line can only be recognized together with the lines around it.
    """
    lines = {position.line for position in words.values()}
    near = {line + offset for line in lines for offset in range(-_AROUND, _AROUND + 1)}
    near.difference_update(settled)
    return [
        (change.new_start + offset, line)
        for change in changes
        for offset, line in enumerate(change.new_lines)
        if change.new_start + offset in near
    ]


def _most_similar(
    words: Words, added: Sequence[tuple[int, str]], removals: Sequence[tuple[str, LineChange]]
) -> tuple[str, tuple[int, Sequence[str]]]:
    """Return the removed lines that share the most word sequences and rare names with the words.

    This finds lines that were moved and changed by the same commit.
    """
    lines = {position.line for position in words.values()}
    texts = [line for number, line in added if number in lines]
    rare = _rare_names(texts, removals)
    wanted = rare.union(*map(_sequences, texts))
    best: tuple[int, Sequence[str]] = (0, ())
    best_count, best_path = max(_MIN_COMMON, len(wanted) // 4) - 1, ""
    length = 2 * len(added) + _MARGIN
    for path, removal in removals:
        for start in range(0, len(removal.old_lines), length):
            part = removal.old_lines[start : start + 2 * length]
            count = len(wanted & set().union(*map(_sequences, part), *map(_names, part)))
            if count > best_count:
                best = removal.old_start + start, part
                best_count, best_path = count, path
    return best_path, best


def _rare_names(
    lines: Sequence[str], removals: Sequence[tuple[str, LineChange]]
) -> set[tuple[str, ...]]:
    """Return the names in lines that occur in few removed lines."""
    names = set().union(*map(_names, lines))
    counts: Counter[tuple[str, ...]] = Counter()
    for _, removal in removals:
        for line in removal.old_lines:
            counts.update(names & _names(line))
    return {name for name in names if 1 <= counts[name] <= _RARE}


def _names(line: str) -> set[tuple[str, ...]]:
    """Return the long names in a line, each in a tuple of its own."""
    return {(word,) for word in split_words(line) if len(word) >= _MIN_NAME_CHARS}


def _sequences(line: str) -> set[tuple[str, ...]]:
    """Return the pairs of adjacent names or numbers in a line."""
    words = [word for word in split_words(line) if word[0].isalnum() or word[0] == "_"]
    return set(pairwise(words))


def _align_block(
    words: Words,
    added: Sequence[tuple[int, str]],
    best: tuple[int, Sequence[str]],
    weights: Mapping[int, float],
) -> Words:
    """Return the old positions of words in `best`, a block of lines with its first line number."""
    if not best[1]:
        return {}
    numbers = [number for number, _ in added]
    places = align(best[1], best[0], [line for _, line in added], 0)
    moved = {WordPosition(numbers[new.line], new.column): old for new, old in places.items()}
    return keep_similar(words, moved, weights)


def _align_lines(
    words: Words,
    added: Sequence[tuple[int, str]],
    best: tuple[int, Sequence[str]],
    weights: Mapping[int, float],
) -> Words:
    """Return the old positions of words; each line is compared with the most similar old line.

    This finds lines whose order was changed.
    """
    start, removed = best
    lines_with: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for at, line in enumerate(removed):
        for name, count in _bag(line).items():
            lines_with[name].append((at, count))
    wanted = {position.line for position in words.values()}
    places: dict[WordPosition, WordPosition] = {}
    for number, line in added:
        if number not in wanted:
            continue
        common: Counter[int] = Counter()
        for name, count in _bag(line).items():
            for at, other in lines_with.get(name, ()):
                common[at] += min(count, other)
        best_at = max(common, key=lambda at: (common[at], -at), default=0)
        if common[best_at] >= _MIN_COMMON:
            places.update(align([removed[best_at]], start + best_at, [line], number))
    return keep_similar(words, places, weights)


def _bag(line: str) -> Counter[str]:
    """Return the names and numbers of a line, with their counts."""
    return Counter(word for word in split_words(line) if word[0].isalnum() or word[0] == "_")


def _densest_part(
    lines: Sequence[str], keys: Mapping[str, int], count: int
) -> tuple[int, int, int]:
    """Find the part of removed lines that contains the most letters of known lines.

    Return the number of these letters and the range of the part. `keys` maps the signatures of the
    `count` known lines to their numbers of letters. The part is at most a few times as long as the
    known lines.
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
