"""What is said where an answer is unlikely to be one."""

from __future__ import annotations

from typing import Final

from rootle.rank.question.parsed import Question
from rootle.search.retrieval.candidates import SparseReader

_NAMED: Final = 3


def low_confidence_message(question: Question, index: SparseReader) -> str:
    """A sentence for people and agents, with the words of the question that stand nowhere."""
    unknown = _unknown_words(question, index)
    if unknown:
        listed = ", ".join(f'"{word}"' for word in unknown[:_NAMED])
        verb = "stands" if len(unknown) == 1 else "stand"
        reason = f"{listed} {verb} nowhere here"
    else:
        reason = "no passage holds much of the question"
    return f"not confident: {reason}; the answer may not be in this folder, or in other words"


def _unknown_words(question: Question, index: SparseReader) -> list[str]:
    words = [word for word in question.words if len(word) > 1]
    stems = [(index.stems(word) or [word])[0] for word in words]
    _, frequencies = index.file_frequencies(stems)
    return [word for word, count in zip(words, frequencies, strict=True) if not count]
