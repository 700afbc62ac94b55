"""The table of synonyms, and how it maps the subwords of one repository to other words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Final

TABLE: Final = Path(__file__).with_name("synonyms.tsv")
# getHTTPResponse2 -> get HTTP Response 2
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SHORT_VERB: Final = re.compile(r"[^aeiou]*[aeiou][bdgklmnprt]")
_ENDINGS: Final = ("s", "ed", "ing", "er", "able")
_MIN_STEM: Final = 3


class SynonymError(Exception):
    """Raised when the table of synonyms is malformed or not one-to-one."""


@cache
def read_synonyms(path: Path = TABLE) -> Mapping[str, str]:
    """Return the synonym of each word. Raise SynonymError unless the mapping is one-to-one."""
    found: dict[str, str] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        word, _, synonym = line.partition("\t")
        if not re.fullmatch("[a-z]+\t[a-z]+", line) or word in found or word == synonym:
            raise SynonymError(f"{path.name}:{number}: malformed or repeated: {line!r}")
        found[word] = synonym
    repeated = [synonym for synonym, times in Counter(found.values()).items() if times > 1]
    if repeated:
        raise SynonymError(f"{path.name}: synonyms of several words: {', '.join(repeated)}")
    return found


def split_parts(name: str) -> list[str]:
    """Return the lower-case subwords of an identifier, a file name or a kebab-case word."""
    return [part.lower() for part in _PART.findall(name)]


def find_synonym(word: str, synonyms: Mapping[str, str]) -> str:
    """Return the synonym of a lower-case word, with its ending; the word itself if none is known.

    "caches" and "caching" use the entry of "cache".
    """
    if word in synonyms:
        return synonyms[word]
    for ending in _ENDINGS:
        if word.endswith(ending) and not word.endswith("ss"):
            for stem in _stems(word, ending):
                if len(stem) >= _MIN_STEM and stem in synonyms:
                    return _inflect(synonyms[stem], ending)
    return word


def _stems(word: str, ending: str) -> Iterable[str]:
    stem = word[: -len(ending)]
    if ending == "s":
        return (stem, word.removesuffix("ies") + "y") if word.endswith("ies") else (stem,)
    return (stem, f"{stem}e", stem[:-1] if stem[-1:] == stem[-2:-1] else stem)


def _inflect(word: str, ending: str) -> str:
    if word.endswith("y") and word[-2:-1] not in set("aeiou") and ending in ("s", "ed"):
        return word[:-1] + ("ies" if ending == "s" else "ied")
    if ending == "s":
        return word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")
    if _SHORT_VERB.fullmatch(word):
        return word + word[-1] + ending
    return word.removesuffix("e") + ending


class WordMap:
    """Maps subwords to synonyms, one-to-one over the vocabulary of one repository.

    A word is not replaced if its synonym is another word of the vocabulary, unless that word is
    replaced as well.
    """

    def __init__(self, vocabulary: Iterable[str], synonyms: Mapping[str, str]) -> None:
        words = sorted(set(vocabulary))
        self._synonyms = synonyms
        self.words = {word: find_synonym(word, synonyms) for word in words}
        while clashing := self._clashing():
            for word in clashing:
                self.words[word] = word

    def _clashing(self) -> list[str]:
        """Return the words whose synonym is also the new name of another word."""
        times = Counter(self.words.values())
        return [word for word, new in self.words.items() if times[new] > 1 and new != word]

    def rename(self, name: str) -> str:
        """Return an identifier or a file name with known subwords replaced and their case kept."""
        return _PART.sub(lambda match: self._replace(match[0]), name)

    def _replace(self, part: str) -> str:
        return match_case(part, self.words.get(part.lower(), part.lower()))


def match_case(example: str, word: str) -> str:
    """Return a lower-case word in the case of the example: lower, UPPER or Capitalized."""
    if len(example) > 1 and example.isupper():
        return word.upper()
    return word.capitalize() if example[:1].isupper() else word
