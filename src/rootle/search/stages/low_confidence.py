"""Reject answers to questions about absent words, and explain low confidence.

A word is absent if it does not occur in any indexed text, not even inside a longer word.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Final

from rootle.index.reader import IndexReader, SparseReader
from rootle.protocols import WeightedTerm
from rootle.rank.confidence import reject
from rootle.rank.log_lines import blank_generated
from rootle.rank.question.language_detection import foreign_function_words
from rootle.rank.question.parsed import Question
from rootle.rank.question.related_terms import find_terms_of_words
from rootle.search.query.parse import ParsedQuestion
from rootle.search.stages.ranked_answer import RankedAnswer
from rootle.serialization.unread_documents import describe_unread, describe_unread_images
from rootle.text.patterns.lazy_pattern import LazyPattern
from rootle.text.terms import MAX_WORD_CHARS, STOP_WORDS, WORD, whole_identifier
from rootle.types import COMMIT_URI, NEEDS_EXTRA, NEEDS_OCR, PACKAGE_URI

LOW_CONFIDENCE: Final = "not confident: "
_IMPROBABLE: Final = "the estimated probability of an answer is low"
_ADVICE: Final = "the answer may not be in this folder, or may use other words"
# The minimum length of a word that is checked. Shorter words are part of so many other words that
# they are almost never absent.
_MIN_CHARS: Final = 3
# If at least this share of a question's subject words is absent, the question is about these absent
# words. Code is written in English, so the absence of words of other languages proves less.
_MIN_ABSENT_SHARE: Final = 0.2
_MIN_WEAK_ABSENT_SHARE: Final = 0.5
# A folder with fewer files than this lacks many ordinary words, such as "endpoint" in a folder with
# the description of an interface. Their absence proves less, as does that of foreign words.
_MIN_FILES: Final = 100
# If an identifier of the question occurs in the index, more than this share of the subject words
# must be absent.
_MAX_SHARE_WITH_IDENTIFIER: Final = 0.5
# The maximum number of words that are checked, because each proof reads all terms of the index.
_MAX_PROOFS: Final = 3
# A proof searches the files that may contain a word. If there are more than this many files, the
# word counts as present.
_MAX_FILES_READ: Final = 20
# The English stemmer does not know the endings of words in other languages. Therefore the last
# _MAX_ENDING_CHARS characters of a word with at least _MIN_INFLECTED_CHARS characters are ignored.
_MIN_INFLECTED_CHARS: Final = 7
_MAX_ENDING_CHARS: Final = 2
_HASH: Final = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}")
_IDENTIFIER: Final = re.compile(r"[_\d]|[a-z][A-Z]")
# Words that do not name the subject of a question. The absence of "still", for example, means
# nothing.
_GENERAL_WORDS: Final = frozenset(
    """able actually added after again ago almost already also although always among anybody
    anyone anything anywhere apart around available away back based because become been before
    behind belong below best better big both bring called came cannot cause caused certain come
    comes computed correct correctly currently decide decided decides defined depend despite
    details determine different directly done during early easily either else enough ensure
    entire even ever every everybody everyone everything exactly example exist exists explain
    few first further general good great halfway handle handled hard has having help hence here
    high how however huge hundreds implement implementation implemented important including
    instead integrate itself just keep kept kind know known large last late later least less let
    likely little located long look looks lot low main may maybe mean means might more most much
    must near nearly need needed needs never new next nobody none nor nothing now nowhere occur
    occurs often old once only opposite otherwise people per perhaps possible previous probably
    provide provided purpose put quickly quite rather really reason recent relevant responsible
    right same say says see seem seen several short shows side similar simply since small
    somebody someone something sometimes somewhere soon sort still stuff suddenly support
    supported supports sure take taken takes tell tells thing things think though through thus
    together told too took toward tried tries true try trying turn turned twice unless until
    upon usually various very want wants way ways well went whatever whenever why without work
    working wrong yet""".split()
)
# Names that end like an adverb.
_NOT_ADVERBS: Final = frozenset("bitly fastly feedly grammarly plotly".split())
# If a passage has all other subject words of a question, and there are at least this many of them,
# a single absent word is probably another word for something in this passage.
_MIN_OTHER_WORDS: Final = 3
_ROUNDING: Final = 1e-9
# Text in these scripts has no spaces between words.
_UNSPACED: Final = LazyPattern("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]", flags=re.NOFLAG)


@dataclass(frozen=True, slots=True)
class SubjectWord:
    """A word that a question may be about: not a function word, a number or a very short word."""

    text: str  # as typed
    stems: tuple[str, ...]  # of the word, and of its correction or translations
    is_identifier: bool
    is_capitalized: bool  # and not the first word, so it may be a name
    is_foreign: bool  # the question is not in English

    @property
    def is_ordinary(self) -> bool:
        """Whether the word does not look like a name."""
        return not (self.is_identifier or self.is_capitalized or self.is_foreign)

    @property
    def is_hash(self) -> bool:
        """Whether the word looks like the hash of a commit."""
        return _HASH.fullmatch(self.text) is not None


@dataclass(frozen=True, slots=True)
class WordCheck:
    """The subject words of a question, and those that may be absent from the index."""

    subjects: tuple[SubjectWord, ...]
    unknown: tuple[SubjectWord, ...]  # without stems in the index; general words are left out
    is_error: bool  # the question is an error message, which may contain names of another program
    is_small: bool = False  # the index has so few files that it lacks many ordinary words
    # The unknown words for which the index contains a related term, such as "remove" for
    # "disappears". Code may use that term instead.
    replaceable: frozenset[SubjectWord] = frozenset()

    def is_about(self, words: Sequence[SubjectWord]) -> bool:
        """Return whether the question is about these words, which are some of its subject words.

        If the words that a question is about are not in the index, neither is the answer.
        """
        if not words:
            return False
        if any(word.is_identifier or word.is_capitalized for word in words) and not self.is_error:
            return True
        share = sum(word not in self.replaceable for word in words) / len(self.subjects)
        if any(word.is_identifier and word not in self.unknown for word in self.subjects):
            return share > _MAX_SHARE_WITH_IDENTIFIER
        proves_less = self.is_small or any(word.is_foreign for word in words)
        return share >= (_MIN_WEAK_ABSENT_SHARE if proves_less else _MIN_ABSENT_SHARE)


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
    check = _check_words(answer.candidates.scoped.question, index)
    if answer.confident and not check.is_about(check.unknown):
        return answer  # even absent words would not change the answer
    stated = [
        word for word in check.unknown if not _is_guess(word, answer.candidates.inputs.question)
    ]
    absent = _prove_absent(stated, index)
    if answer.confident:
        if not check.is_about(absent) or _has_other_words(answer, check, absent):
            return answer
        answer = _reject(answer)
    return _add_note(answer, *_reasons(absent, answer, index))


def _has_other_words(answer: RankedAnswer, check: WordCheck, absent: Sequence[SubjectWord]) -> bool:
    """Return whether only one ordinary word is absent, and the first result has all others."""
    if len(absent) != 1 or not absent[0].is_ordinary or len(check.subjects) <= _MIN_OTHER_WORDS:
        return False
    inputs = answer.candidates.inputs
    # Shares of the same words: those in the best passage of the first result, and those in no text.
    return bool(inputs.files.passage[answer.order[0]] + inputs.unknown >= 1 - _ROUNDING)


def _reject_undefined(answer: RankedAnswer, index: IndexReader) -> RankedAnswer:
    """Reject an answer to a question about a name that has no definition."""
    reasons: Iterable[str] = (answer.undefined,)
    if answer.candidates.has_words:
        check = _check_words(answer.candidates.scoped.question, index)
        # Words such as "calls" and "macro" are not part of the name.
        absent = _prove_absent([word for word in check.unknown if word.is_identifier], index)
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


def note_unread(index: IndexReader) -> Iterator[str]:
    """Yield notes if there are files that only an optional library or another program can read."""
    reasons = Counter(state.skip for state in index.unindexed_files())
    if reasons[NEEDS_EXTRA]:
        yield describe_unread(reasons[NEEDS_EXTRA])
    if reasons[NEEDS_OCR]:
        yield describe_unread_images(reasons[NEEDS_OCR])


def _check_words(question: ParsedQuestion, index: IndexReader) -> WordCheck:
    """Return the subject words of a question, and those of them that may be absent."""
    subjects = tuple(_subject_words(question, index.sparse))
    stems = [stem for word in subjects for stem in word.stems]
    files, frequencies = index.sparse.file_frequencies(stems)
    known = {stem for stem, count in zip(stems, frequencies, strict=True) if count}
    unknown = tuple(
        word
        for word in subjects
        if known.isdisjoint(word.stems) and word.text.lower() not in _GENERAL_WORDS
    )
    adverbs = _find_adverbs(unknown, index.sparse)
    unknown = tuple(word for word in unknown if word not in adverbs)
    is_error = question.question.intent == "error"
    return WordCheck(
        subjects, unknown, is_error, files < _MIN_FILES, _replaceable_words(unknown, index.sparse)
    )


def _find_adverbs(words: Iterable[SubjectWord], sparse: SparseReader) -> frozenset[SubjectWord]:
    """Return the adverbs of adjectives that the index has, such as "deeply" for "deep".

    They say how something is done, so a question is not about them.
    """
    found = {
        word: _adjectives(word.text)
        for word in words
        if word.is_ordinary and word.text.endswith("ly") and word.text not in _NOT_ADVERBS
    }
    stems = {word: sparse.stems(" ".join(forms)) for word, forms in found.items()}
    every = [stem for some in stems.values() for stem in some]
    _, frequencies = sparse.file_frequencies(every)
    known = {stem for stem, count in zip(every, frequencies, strict=True) if count}
    return frozenset(word for word, some in stems.items() if not known.isdisjoint(some))


def _adjectives(adverb: str) -> tuple[str, ...]:
    """Return possible adjectives: "deep", "deepe"; "happi", "happy"; "possib", "possible"."""
    root = adverb.removesuffix("ly")
    return root, f"{root}e", f"{root}le", f"{root.removesuffix('i')}y"


def _replaceable_words(
    words: Sequence[SubjectWord], sparse: SparseReader
) -> frozenset[SubjectWord]:
    """Return the words for which the index has a word that code uses instead."""
    if not words:
        return frozenset()
    related = find_terms_of_words([stem for word in words for stem in word.stems])
    terms = sorted(frozenset[str]().union(*related.values()))
    _, frequencies = sparse.file_frequencies(terms)
    known = {term for term, count in zip(terms, frequencies, strict=True) if count}
    return frozenset(
        word
        for word in words
        if any(not known.isdisjoint(related.get(stem, ())) for stem in word.stems)
    )


def _prove_absent(words: Iterable[SubjectWord], index: IndexReader) -> tuple[SubjectWord, ...]:
    """Check the first few words, and return those that no indexed text or path contains."""
    return tuple(word for word in tuple(words)[:_MAX_PROOFS] if not _occurs(word, index))


def _subject_words(question: ParsedQuestion, sparse: SparseReader) -> Iterable[SubjectWord]:
    text = blank_generated(question.parsed.text)  # times and UUIDs are no subject
    typed = dict.fromkeys(WORD.findall(text))
    lower = {word.lower() for word in typed} - STOP_WORDS
    function_words = foreign_function_words(lower)
    language = question.language
    meant = {one.typed: (one.meant,) for one in question.corrections} | dict(question.meanings)
    for at, word in enumerate(typed):
        if word.lower() not in lower - function_words or not _may_be_subject(word):
            continue
        forms = dict.fromkeys((word, _strip_accents(word), *meant.get(word, ())))
        stems = sparse.stems(" ".join(map(whole_identifier, forms)))
        # A capital letter marks a name only in English: in German, every noun is capitalized.
        is_capitalized = at > 0 and word[0].isupper() and language is None
        yield SubjectWord(
            word,
            tuple(stems),
            _IDENTIFIER.search(word) is not None,
            is_capitalized,
            language is not None or bool(function_words),
        )


def _may_be_subject(word: str) -> bool:
    return (
        len(whole_identifier(word)) >= _MIN_CHARS
        and len(word) <= MAX_WORD_CHARS
        and not word.isdigit()
        and (word.isascii() or _UNSPACED.compiled.search(word) is None)
    )


def _occurs(word: SubjectWord, index: IndexReader) -> bool:
    """Return whether the word occurs in a path, or anywhere in a text, even inside other words."""
    sparse = index.sparse
    terms = [WeightedTerm(stem, 1.0) for stem in word.stems]
    if len(sparse.field_scores("files", ["path"], terms, 1).ids):
        return True
    whole = whole_identifier(word.text)
    wanted = _strip_ending(whole) if word.is_foreign else whole.removesuffix("s")
    # Only stems are indexed, such as "disentangl" for "disentangle" and "happi" for "happy".
    # Therefore the index is searched for the characters that the word and its stem share at their
    # start, such as "entangl" for "entangle" and "happ" for "happy".
    part = _common_start(wanted, word.stems[0])
    files = sparse.files_with([], [part], _MAX_FILES_READ + 1, None)
    if len(files) > _MAX_FILES_READ:
        return True
    if any(wanted in index.text(file_id).lower().replace("_", "") for file_id in files):
        return True
    # The path field of the index does not contain the extension of a file.
    return bool(index.files_with_endings([f".{word.text.lower()}"]))


def _common_start(left: str, right: str) -> str:
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False))
    return "".join(char for char, _ in pairs)


def _strip_ending(part: str) -> str:
    return part[:-_MAX_ENDING_CHARS] if len(part) >= _MIN_INFLECTED_CHARS else part


def _strip_accents(word: str) -> str:
    if word.isascii():
        return word
    decomposed = unicodedata.normalize("NFD", word)
    return "".join(char for char in decomposed if not unicodedata.combining(char))
