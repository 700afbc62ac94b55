"""The questions about one repository, and its texts as they must be for these."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from benchmarks.common.labels import HARD_SHARE, word_overlap

from rootle.ingest.chunking.grammars import GRAMMARS
from rootle.text.languages import PROSE, language_of
from training.corpus.chunks import cut_file
from training.corpus.sampling import GENERATED, LEFT_OUT, MAX_BYTES
from training.questions.case_titles import test_questions
from training.questions.chunk_questions import (
    Asked,
    count_words,
    heading_questions,
    message_questions,
    name_questions,
    times_said,
)
from training.questions.doc_comments import DocQuestion, doc_questions, without_docs
from training.questions.phrasing import choice

# Of a project; comments are the majority, as questions about behaviour are.
LIMITS: Final = {
    "behaviour": 40, "error": 7, "documentation": 5, "symbol": 4, "tests": 6, "usage": 4,
}  # fmt: skip
EASY_DOCS: Final = 0.8  # of the candidates for them; many turn out to be said twice
DOCS_OF_A_FILE: Final = 2
TESTS_OF_A_FILE: Final = 2

_NOT_OURS: Final = re.compile(
    r"(?:^|/)(?:\.|examples?|samples?|demos?|bench(?:marks?|es)?|playground|fastlane|tutorials?|docs?)/",
    re.I,
)
_TESTED: Final = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__|testing|[\w.]*tests)/|[._-](?:test|spec)s?\.\w+$"
    r"|(?:^|/)test_|(?:Tests?|TestCase|Spec)\.\w+$",
    re.IGNORECASE,
)


def ask(texts: dict[str, str], rng: random.Random) -> tuple[list[Asked], dict[str, str]]:
    """Questions about a repository, and its texts as they must be for the questions."""
    texts = dict(texts)
    words = count_words(texts)
    asked = list(_ask_docs(texts, words, rng)) + list(_ask_tests(texts, rng))
    places = [
        place
        for path, text in texts.items()
        if len(text) <= MAX_BYTES and (language_of(path) in GRAMMARS or language_of(path) in PROSE)
        for place in cut_file(path, language_of(path), text, 0)
    ]
    ours = [place for place in places if place.language in PROSE or _is_ours(place.path, texts)]
    symbols, usages = name_questions(places)
    by_kind = {
        "error": list(message_questions(ours)),
        "documentation": list(heading_questions(places)),
        "symbol": [one for one in symbols if _is_ours(one.targets[0][0], texts)],
        "usage": usages,
    }
    taken = Counter(path for one in asked for path, _, _ in one.targets)
    for kind, found in by_kind.items():
        asked += _spread(found, LIMITS[kind], rng, taken)
    return _once(asked), texts


def _ask_docs(texts: dict[str, str], words: Sequence[str], rng: random.Random) -> Iterator[Asked]:
    paths = [path for path in texts if language_of(path) in GRAMMARS and _is_ours(path, texts)]
    candidates: list[tuple[str, DocQuestion]] = []
    for path in paths:
        found = doc_questions(texts[path], language_of(path), path)
        candidates += [(path, question) for question in found]
    rng.shuffle(candidates)
    said = Counter(question.query.lower() for _, question in candidates)
    chosen: dict[str, list[DocQuestion]] = defaultdict(list)
    left = LIMITS["behaviour"]
    easy = [one for one in candidates if not _is_hard(one[1])]
    # Comments that say it in other words than the code come second, though there are more of them.
    for path, question in easy[: int(EASY_DOCS * left)] + candidates:
        taken = chosen[path]
        if not left or len(taken) == DOCS_OF_A_FILE or question in taken:
            continue
        if said[question.query.lower()] == 1 and times_said(question.sentence, words) <= 1:
            taken.append(question)
            left -= 1
    for path, questions in chosen.items():
        texts[path], spans = without_docs(texts[path], questions)
        for question, (first, last) in zip(questions, spans, strict=True):
            yield Asked(question.query, "behaviour", ((path, first, last),))


def _is_hard(question: DocQuestion) -> bool:
    return word_overlap(question.query, question.code) <= HARD_SHARE


def _ask_tests(texts: dict[str, str], rng: random.Random) -> Iterator[Asked]:
    paths = [
        path
        for path in texts
        if _TESTED.search(path) and language_of(path) in GRAMMARS and len(texts[path]) <= MAX_BYTES
    ]
    rng.shuffle(paths)
    count = 0
    for path in paths:
        if count >= LIMITS["tests"]:
            return
        texts[path], found = test_questions(
            texts[path], language_of(path), path, 1 + choice(path, TESTS_OF_A_FILE)
        )
        count += len(found)
        for query, first, last in found:
            yield Asked(query, "tests", ((path, first, last),))


def _is_ours(path: str, texts: dict[str, str]) -> bool:
    """Whether a file is the project's own code: no test, example, copy or a program's output."""
    if LEFT_OUT.search(path) or _TESTED.search(path) or _NOT_OURS.search(path):
        return False
    text = texts[path]
    return len(text) <= MAX_BYTES and not GENERATED.search(text[:600])


def _spread(found: list[Asked], limit: int, rng: random.Random, taken: Counter[str]) -> list[Asked]:
    """Some of the questions, those about files that few others are about first."""
    rng.shuffle(found)
    kept: list[Asked] = []
    for one in sorted(found, key=lambda one: min(taken[one.targets[0][0]], 2)):
        if len(kept) == limit:
            break
        if taken[one.targets[0][0]] < 4:
            kept.append(one)
            taken[one.targets[0][0]] += 1
    return kept


def _once(asked: Iterable[Asked]) -> list[Asked]:
    return list({one.query.lower(): one for one in asked}.values())
