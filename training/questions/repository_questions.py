"""Questions about one repository, and its texts without the comments and titles behind them."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from benchmarks.common.labels import HARD_SHARE, word_overlap

from rootle.syntax.grammars import GRAMMARS
from rootle.text.languages import PROSE, file_language
from rootle.text.terms import WORD
from training.corpus.sampling import EXCLUDED_PATHS, GENERATED, HEADER_CHARS, MAX_BYTES
from training.corpus.source_chunks import split_file
from training.questions.case_titles import title_questions
from training.questions.chunk_questions import (
    CodeQuestion,
    heading_questions,
    message_questions,
    name_questions,
)
from training.questions.doc_comments import DocQuestion, doc_questions, remove_docs
from training.questions.phrasing import hash_choice

# Maximum number of questions per project, by kind. Most are about behavior, as in real queries.
LIMITS: Final = {
    "behaviour": 40, "error": 7, "documentation": 5, "symbol": 4, "tests": 6, "usage": 4,
}  # fmt: skip
EASY_SHARE: Final = 0.8  # the share of a limit that easy candidates may fill first
MAX_FILE_DOCS: Final = 2
MAX_FILE_TESTS: Final = 2
MAX_FILE_QUESTIONS: Final = 4

_SECONDARY: Final = re.compile(
    r"(?:^|/)(?:\.|examples?|samples?|demos?|bench(?:marks?|es)?|playground|fastlane|tutorials?"
    r"|docs?)/",
    re.IGNORECASE,
)
_TEST: Final = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__|testing|[\w.]*tests)/|[._-](?:test|spec)s?\.\w+$"
    r"|(?:^|/)test_|(?:Tests?|TestCase|Spec)\.\w+$",
    re.IGNORECASE,
)

Texts = dict[str, str]  # by path


def make_questions(
    texts: Mapping[str, str], rng: random.Random
) -> tuple[list[CodeQuestion], Texts]:
    """Return questions about a repository, and its texts without the sources of these questions."""
    changed = dict(texts)
    words = normalize_words(changed)
    questions = list(_ask_docs(changed, words, rng)) + list(_ask_tests(changed, rng))
    chunks = [
        chunk
        for path, text in changed.items()
        if len(text) <= MAX_BYTES
        and (file_language(path) in GRAMMARS or file_language(path) in PROSE)
        for chunk in split_file(path, file_language(path), text, 0)
    ]
    primary = [one for one in chunks if one.language in PROSE or is_primary(one.path, changed)]
    symbols, usages = name_questions(chunks)
    by_kind = {
        "error": list(message_questions(primary)),
        "documentation": list(heading_questions(chunks)),
        "symbol": [one for one in symbols if is_primary(one.targets[0][0], changed)],
        "usage": usages,
    }
    per_file = Counter(path for one in questions for path, _, _ in one.targets)
    for kind, found in by_kind.items():
        questions += _sample_evenly(found, LIMITS[kind], rng, per_file)
    return _drop_duplicates(questions), changed


def _ask_docs(texts: Texts, words: Sequence[str], rng: random.Random) -> Iterator[CodeQuestion]:
    """Yield questions from doc comments, and remove these comments from the texts."""
    paths = [path for path in texts if file_language(path) in GRAMMARS and is_primary(path, texts)]
    candidates: list[tuple[str, DocQuestion]] = []
    for path in paths:
        found = doc_questions(texts[path], file_language(path), path)
        candidates += [(path, question) for question in found]
    rng.shuffle(candidates)
    for path, questions in _choose_docs(candidates, words).items():
        texts[path], spans = remove_docs(texts[path], questions)
        for question, (first, last) in zip(questions, spans, strict=True):
            yield CodeQuestion(question.query, "behaviour", ((path, first, last),))


def _choose_docs(
    candidates: Sequence[tuple[str, DocQuestion]], words: Sequence[str]
) -> dict[str, list[DocQuestion]]:
    """Return the chosen questions, grouped by path: unique, few per file, easy ones first.

    Hard questions, whose comments use other words than the code, are more frequent among the
    candidates than in practice.
    """
    queries = Counter(question.query.lower() for _, question in candidates)
    chosen: dict[str, list[DocQuestion]] = defaultdict(list)
    left = LIMITS["behaviour"]
    easy = [one for one in candidates if not _is_hard(one[1])]
    for path, question in [*easy[: int(EASY_SHARE * left)], *candidates]:
        file_questions = chosen[path]
        if not left or len(file_questions) == MAX_FILE_DOCS or question in file_questions:
            continue
        if queries[question.query.lower()] == 1 and count_sentence(question.sentence, words) <= 1:
            file_questions.append(question)
            left -= 1
    return chosen


def _is_hard(question: DocQuestion) -> bool:
    return word_overlap(question.query, question.code) <= HARD_SHARE


def _ask_tests(texts: Texts, rng: random.Random) -> Iterator[CodeQuestion]:
    """Yield questions from titles of test cases, and remove these titles from the texts."""
    paths = [
        path
        for path in texts
        if _TEST.search(path) and file_language(path) in GRAMMARS and len(texts[path]) <= MAX_BYTES
    ]
    rng.shuffle(paths)
    count = 0
    for path in paths:
        if count >= LIMITS["tests"]:
            return
        limit = 1 + hash_choice(path, MAX_FILE_TESTS)
        texts[path], found = title_questions(texts[path], file_language(path), path, limit)
        count += len(found)
        for one in found:
            yield CodeQuestion(one.query, "tests", ((path, one.first_line, one.last_line),))


def is_primary(path: str, texts: Mapping[str, str]) -> bool:
    """Return whether a file is a source file of the project itself.

    Tests, examples, third-party files and generated files are not primary.
    """
    if EXCLUDED_PATHS.search(path) or _TEST.search(path) or _SECONDARY.search(path):
        return False
    text = texts[path]
    return len(text) <= MAX_BYTES and not GENERATED.search(text[:HEADER_CHARS])


def normalize_words(texts: Mapping[str, str]) -> list[str]:
    """Return each text as lower-case words with single spaces, without markup and line breaks."""
    return [f" {' '.join(WORD.findall(text.lower()))} " for text in texts.values()]


def count_sentence(sentence: str, words: Sequence[str]) -> int:
    """Count a sentence in normalized texts; stop when it occurs more than once."""
    wanted = f" {' '.join(WORD.findall(sentence.lower()))} "
    times = 0
    for text in words:
        times += text.count(wanted)
        if times > 1:
            break
    return times


def _sample_evenly(
    questions: list[CodeQuestion], limit: int, rng: random.Random, per_file: Counter[str]
) -> list[CodeQuestion]:
    """Return random questions, preferring files with few questions; count them in `per_file`."""
    rng.shuffle(questions)
    chosen: list[CodeQuestion] = []
    for question in sorted(questions, key=lambda one: min(per_file[one.targets[0][0]], 2)):
        if len(chosen) == limit:
            break
        if per_file[question.targets[0][0]] < MAX_FILE_QUESTIONS:
            chosen.append(question)
            per_file[question.targets[0][0]] += 1
    return chosen


def _drop_duplicates(questions: Iterable[CodeQuestion]) -> list[CodeQuestion]:
    return list({one.query.lower(): one for one in questions}.values())
