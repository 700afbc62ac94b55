"""Sentences of comments, phrased as search queries: keywords, questions or statements."""

from __future__ import annotations

import re
import zlib
from typing import Final

from benchmarks.common.labels import content_words

from rootle.text.terms import WORD, split_identifier
from training.questions.comment_cleaning import WEAK_WORDS, clean_sentence, repeats_name
from training.questions.verbs import base_form, third_person, unlisted_base_form

MIN_KEYWORDS: Final = 4
MAX_KEYWORDS: Final = 6
MAX_NOUN_WORDS: Final = 10
# Percentages of the sentences; the remaining sentences stay statements.
KEYWORD_PERCENTAGE: Final = 25
QUESTION_PERCENTAGE: Final = 45
NAMES_PER_REPEAT: Final = 8  # one in eight queries may repeat the name of the definition

# Verbs that describe what a class is rather than what it does.
_STATIVE: Final = frozenset(
    "represent provide define describe contain hold indicate specify implement encapsulate model "
    "declare expose".split()
)
_WHETHER: Final = re.compile(
    r"^(?:whether\s+(?:or\s+not\s+)?|(?:returns?|gets?|checks?|tests?|determines?|decides?|tells?|says?"
    r"|indicates?|true|checking)\s+(?:\w+\s+)?(?:(?:true|false|nil|non-?zero|1|#t|yes)\s+)?"
    r"(?:whether\s+or\s+not|whether|iff?|when)\s+)",
    re.IGNORECASE,
)
_ARTICLE: Final = re.compile(r"^(?:an?|the)\s+", re.IGNORECASE)


def hash_choice(key: str, count: int) -> int:
    """Return a number from 0 to `count` - 1 that depends only on `key`."""
    return zlib.crc32(key.encode("utf-8", "replace")) % count


def comment_query(sentence: str, name: str) -> str | None:
    """Return a query from a sentence above `name`, or None if it has too little content."""
    text = clean_sentence(sentence, name)
    if text is None or (repeats_name(text, name) and hash_choice(text, NAMES_PER_REPEAT)):
        return None
    return phrase(text)


def phrase(text: str) -> str:
    """Return keywords, a question or a statement, always the same for the same text."""
    number = hash_choice(text, 100)
    if number < KEYWORD_PERCENTAGE and len(keywords(text).split()) >= MIN_KEYWORDS:
        return keywords(text)
    if number < KEYWORD_PERCENTAGE + QUESTION_PERCENTAGE:
        question = _ask(text)
        return question if hash_choice(text, 3) else question.rstrip("?")
    return _lower_first(text)


def keywords(text: str) -> str:
    """Return up to six content words in order, as typed into a search box."""
    wanted = content_words(text)
    found = dict.fromkeys(
        word.lower() if word.istitle() else word
        for word in WORD.findall(text)
        if any(part in wanted for part in split_identifier(word))
    )
    strong = [word for word in found if word.lower() not in WEAK_WORDS]
    return " ".join((strong if len(strong) >= MIN_KEYWORDS else list(found))[:MAX_KEYWORDS])


def _ask(text: str) -> str:
    first, _, rest = text.partition(" ")
    number = hash_choice(text[::-1], 6)
    whether = _WHETHER.match(text)
    if whether:
        forms = ("how does it decide whether {}?", "where is it checked whether {}?", "check if {}")
        return forms[number % 3].format(text[whether.end() :])
    base = base_form(first) or unlisted_base_form(first, rest)
    if base in _STATIVE and first.lower() != base:
        noun = _ARTICLE.sub("", rest)
        stative = (
            f"what {third_person(base)} {rest}?",
            noun,
            f"which class {first.lower()} {rest}",
        )
        return stative[number % 3]
    if base is None or rest.split(" ")[0] in {"of", "for", "is", "are", "that", "which", "to"}:
        return _ask_for_noun(_lower_first(text), number)
    actions = (
        f"how does it {base} {rest}?",
        f"where does it {base} {rest}?",
        f"which function {third_person(base)} {rest}?",
        f"where is the code that {third_person(base)} {rest}",
        f"how do I {base} {rest}?",
        f"{base} {rest}",
    )
    return actions[number]


def _ask_for_noun(noun: str, number: int) -> str:
    if re.search(r"\b(?:is|are|was|were|has|have|can|must|should|will|may|be)\b", noun):
        return noun
    bare = _ARTICLE.sub("", noun)
    if len(bare.split()) > MAX_NOUN_WORDS or bare.split()[0].endswith("ing"):
        return bare
    return (f"where is the {bare}?", f"find the {bare}", bare, noun)[number % 4]


def _lower_first(text: str) -> str:
    first = text.partition(" ")[0]
    return text if not first[1:].islower() and first != "A" else text[0].lower() + text[1:]
