"""Sentences of comments without markup and preamble; those with little content are dropped."""

from __future__ import annotations

import re
from typing import Final

from benchmarks.common.labels import content_words

from rootle.text.terms import WORD, split_identifier, whole_identifier
from training.corpus.text_cleaning import is_prose

MIN_CONTENT_WORDS: Final = 4  # a query with fewer content words is ambiguous
MIN_NEW_WORDS: Final = 2  # content words of a query that are not in the name
MIN_WORDS: Final = 7  # in a shortened sentence
MAX_WORDS: Final = 22

_INLINE: Final = (
    (re.compile(r"\{@\w+\s*([^}]*)\}"), r"\1"),
    (re.compile(r":[\w:]+:`~?([^`<]*)(?:<[^`>]*>)?`"), r"\1"),
    (re.compile(r"[@\\](?:c|p|a|ref|em|b|code|link)\s+(?=\S)"), ""),
    (re.compile(r"\[+`?([^\]\[`]+)`?\]+(?:\[[^\]]*\]|\([^)]*\))?"), r"\1"),
    (re.compile(r"`+([^`]*)`+_?"), r"\1"),
    (re.compile(r"(?<!\w)[*_]{1,2}([\w][^*_]*)[*_]{1,2}(?!\w)"), r"\1"),
    (re.compile(r"&(?:lt|gt|amp|quot|nbsp|#\d+);"), " "),
    (re.compile(r"\s*\([^()]*\)"), ""),
    (re.compile(r"\s+-{1,3}\s.*|\s+[–—]\s.*"), ""),
)
# Phrases at the start of a comment that add nothing to a query.
_PREAMBLE: Final = re.compile(
    r"^(?:(?:(?:this|the|a|an)\s+)?(?:(?:internal|private|public|small|simple|convenience|utility|static"
    r"|helper|generic|abstract|base|main)\s+)*(?:function|method|class|module|interface|struct|trait"
    r"|routine|macro|constructor|procedure|hook|component|type|property|object|filter|script|helper"
    r"|command|task|middleware|rule|operator|callback|utility|convenience|this)\s+"
    r"(?:is\s+(?:used|called|responsible)\s+(?:to|for|when|by)\s+|(?:that|which|to|will)\s+"
    r"|can\s+be\s+used\s+(?:to|for)\s+|is\s+(?=an?\s)|(?=[a-z]+s\s+(?:the|an?|all|if|whether)\b))"
    r"|(?:is\s+)?used\s+(?:to|for)\s+|allows?\s+(?:you\s+|users?\s+)?to\s+)",
    re.IGNORECASE,
)
_CODE: Final = re.compile(r"[|]>|->|=>|==|:=|[{}\\;]|&&|\|\||\w\(\w*\)\.|/\*|\$\w")
# Words that begin or fill comments and mean little in a query.
WEAK_WORDS: Final = frozenset(
    "return returns returned given class provides provide represents represent used called current "
    "specified corresponding underlying appropriate suitable always helper function method object "
    "value values instance true false".split()
)
_UNUSABLE: Final = re.compile(
    r"todo|fixme|xxx\b|hack\b|deprecat|inheritdoc|see (?:also|above|below|the)|\bbelow\b|\babove\b"
    r"|^note\b|^warning|^see\b|^n\.?b\b|^same as|^like\b|^similar|^ditto|^alias|^default"
    r"|^example|^for example|\bsee\b|\bissue\b|\bbug\b|#\d|\b\d{4}-\d\d|@\w"
    r"|^e\.g|^i\.e|^but\b|^and\b|^or\b|^also\b|^we\b|^i\b|^it\b|^you\b|^if\b|^then\b|^so\b|^these\b"
    r"|^otherwise|^however|^here\b|^now\b|^because|^since|^please|^constructor|^getter|^setter"
    r"|^default constructor|^creates? an? (?:new )?instance|^\w+ implementation\.?$|^copyright"
    r"|^dummy|^stub|^no-?op|^not (?:used|implemented)|^unused|^temporary|^internal\b"
    r"|\b(?:we|our|us|i|they|my|let's|because|workaround|work around|currently|legacy)\b|refactor"
    r"|backwards?[- ]compat|overload|\bfulfil|\banother (?:function|method)|don't|\bno longer\b"
    r"|\bauthor|\bthis (?:is|test|function|method|class)\b|^start\b.*\bof\b|^shellcheck"
    r"|swiftlint|rubocop|ktlint|phpcs|phpstan|pragma|noinspection|codecov|istanbul|^no\b|^null\b"
    r"|getters? and setters?|\bsection\b|\(c\)|^version|^experimental|^nolint|^go:|^tslint",
    re.IGNORECASE,
)
UNFINISHED: Final = re.compile(
    r"(?:[:,;(/]|\.\.\.|…|\b(?:e\.?g|i\.?e|etc|vs|cf|aka|resp|the|a|an|of|to|for|and|or|in|on|by|with"
    r"|that|which|if|when|from|as|is|are|be|not|see|at))\.?$",
    re.IGNORECASE,
)
_CUTS: Final = re.compile(
    r"(?:,|;)\s|\s(?=(?:so that|which|because|when|unless|while|before|after|since|until|where|as "
    r"well as|in order to|based on|according to|without|depending on)\b)"
)
_HEADLESS: Final = frozenset("for of to in that which this with by on".split())


