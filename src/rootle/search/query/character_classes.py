"""Replace each character of a text with a byte that shows which parts of a pattern match it."""

from __future__ import annotations

import re
import sys
from typing import Final

import numpy as np

from rootle.errors import QueryError
from rootle.search.query.regex_translation import RegexTranslation

_NEWLINE: Final = ord("\n")
_UNKNOWN: Final = 0
_ASCII: Final = range(128)
_WORD: Final = re.compile(r"\w")
_NO_CHARACTER: Final = r"[^\x00-\xff]"


class CharacterClasses:
    """The classes of characters that a pattern distinguishes. Each class has a byte.

    An atom is a part of the pattern that matches one character. All characters that are matched by
    the same atoms, according to `re`, form one class. Classes are added when their characters first
    occur in a text.
    """

    def __init__(self, translation: RegexTranslation) -> None:
        self._atoms = [re.compile(source, flags) for source, flags in translation.atoms]
        self._has_boundaries = translation.has_boundaries
        # The byte of each class. The key says whether the characters of the class are parts of
        # words, and which atoms match them.
        self._classes: dict[tuple[bool, frozenset[int]], int] = {}
        # At `\b`, RE2 considers only ASCII letters, digits and "_" as parts of words. Therefore
        # classes of word characters get these bytes (key True), and other classes get the remaining
        # bytes (key False).
        self._unused: dict[bool, list[int]] = {True: [], False: []}
        for byte in set(range(256)) - {_UNKNOWN, _NEWLINE}:
            self._unused[byte in _ASCII and self._is_word(byte)].append(byte)
        self._bytes = np.zeros(sys.maxunicode + 1, np.uint8)
        self._bytes[_NEWLINE] = _NEWLINE
        self._add([code for code in _ASCII if code != _NEWLINE])
        self._ascii_bytes = self._bytes[:256].tobytes()

    @property
    def count(self) -> int:
        """The number of classes that have occurred."""
        return len(self._classes)

    def encode(self, text: str) -> bytes:
        """Return one byte for each character; line feeds stay unchanged."""
        if text.isascii():
            return text.encode("ascii").translate(self._ascii_bytes)
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
        encoded = self._bytes[codes]
        if not encoded.all():
            self._add(np.unique(codes[encoded == _UNKNOWN]).tolist())
            encoded = self._bytes[codes]
        return bytes(encoded)

    def matching(self, atom: int) -> str:
        """Return RE2 source that matches the bytes of all classes that an atom matches."""
        found = [byte for (_, atoms), byte in self._classes.items() if atom in atoms]
        return f"[{''.join(map(_escape, found))}]" if found else _NO_CHARACTER

    def _add(self, codes: list[int]) -> None:
        for code in codes:
            char = chr(code)
            atoms = frozenset(at for at, atom in enumerate(self._atoms) if atom.match(char))
            key = (self._is_word(code), atoms)
            if key not in self._classes:
                self._classes[key] = self._new_byte(key[0])
            self._bytes[code] = self._classes[key]

    def _is_word(self, code: int) -> bool:
        """Return whether a character is part of a word; False if the pattern has no `\\b`."""
        return self._has_boundaries and _WORD.match(chr(code)) is not None

    def _new_byte(self, is_word: bool) -> int:
        if not self._unused[is_word]:
            raise QueryError(
                "the regex distinguishes too many characters; quote the text instead, or shorten "
                "the regex"
            )
        return self._unused[is_word].pop()


def _escape(byte: int) -> str:
    return rf"\x{byte:02x}"
