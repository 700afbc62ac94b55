"""Read the tables of everyday phrases and of the terms that code uses for them.

The tables in `words/` list terms for each phrase, and those in `phrases/` list phrases for each
term.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from rootle.rank.question.related_terms import MAX_PHRASE_WORDS
from rootle.text.stemmer import open_stemmer
from rootle.text.terms import STOP_WORDS, WORD, word_terms

FOLDER: Final = Path(__file__).parent
Phrase = tuple[str, ...]  # stems
PhraseTable = Mapping[Phrase, Mapping[str, float]]  # stem of code -> weight

# The weight of the term at position n (from 0) of a line is 1 / (1 + n x decay). In `phrases/`, the
# first weight and the decay are lower, because the order of the phrases matters less.
_TERM_DECAY: Final = 0.25
_PHRASE_DECAY: Final = 0.15
_PHRASE_START: Final = 0.9
# A phrase of several words is less ambiguous than a word.
_PHRASE_FACTOR: Final = 1.5
# The largest factor (for a phrase that no question of the pairs contains) and the smallest factor.
_RARE_FACTOR: Final = 1.5
_MIN_FACTOR: Final = 0.3

_stem = open_stemmer()
# Phrases that open a question about any subject.
_FRAMES: Final = frozenset(
    tuple(_stem(text))
    for text in ("what happens", "when it happens", "why it happens", "which one", "tell why")
)


class TableError(Exception):
    """Raised when a line of a table is malformed; the message names the file and the line."""


def read_table(folder: Path = FOLDER) -> dict[Phrase, dict[str, float]]:
    """Return the terms of each phrase with weights from 0 to 1, from both kinds of tables."""
    table: dict[Phrase, dict[str, float]] = defaultdict(dict)
    for phrase, term, weight in [*_words_of_phrases(folder), *_phrases_of_words(folder)]:
        if term not in phrase:
            table[phrase][term] = max(weight, table[phrase].get(term, 0.0))
    return dict(table)


def read_words(folder: Path = FOLDER) -> dict[str, str]:
    """Return the most frequent word for each stem; of equally frequent ones, the shortest."""
    words = Counter(
        word
        for _, line in _lines(folder / "words")
        for found in line.split()
        for word in word_terms(found)
    )
    words.update(word.lower() for word, _ in _lines(folder / "phrases"))
    by_stem: dict[str, str] = {}
    for word in sorted(words, key=lambda one: (-words[one], len(one), one)):
        for stem in _stem(word):
            by_stem.setdefault(stem, word)
    return by_stem


def weigh_table(table: PhraseTable, questions: Iterable[str]) -> dict[Phrase, dict[str, float]]:
    """Return the table with weights that are higher for phrases that are rare in questions."""
    counts: Counter[Phrase] = Counter()
    total = 0
    for question in questions:
        counts.update(set(find_phrases(question, table)))
        total += 1
    return {
        phrase: {
            term: weight * _factor(phrase, counts[phrase], total) for term, weight in found.items()
        }
        for phrase, found in table.items()
    }


def add_forms(table: PhraseTable, folder: Path = FOLDER) -> dict[Phrase, Mapping[str, float]]:
    """Return the table with added phrases in which one word has an irregular form: "threw away"."""
    forms = _read_forms(folder / "irregular_forms.txt")
    result: dict[Phrase, Mapping[str, float]] = dict(table)
    for phrase, terms in table.items():
        for at, stem in enumerate(phrase):
            for form in forms.get(stem, ()):
                result.setdefault((*phrase[:at], form, *phrase[at + 1 :]), terms)
    return result


def find_phrases(text: str, table: PhraseTable) -> Iterator[Phrase]:
    """Yield the phrases of a text that the table lists, without phrases within longer ones."""
    words = [word.lower() for word in WORD.findall(text)]
    stems = _stem(" ".join(words))
    at = 0
    while at < len(words):
        sizes = range(min(MAX_PHRASE_WORDS, len(words) - at), 0, -1)
        listed = (
            size
            for size in sizes
            if tuple(stems[at : at + size]) in table and (size > 1 or words[at] not in STOP_WORDS)
        )
        size = next(listed, 0)
        if size:
            yield tuple(stems[at : at + size])
        at += size or 1


def _scale(weights: Mapping[str, float], factor: float) -> dict[str, float]:
    return {term: weight * factor for term, weight in weights.items()}


def _factor(phrase: Phrase, count: int, total: int) -> float:
    share = math.log((total + 1) / (count + 1)) / math.log(total + 1) if total else 1.0
    rarity = max(_MIN_FACTOR, _RARE_FACTOR * share)
    return rarity * (_PHRASE_FACTOR if len(phrase) > 1 else 1.0)


def _words_of_phrases(folder: Path) -> Iterator[tuple[Phrase, str, float]]:
    for phrase, words in _lines(folder / "words"):
        key = _phrase(phrase)
        for place, word in enumerate(words.split()):
            for term in _stem(" ".join(word_terms(word))):
                if key:
                    yield key, term, 1 / (1 + _TERM_DECAY * place)


def _phrases_of_words(folder: Path) -> Iterator[tuple[Phrase, str, float]]:
    for word, phrases in _lines(folder / "phrases"):
        terms = _stem(word.lower())
        for place, phrase in enumerate(phrases.split(";")):
            key = _phrase(phrase)
            if key and len(terms) == 1:
                yield key, terms[0], _PHRASE_START / (1 + _PHRASE_DECAY * place)


def _lines(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield both columns of each line of the tables in a folder."""
    paths = sorted(folder.glob("*.tsv"))
    if not paths:
        raise TableError(f"{folder} contains no tables (*.tsv)")
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            columns = line.split("\t")
            if len(columns) != 2:
                raise TableError(f"{path}:{number}: expected two columns, not {len(columns)}")
            yield columns[0], columns[1]


def _phrase(text: str) -> Phrase:
    """Return the stems of a phrase; empty if it is too long, a stop word or a question frame."""
    words = [word.lower() for word in WORD.findall(text)]
    if len(words) > MAX_PHRASE_WORDS or all(word in STOP_WORDS for word in words):
        return ()
    stems = tuple(_stem(" ".join(words)))
    return () if stems in _FRAMES else stems


def _read_forms(path: Path) -> dict[str, list[str]]:
    """Map the stem of each base form to the stems of its irregular forms."""
    forms: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            base, *others = _stem(line)
            forms[base] = [form for form in others if form != base]
    return forms