def clean_sentence(sentence: str, name: str) -> str | None:
    """Return a sentence about `name` without markup, preamble and the leading name.

    Return None if too little content is left.
    """
    if _UNUSABLE.search(sentence):
        return None
    text = sentence
    for pattern, replacement in _INLINE:
        text = pattern.sub(replacement, text)
    text = _strip_name(" ".join(text.split()), name)
    text = _PREAMBLE.sub("", text)
    text = re.sub(r"^(?:is|are)\s+", "", text).strip(" .!-*•#|>")
    if text[:1] == text[-1:] == '"':
        text = text[1:-1].strip(" .")
    if len(text.split()) > MAX_WORDS:
        text = _shorten(text)
    return text if _is_usable(text) and _has_content(text, name) else None


def repeats_name(text: str, name: str) -> bool:
    """Return whether a text contains a name of several words, in any spelling."""
    if len(split_identifier(name)) < 2:
        return False
    whole = whole_identifier(name)
    return any(whole_identifier(word) == whole for word in WORD.findall(text))


def _is_usable(text: str) -> bool:
    if not text or _UNUSABLE.search(text) or UNFINISHED.search(text) or _CODE.search(text):
        return False
    if text.split()[0].lower() in _HEADLESS or text.count("[") != text.count("]"):
        return False
    return text.isascii() and text.count('"') % 2 == 0 and is_prose(text)


def _has_content(text: str, name: str) -> bool:
    known = {part for word in WORD.findall(name) for part in split_identifier(word)}
    words = content_words(text)
    # `returns PrivateKeyNumbers` has many subwords, but its only content is a name.
    strong = [word for word in WORD.findall(text) if word.lower() not in WEAK_WORDS]
    return (
        len(strong) >= MIN_CONTENT_WORDS
        and len(words) >= MIN_CONTENT_WORDS
        and len([word for word in words if word not in known]) >= MIN_NEW_WORDS
    )


def _strip_name(text: str, name: str) -> str:
    """Remove a leading name, as in `Foo returns x` (Go comments), `foo() -> x` and `Foo: x`."""
    head = re.match(rf"(?:[Tt]he\s+)?{re.escape(name)}(?:\(\))?\s*(?::|->|=>|,)?\s+(?=\w)", text)
    return text[head.end() :] if head else text


def _shorten(text: str) -> str:
    """Return a text cut at the end of a clause, or "" if no cut gives a suitable length."""
    ends = [match.start() for match in _CUTS.finditer(text)]
    fitting = [end for end in ends if MIN_WORDS <= len(text[:end].split()) <= MAX_WORDS]
    return text[: fitting[-1]].strip(" ,;") if fitting else ""
