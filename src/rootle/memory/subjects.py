"""Find the everyday subjects of questions and facts, to match facts about the same subject.

"Dietary preferences" and "the user is vegetarian" share no word, and the embedding model, which is
trained on code, does not relate them. `subjects.tsv` lists words of questions about a subject, such
as "dietary", and words of facts about it, such as "vegetarian".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_FILE: Final = Path(__file__).with_name("subjects.tsv")
_JOINER: Final = "_"  # separates the words of a phrase in `subjects.tsv`
_NONE: Final[frozenset[str]] = frozenset()

Subjects = frozenset[str]
Phrase = tuple[str, ...]  # stems
Stem = Callable[[str], list[str]]  # the stems of a text


class SubjectTable:
    """Maps stems, and phrases of several stems such as "time zone", to subjects."""

    def __init__(self, stem: Stem) -> None:
        """Read the table that ships with rootle. `stem` returns the stems of a text."""
        questions: defaultdict[Phrase, set[str]] = defaultdict(set)
        facts: defaultdict[Phrase, set[str]] = defaultdict(set)
        for line in _FILE.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                subject, asked, stated = line.split("\t")
                for words, phrases in ((asked, questions), (stated, facts)):
                    for word in words.split():
                        phrases[tuple(stem(word.replace(_JOINER, " ")))].add(subject)
        self._questions, self._facts = _PhraseTable.build(questions), _PhraseTable.build(facts)

    def subjects_of_fact(self, stems: Sequence[str]) -> Subjects:
        """Return the subjects of a fact."""
        return _NONE.union(*self._facts.find(stems))

    def subjects_of_question(self, stems: Sequence[str]) -> list[Subjects]:
        """Return, for each stem of a question, the subjects that it names, alone or in a phrase."""
        return self._questions.find(stems)


@dataclass(frozen=True, slots=True)
class _PhraseTable:
    """Finds phrases in a sequence of stems."""

    of_stems: Mapping[str, Subjects]
    # keyed by the first stem of the phrase
    of_phrases: Mapping[str, Sequence[tuple[Phrase, Subjects]]]

    @classmethod
    def build(cls, phrases: Mapping[Phrase, Iterable[str]]) -> _PhraseTable:
        """Return a table of these phrases."""
        of_stems: dict[str, Subjects] = {}
        of_phrases: defaultdict[str, list[tuple[Phrase, Subjects]]] = defaultdict(list)
        for phrase, subjects in phrases.items():
            if len(phrase) == 1:
                of_stems[phrase[0]] = frozenset(subjects)
            else:
                of_phrases[phrase[0]].append((phrase, frozenset(subjects)))
        return cls(of_stems, dict(of_phrases))

    def find(self, stems: Sequence[str]) -> list[Subjects]:
        """Return, for each stem, its subjects and those of the phrases that contain it."""
        found = [self.of_stems.get(stem, _NONE) for stem in stems]
        for start, stem in enumerate(stems):
            for phrase, subjects in self.of_phrases.get(stem, ()):
                end = start + len(phrase)
                if tuple(stems[start:end]) == phrase:
                    found[start:end] = [own | subjects for own in found[start:end]]
        return found
