"""Tokenize code and prose into terms, for the indexes and for queries."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import Final

WORD: Final = re.compile(r"\w+")
# getHTTPResponse2 -> get HTTP Response 2; letters of other alphabets stay together.
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_IDEOGRAPHS: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
# Longer words are not indexed: they are data (hashes, base64, generated names) that would only
# enlarge the index. The term LONG_WORD marks the texts that contain such a word.
MAX_WORD_CHARS: Final = 128
LONG_WORD: Final = "\u2026"
# Maps each ASCII character that is not part of a word to a space.
_WORDS_AND_SPACES: Final = bytes(
    byte if WORD.fullmatch(chr(byte)) and byte < 128 else ord(" ") for byte in range(256)
)
# The maximum number of words in a TermTable, which limits its memory for a large corpus.
_TABLE_LIMIT: Final = 60_000

# Chunks are indexed with the terms of their path, because a path often describes the subject in
# words that the chunk does not contain. The terms come from the last _FOLDERS_IN_BODY folders, and
# from the file name, which is repeated _STEM_TIMES times.
_FOLDERS_IN_BODY: Final = 3
_STEM_TIMES: Final = 2

# Words that are common in questions but useless for search.
STOP_WORDS: Final = frozenset(
    """a about all an and any are as at be been being but by can could did do does doing each find
    for from get gets given go goes had happen happens has have how i if in inside into is it its
    let like made make makes many me most my not of on one onto or other our out over own part
    parts place please show should so some such tell than that the their them then there these
    they this those to under up us use used uses using via was we were what when where whether
    which while who whom whose why will with within without works would you your""".split()
)

CHARS_PER_TOKEN: Final = 4  # an estimate, used where no tokenizer is available


def find_words(text: str) -> list[str]:
    """Return the words of a text in NFC, in order: the matches of `WORD`.

    Almost all code is ASCII. For ASCII text, replacing the other characters with spaces and
    splitting the result takes half the time of the regular expression.
    """
    if text.isascii():
        return text.encode("ascii").translate(_WORDS_AND_SPACES).decode("ascii").split()
    return WORD.findall(compose(text))


def compose(text: str) -> str:
    """Return a text in the Unicode form NFC. It has the same lines.

    Unicode can write "é" as one character (NFC), or as "e" with a combining accent (NFD). Python,
    for example, treats names that differ only in their Unicode form as one name. Some editors and
    operating systems write NFD, and people type NFC. Therefore texts, names and questions are
    compared in NFC, but shown as they were written. For ASCII text, this takes no time.
    """
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def places_before_composition(places: Iterable[int], composed: str, text: str) -> list[int]:
    """Convert positions in `composed`, which is `text` in NFC, to positions in `text`.

    The line of each position is exact. The column is copied from `composed`, so it is too low if
    combining characters precede it in the line.
    """
    starts, raw_starts = _line_starts(composed), [*_line_starts(text), len(text) + 1]
    found = []
    for place in places:
        line = bisect_right(starts, place) - 1
        found.append(min(raw_starts[line] + place - starts[line], raw_starts[line + 1] - 1))
    return found


def _line_starts(text: str) -> list[int]:
    return [*accumulate((len(line) + 1 for line in text.split("\n")[:-1]), initial=0)]


def split_identifier(word: str) -> list[str]:
    """Split a word into lower-case parts: `parseHTTPHeader_v2` -> parse http header v 2."""
    if word.isascii():
        if word.isalpha() and word.islower():
            return [word]
        return [part.lower() for part in _PART.findall(word)]
    return [
        piece for part in _PART.findall(word) for piece in _split_ideographs(part.lower())
    ]  # fmt: skip


def _split_ideographs(part: str) -> list[str]:
    """Split a run of CJK characters, which has no spaces between words, into overlapping pairs."""
    if not _IDEOGRAPHS.fullmatch(part) or len(part) < 3:
        return [part]
    return [part[i : i + 2] for i in range(len(part) - 1)]


def whole_identifier(word: str) -> str:
    """Normalize an identifier: getUserById, get_user_by_id and GET_USER_BY_ID become equal."""
    return word.replace("_", "").lower()


def join_words(name: str) -> str:
    """Return the spelling in code of a name with dashes: mimeTypes for "mime-types"."""
    first, *others = name.split("-")
    return first + "".join(word[:1].upper() + word[1:] for word in others)


def word_terms(word: str) -> list[str]:
    """Return the unstemmed terms of a word: its parts, and the whole word if it has several."""
    if len(word) > MAX_WORD_CHARS:
        return [LONG_WORD]
    parts = split_identifier(word)
    return [*parts, whole_identifier(word)] if len(parts) > 1 else parts


class TermTable(dict[str, str]):
    """Cache that maps a word to its stemmed terms, separated by spaces."""

    def __init__(self, stem: Callable[[str], Iterable[str]]) -> None:
        """Create a table. `stem` maps space-separated terms to their stems."""
        super().__init__()
        self._stem = stem

    def __missing__(self, word: str) -> str:
        if len(self) >= _TABLE_LIMIT:
            self.clear()
        terms = " ".join(self._stem(" ".join(word_terms(word))))
        self[word] = terms
        return terms


def text_terms(text: str, table: TermTable) -> str:
    """Return all terms of a text in order, separated by spaces, as the sparse index stores them."""
    return join_terms(find_words(text), table)


def join_terms(words: Iterable[str], table: TermTable) -> str:
    """Return the terms of a text that is already split into words."""
    return " ".join(map(table.__getitem__, words))


def encodable(text: str) -> str:
    """Return the text with unpaired surrogates replaced by question marks.

    UTF-8 cannot encode unpaired surrogates, so servers and tokenizers reject them.
    """
    return text.encode("utf-8", "replace").decode("utf-8")


def place_terms(path: str, table: TermTable) -> str:
    """Return the terms of a path: the file name without extension twice, and the last folders."""
    folders = path.split("/")[:-1][-_FOLDERS_IN_BODY:]
    return text_terms(" ".join([file_stem(path)] * _STEM_TIMES + folders), table)


def path_words(path: str) -> str:
    """Return the words of a path, separated by spaces, without the extension."""
    folder, _, name = path.rpartition("/")
    return f"{folder} {file_stem(name)}".replace("/", " ").replace("-", " ").replace(".", " ")


def file_stem(path: str) -> str:
    """Return the file name of a path without its extension: `src/a.test.ts` -> `a.test`."""
    name = path.rpartition("/")[2]
    stem, dot, _ = name.rpartition(".")
    return stem if dot and stem else name
