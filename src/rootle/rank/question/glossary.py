"""Translate the terms of a question from German, Spanish, Chinese or Japanese to English.

The translation uses a dictionary of programming terms. It handles inflections and German compounds,
but ignores grammar. Code uses English words, so words that are not translated rarely match.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from rootle.rank.question.language_detection import FUNCTION_WORDS, Language

_FILE: Final = Path(__file__).parent / "glossary.tsv"
_COLUMNS: Final[tuple[Language, ...]] = ("de", "es", "zh", "ja")
_WORD: Final = re.compile(r"\w+(?:(?:\.|::|->)\w+)*")
_IDEOGRAPHS: Final = re.compile(r"[\u3005\u3040-\u30ff\u3400-\u9fff]+")
_IDENTIFIER: Final = re.compile(r".*(?:[_\d.:>]|[a-z][A-Z])")
_MAX_WORDS_OF_TERM: Final = 4
_MAX_CHARS_OF_TERM: Final = 8
# The maximum number of English terms for a word. More terms would add more noise than signal.
_MAX_MEANINGS: Final = 4
_MIN_STEM_CHARS: Final = 3
_MIN_PART_CHARS: Final = 3

_ENDINGS: Final[Mapping[Language, tuple[str, ...]]] = {
    "de": tuple(
        """enden ende endes erung eten etes eter eten ungen ten test tet end ern est em
            en er es et te e n s t""".split()
    ),
    "es": tuple(
        """aciones iendo ando ados adas idos idas aron ieron ado ada ido ida aba ara
            are era ase iera amos emos imos arse erse irse arlo arla ar er ir an en es
            as os a e o s""".split()
    ),
}
_SEPARABLE: Final = re.compile(
    r"(ab|an|auf|aus|bei|ein|fest|fort|frei|her|herunter|hin|hinzu|hoch|los|nach|um|vor|weg|weiter|"
    r"zu|zurueck|zusammen)?(?:ge|zu)(\w{3,})"
)
_LINKS: Final = ("", "s", "es", "n", "en", "e")


@dataclass(frozen=True, slots=True)
class Translation:
    """A question with English terms."""

    for_words: str  # with both English and original words, because comments may not be in English
    for_meaning: str  # with English words instead of the original words
    terms: tuple[str, ...]  # the English terms
    meanings: Mapping[str, tuple[str, ...]]  # the English terms of each translated word


@dataclass(frozen=True, slots=True)
class _Dictionary:
    terms: Mapping[str, tuple[str, ...]]
    stems: Mapping[str, tuple[str, ...]]


def translate(text: str, language: Language) -> Translation | None:
    """Return the question with English terms, or None if the dictionary has none of its words."""
    pieces = _ideographs if language in ("zh", "ja") else _words
    found = list(pieces(text, language))
    terms = [word for _, english in found if english for word in english]
    if not terms:
        return None
    for_words: list[str] = []
    for_meaning: list[str] = []
    for foreign, english in found:
        for_words += [foreign, *(english or ())]
        for_meaning += [foreign] if english is None else english
    known = (
        (word, english) for piece, english in found if english for word in _WORD.findall(piece)
    )
    return Translation(
        _join(for_words), _join(for_meaning), tuple(dict.fromkeys(terms)), dict(known)
    )


def _join(pieces: list[str]) -> str:
    return " ".join(" ".join(pieces).split())


# The original text, and its English terms if known.
TranslatedText = tuple[str, "tuple[str, ...] | None"]


def _ideographs(text: str, language: Language) -> Iterator[TranslatedText]:
    """Yield runs of ideographs, with English terms for their parts, and the text between them."""
    terms = _dictionary(language).terms
    end = 0
    for run in _IDEOGRAPHS.finditer(text):
        yield text[end : run.start()], None
        end = run.end()
        english: list[str] = []
        at = 0
        while at < len(run[0]):
            sizes = range(min(_MAX_CHARS_OF_TERM, len(run[0]) - at), 0, -1)
            size = next((n for n in sizes if run[0][at : at + n] in terms), 0)
            english += terms[run[0][at : at + size]] if size else ()
            at += size or 1
        yield run[0], tuple(dict.fromkeys(english))
    yield text[end:], None


def _words(text: str, language: Language) -> Iterator[TranslatedText]:
    """Yield words with their English terms, and the text between them.

    The text of a function word becomes empty.
    """
    dictionary = _dictionary(language)
    words = list(_WORD.finditer(text))
    folded = [_fold(word[0]) for word in words]
    drop = {_fold(word) for word in FUNCTION_WORDS[language]}
    end = at = 0
    while at < len(words):
        yield text[end : words[at].start()], None
        size, english = _term_at(folded, at, dictionary)
        if size == 0:
            size, english = 1, _meaning(words[at][0], folded[at], language, drop)
        end = words[at + size - 1].end()
        original = "" if english == () else text[words[at].start() : end]
        yield original, english
        at += size
    yield text[end:], None


def _term_at(
    words: list[str], at: int, dictionary: _Dictionary
) -> tuple[int, tuple[str, ...] | None]:
    """Return the number of words and the meaning of the longest multi-word term at a position."""
    for size in range(_MAX_WORDS_OF_TERM, 1, -1):
        term = " ".join(words[at : at + size])
        if at + size <= len(words) and term in dictionary.terms:
            return size, dictionary.terms[term]
    return 0, None


def _meaning(word: str, folded: str, language: Language, drop: set[str]) -> tuple[str, ...] | None:
    """Return the English terms of a word: () for a function word, None for an unknown word."""
    if _IDENTIFIER.match(word):
        return None
    dictionary = _dictionary(language)
    if folded in dictionary.terms:
        return dictionary.terms[folded]
    if folded in drop:
        return ()
    known = _find_by_stem(folded, language, dictionary)
    return known or (_split_compound(folded, dictionary) if language == "de" else None)


def _find_by_stem(word: str, language: Language, dictionary: _Dictionary) -> tuple[str, ...] | None:
    for form in _forms(word, language):
        if found := dictionary.terms.get(form) or dictionary.stems.get(form):
            return found
    return None


def _forms(word: str, language: Language) -> Iterator[str]:
    """Yield possible stems of a word, most likely first."""
    yield _stem(word, language)
    if language == "de" and (parts := _SEPARABLE.fullmatch(word)):
        yield _stem(f"{parts[1] or ''}{parts[2]}", language)


def _stem(word: str, language: Language) -> str:
    for ending in _ENDINGS.get(language, ()):
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM_CHARS:
            return word[: -len(ending)]
    return word


def _split_compound(word: str, dictionary: _Dictionary) -> tuple[str, ...] | None:
    """Return the English terms of a compound (Verbindungsabbruch) if all its parts are known."""
    for split in range(len(word) - _MIN_PART_CHARS, _MIN_PART_CHARS - 1, -1):
        head = _part(word[:split], dictionary)
        if not head:
            continue
        rest = word[split:]
        tail = _part(rest, dictionary) or _find_by_stem(rest, "de", dictionary)
        tail = tail or _split_compound(rest, dictionary)
        if tail:
            return (*head, *tail)
    return None


def _part(word: str, dictionary: _Dictionary) -> tuple[str, ...] | None:
    for link in _LINKS:
        bare = word.removesuffix(link)
        if word.endswith(link) and len(bare) >= _MIN_PART_CHARS and bare in dictionary.terms:
            return dictionary.terms[bare]
    return None


def _fold(word: str) -> str:
    """Return a lower-case spelling without umlauts and accents."""
    word = word.lower()
    if word.isascii():
        return word
    for letter, letters in (("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("ß", "ss")):
        word = word.replace(letter, letters)
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))


@lru_cache(maxsize=len(_COLUMNS))
def _dictionary(language: Language) -> _Dictionary:
    place = _COLUMNS.index(language) + 1
    terms: dict[str, tuple[str, ...]] = {}
    for line in _FILE.read_text(encoding="utf-8").splitlines()[1:]:
        columns = line.split("\t")
        for foreign in columns[place].split(","):
            key = foreign if language in ("zh", "ja") else _fold(foreign)
            meanings = dict.fromkeys((*terms.get(key, ()), *columns[0].split()))
            terms[key] = tuple(meanings)[:_MAX_MEANINGS]
    stems: dict[str, tuple[str, ...]] = {}
    for key, english in terms.items():
        stems.setdefault(_stem(key, language), english)
    return _Dictionary(terms, stems)
