"""Reject answers to questions about absent words, and explain low confidence in one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from rootle.index.reader import IndexReader
from rootle.rank.confidence import reject
from rootle.rank.question.parsed import Question
from rootle.search.query.absent_words import SubjectWord, check_words, prove_absent
from rootle.search.stages.ranked_answer import RankedAnswer
from rootle.types import COMMIT_URI, PACKAGE_URI

LOW_CONFIDENCE: Final = "not confident: "
_IMPROBABLE: Final = "the estimated probability of an answer is low"
_ADVICE: Final = "the answer may not be in this folder, or may use other words"


def check_confidence(answer: RankedAnswer, index: IndexReader) -> RankedAnswer:
    """Return the answer. Reject it if it cannot contain what the question asks for.

    This is so if the question is about words that no indexed text contains, or asks for a name that
    has no definition. An answer that is not confident gets a note with the reason before its other
    notes.
    """
    if answer.undefined:
        return _reject_undefined(answer, index)
    if not answer.candidates.has_words:  # without the word index, nothing can be proved
        return answer if answer.confident else _add_note(answer, _IMPROBABLE)
    if answer.confident and answer.has_source:
        return answer  # absent words are filled-in values, for example
    check = check_words(answer.candidates.scoped.question, index)
    if answer.confident and not check.is_about(check.unknown):
        return answer  # even absent words would not change the answer
    stated = [
        word for word in check.unknown if not _is_guess(word, answer.candidates.inputs.question)
    ]
    absent = prove_absent(stated, index)
    if answer.confident:
        if not check.is_about(absent):
            return answer
        answer = _reject(answer)
    return _add_note(answer, *_reasons(absent, answer, index))


def _reject_undefined(answer: RankedAnswer, index: IndexReader) -> RankedAnswer:
    """Reject an answer to a question about a name that has no definition."""
    reasons: Iterable[str] = (answer.undefined,)
    if answer.candidates.has_words:
        check = check_words(answer.candidates.scoped.question, index)
        # Words such as "calls" and "macro" are not part of the name.
        absent = prove_absent([word for word in check.unknown if word.is_identifier], index)
        # If no text contains the name, a second statement that it is not defined is unnecessary.
        reasons = _reasons(absent, answer, index) if absent else reasons
    return _add_note(_reject(answer), *reasons)


def _is_guess(word: SubjectWord, question: Question) -> bool:
    """Return whether a language model guessed a word.

    Most names that it guesses are absent, even if there is an answer.
    """
    if not question.is_composed:
        return False
    return word.is_identifier or not question.code_terms.isdisjoint(word.stems)


def _reject(answer: RankedAnswer) -> RankedAnswer:
    """Mark an answer as not confident, and limit its scores.

    The scores of a reranker stay unchanged, because they explain the order of the results.
    """
    confidence = answer.confidence
    if confidence is None:
        return answer
    rest = None if answer.rest is None else _reject(answer.rest)
    if answer.reranker_scores:
        return replace(answer, confidence=replace(confidence, confident=False), rest=rest)
    limit = min(answer.max_score, confidence.max_rejected_score)
    return replace(answer, confidence=reject(confidence), rest=rest, max_score=limit)


def _add_note(answer: RankedAnswer, *reasons: str) -> RankedAnswer:
    note = f"{LOW_CONFIDENCE}{'; '.join((*reasons, _ADVICE))}"
    return replace(answer, notes=(note, *answer.notes))


def _reasons(
    absent: Sequence[SubjectWord], answer: RankedAnswer, index: IndexReader
) -> Iterable[str]:
    """Yield the reasons for low confidence, such as the absent words."""
    paths = answer.candidates.inputs.files.paths  # of files, or of commits
    noun = "commit" if paths and paths[0].startswith(COMMIT_URI) else "text"
    hashes = [word.text for word in absent if word.is_hash]
    words = [word.text for word in absent if not word.is_hash]
    if words:
        yield f"no indexed {noun} has the word {_quote(words)}"
        yield from _count_unindexed(index)
    if hashes:
        yield (
            f"{_quote(hashes)} may be the hash of a commit that is not indexed (rootle show or "
            "vectordb_read may print it)"
        )
    if not absent:
        yield _IMPROBABLE


def _count_unindexed(index: IndexReader) -> Iterable[str]:
    # Files of packages are not in the list to which the message refers.
    listed = [one for one in index.unindexed_files() if not one.path.startswith(PACKAGE_URI)]
    count = len(listed)
    if count:
        files = "1 file is" if count == 1 else f"{count:,} files are"
        yield f"{files} not or only partly indexed (`rootle status --skipped`)"


def _quote(words: Sequence[str]) -> str:
    quoted = [f'"{word}"' for word in words]
    return " or ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)
