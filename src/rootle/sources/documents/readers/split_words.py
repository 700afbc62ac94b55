"""Join words that are split at the ends of lines.

The hyphen at the end of a line either belongs to the word, as in "state-of-the-art", or was added
to split it, as in "configu-ration". If the document also contains the word on a single line, the
more frequent spelling is used. Otherwise, the hyphen is removed, unless the word has another
hyphen, or there is a digit or a change of case at this hyphen, as in "32-bit" and "GPU-based".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

# PDFium writes this character instead of a hyphen and the line break after it. It can also be a
# symbol from a font without character codes.
SPLIT: Final = "\x02"
_MAX_FRAGMENT: Final = 60
_END_OF_LINE: Final = re.compile(r"\w[\w-]*\Z")
_START_OF_LINE: Final = re.compile(r"\w+(?:-\w+)*")
# The rest of a split word, with the punctuation after it.
_REST: Final = re.compile(rf"\S{{1,{_MAX_FRAGMENT}}}( )")
# A word, which may contain a split; the fragments of a split word are not words of their own.
_WORD: Final = re.compile(rf"\w+(?:[-{SPLIT}]\w+)*")


def join_split_words(texts: Sequence[str]) -> list[str]:
    """Return the texts of a document without `SPLIT`. A line ends after each joined word."""
    splits = {split for text in texts for split in _list_splits(text)}
    wanted = {word for before, after in splits for word in _spellings(before, after)}
    counts = _count_words(texts, wanted)
    return [_join(text, counts) if SPLIT in text else text for text in texts]


def _list_splits(text: str) -> Iterator[tuple[str, str]]:
    """Yield the fragments before and after each split."""
    pieces = text.split(SPLIT)
    for before, after in pairwise(pieces):
        yield _fragments(before, after)


def _fragments(before: str, after: str) -> tuple[str, str]:
    end = _END_OF_LINE.search(before[-_MAX_FRAGMENT:])
    start = _START_OF_LINE.match(after[:_MAX_FRAGMENT])
    return end.group() if end else "", start.group() if start else ""


def _spellings(before: str, after: str) -> tuple[str, str]:
    """Return the split part of a word in two spellings: without a hyphen and with a hyphen."""
    end, start = before.rpartition("-")[2].casefold(), after.partition("-")[0].casefold()
    return end + start, f"{end}-{start}"


def _count_words(texts: Sequence[str], wanted: set[str]) -> Counter[str]:
    """Count the wanted words, including those inside hyphenated words."""
    counts: Counter[str] = Counter()
    if not wanted:
        return counts
    for text in texts:
        for match in _WORD.finditer(text):
            word = match.group()
            if SPLIT in word:
                continue
            parts = word.casefold().split("-")
            pairs = map("-".join, pairwise(parts))
            counts.update(part for part in (*parts, *pairs) if part in wanted)
    return counts


def _join(text: str, counts: Counter[str]) -> str:
    pieces = text.split(SPLIT)
    joined = [pieces[0]]
    for before, after in pairwise(pieces):
        if rest := _REST.match(after):
            after = f"{rest.group()[:-1]}\n{after[rest.end() :]}"
        joined.append(("-" if _needs_hyphen(before, after, counts) else "") + after)
    return "".join(joined)


def _needs_hyphen(before: str, after: str, counts: Counter[str]) -> bool:
    end, start = _fragments(before, after)
    if not end or not start:
        # The mark is a hyphen before punctuation, such as a quotation mark, or it is a symbol.
        return bool(end) and not after[:1].isspace()
    without, with_hyphen = _spellings(end, start)
    if counts[without] != counts[with_hyphen]:
        return counts[with_hyphen] > counts[without]
    if "-" in end + start or end[-1].isdigit() or start[0].isdigit():
        return True
    return end[-1].isupper() != start[0].isupper()
