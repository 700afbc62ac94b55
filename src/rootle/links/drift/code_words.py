"""Find out which words the code of a project contains, while reading as few files as possible."""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from rootle.index.reader import FileState, IndexReader
from rootle.links.drift.comments import DividedText, divide, find_declared
from rootle.text.languages import CODE_EXTENSIONS
from rootle.text.terms import LONG_WORD, MAX_WORD_CHARS, WORD, whole_identifier

_MAX_KEPT_WORDS: Final = 500_000  # they take about 50 MB
# A word begins where the words of the index begin, so "0xFF" contains no word "xFF".
_TOKEN: Final = re.compile(r"(?<!\w)[^\W\d]\w*(?:-\w+)*")
# If this share of the code has been read, the rest is read at once. In a check of a whole project,
# this takes less time than looking up many words.
_MOST: Final = 0.4
# A name with more characters is not looked up in other spellings: the time grows with the square.
_MAX_FOLDED_CHARS: Final = 80
_MIN_PART_CHARS: Final = 3  # of a word that the code joins from two parts


def fold(name: str) -> str:
    """Return a name in lower case without separators: retry_max and retryMax become equal."""
    return name.replace("_", "").replace("-", "").lower()


@dataclass(slots=True)
class ReadWords:
    """The words of the files that were read so far, for one generation of an index."""

    generation: int
    words: set[str] = field(default_factory=set)
    folded: set[str] = field(default_factory=set)  # the words in lower case, without separators
    files: set[int] = field(default_factory=set)
    chars: int = 0  # of these files
    lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def is_too_large(self) -> bool:
        """Whether the words take too much memory to keep them for the next answer."""
        return len(self.words) > _MAX_KEPT_WORDS


class CodeWords:
    """The words of the code, data and settings of a project, and the names that comments declare.

    The index knows which files contain a word. These files are read until one of them contains the
    word in code, because the others may contain it only in comments.
    """

    def __init__(
        self, index: IndexReader, states: Mapping[int, FileState], known: ReadWords
    ) -> None:
        """`states` maps ids to the files of code. New words are added to `known`."""
        self._index = index
        self._states = states
        self._known = known
        self._chars = sum(state.chars for state in states.values())

    def has(self, word: str) -> bool:
        """Return whether the code contains a word in this spelling."""
        if word in self._known.words:
            return True
        if _TOKEN.fullmatch(word) is None:
            return False
        if self._has_read_all():
            return word in self._known.words
        return self._read_until(word, self._known.words, self._files_with(WORD.findall(word)))

    def has_spelling(self, word: str) -> bool:
        """Return whether the code has a word in any spelling, such as retryMax or retry-max."""
        folded, known = fold(word), self._known.folded
        if folded in known:
            return True
        if WORD.fullmatch(folded) is None:
            return False
        if self._has_read_all():
            return folded in known
        return self._read_until(folded, known, self._files_with([folded])) or self._read_until(
            folded, known, self._files_with_parts(folded)
        )

    def has_parts(self, word: str) -> bool:
        """Return whether the code joins a word in capital letters from a prefix and a rest.

        `getenv("APP_" + name)` and the macro `APP_##name` make APP_PORT from "APP_" and "PORT".
        """
        ends = [at + 1 for at, char in enumerate(word) if char == "_"] if word.isupper() else []
        return any(
            end >= _MIN_PART_CHARS
            and len(word) - end >= _MIN_PART_CHARS
            and self.has(word[:end])
            and self.has(word[end:])
            for end in ends
        )

    def has_path(self, path: str) -> bool:
        """Return whether a script, settings or data contain a whole path.

        Such a file may be created by a build. Other code may name a file that was moved.
        """
        words = WORD.findall(path.rpartition("/")[2])
        whole = re.compile(rf"(?<![\w/-]){re.escape(path)}(?![\w/-])")
        for file_id in self._files_with(words):
            state = self._states.get(file_id)
            if state is None or (state.language in CODE_EXTENSIONS and state.language != "bash"):
                continue
            if path in (text := self._index.text(file_id)):
                code = divide(text, state.language).code
                if any(map(whole.search, code)):
                    return True
        return False

    def read(self, state: FileState) -> DividedText:
        """Return the code and the comments of a file, and add its words."""
        divided = divide(self._index.text(state.id), state.language)
        if state.id not in self._known.files:
            self._add(state, divided)
        return divided

    def _add(self, state: FileState, divided: DividedText) -> None:
        words = set(_TOKEN.findall("\n".join(divided.code)))
        words.update(find_declared(divided, state.language))
        words.update([part for word in words if "-" in word for part in word.split("-")])
        known = self._known
        with known.lock:
            new = words - known.words
            known.words |= new
            known.folded.update(map(fold, new))
            known.chars += 0 if state.id in known.files else state.chars
            known.files.add(state.id)

    def _has_read_all(self) -> bool:
        """If enough files have been read, read the others; return whether all have been read."""
        if self._known.chars < _MOST * self._chars:
            return False
        for state in self._states.values():
            if state.id not in self._known.files:
                self.read(state)
        return True

    def _read_until(self, word: str, known: Collection[str], files: Iterable[int]) -> bool:
        """Read files until the known words contain a word; return whether they do."""
        for file_id in files:
            if file_id in self._states and file_id not in self._known.files:
                self.read(self._states[file_id])
                if word in known:
                    return True
        return False

    def _files_with(self, words: Iterable[str]) -> list[int]:
        """Return the files that contain all of the words in any spelling without hyphens."""
        terms = [self._term(word) for word in words]
        return list(self._index.sparse.files_with(terms, [], self._index.file_count(), None))

    def _term(self, word: str) -> str:
        whole = LONG_WORD if len(word) > MAX_WORD_CHARS else whole_identifier(word)
        return self._index.sparse.stems(whole)[0]

    def _files_with_parts(self, folded: str) -> list[int]:
        """Return the files whose words, joined by hyphens, can form a folded word.

        `reached[n]` contains the files with words that, joined, are the first n characters.
        """
        size = len(folded)
        if size > _MAX_FOLDED_CHARS:
            return list(self._states)
        pieces = {folded[i:j] for i in range(size) for j in range(i + 1, size + 1)} - {folded}
        existing = self._find_existing(sorted(pieces))
        reached: list[set[int]] = [set() for _ in range(size + 1)]
        for end in range(1, size + 1):
            for start in range(end):
                files = existing.get(folded[start:end], set())
                reached[end] |= files & reached[start] if start else files
        return sorted(reached[size])

    def _find_existing(self, words: list[str]) -> dict[str, set[int]]:
        """Return the words that occur in the index, each with the files that contain it."""
        terms = [self._term(word) for word in words]
        _, counts = self._index.sparse.file_frequencies(terms)
        return {
            word: set(self._files_with([word]))
            for word, count in zip(words, counts, strict=True)
            if count
        }
