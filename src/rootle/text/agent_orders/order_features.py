"""Features of the sentences of a text, from which a linear model recognizes orders to an agent."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from typing import Final, NamedTuple

from rootle.text.agent_orders.word_kinds import KINDS, UNSEPARATED

# The number of sentences in a window, and the length at which a sentence is cut.
WINDOW_SENTENCES: Final = 4
_MAX_SENTENCE_CHARS: Final = 300
_MIN_SENTENCE_CHARS: Final = 25  # a shorter sentence is joined with the next one
_END: Final = re.compile(r"(?<![.!?])[.!?]+[)\"'*]*(?= )|[。！？]")
_TOKEN: Final = re.compile(
    r"(?P<url>https?:/|www\.)[^\s)\]>\"']{1,300}|(?P<email>[\w.+-]{1,40}@[\w-]{1,40}\.[\w.-]{1,40})|"
    r"(?P<secret>\.env\b|~/\.\w{1,20}|id_rsa\b|/etc/passwd)|(?P<image>!\[)|"
    r"(?P<comment><!--|/\*|\[//\])|(?P<markup><\|?/?(?:system|user|assistant|im_)|\[/?inst\])|"
    r"(?P<host>[\w-]{2,40}(?:\.[\w-]{2,40}){0,4}\.(?:com|org|net|io|dev|sh)\b)|"
    r"(?P<word>[^\W\d_]{1,40}(?:[-'][^\W\d_]{1,20}){0,2})|(?P<code>`)|(?P<break>[:,;(—])"
)
_KINDS_OF_TOKENS: Final = {"host": "url", "comment": "comment"}
# Words in invented names. They are ignored, because they show who wrote an example, not what the
# example asks for.
_NAMES: Final = frozenset({"example", "placeholder"})
_CJK: Final = re.compile("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_UNSEPARATED: Final = re.compile("|".join(sorted(UNSEPARATED, key=len, reverse=True)))
_CALLS: Final = frozenset({"run", "send", "change", "ignore", "tell", "recommend", "answer"})


class Sentence(NamedTuple):
    """A part of a text, its features and the kinds of its words."""

    start: int
    end: int
    features: frozenset[str]
    kinds: frozenset[str]


def read_sentences(plain: str) -> list[Sentence]:
    """Return the sentences of a normalized text, in order."""
    return [_read(plain, start, end) for start, end in _split(plain)]


def window_features(window: Sequence[Sentence], groups: Collection[str]) -> set[str]:
    """Return the features of adjacent sentences. `groups` are the groups of the signs in them."""
    features = set[str]().union(*(one.features for one in window))
    kinds = set[str]().union(*(one.kinds for one in window))
    features.update(f"{first}&{second}" for first, second in combinations(sorted(kinds), 2))
    signs = sorted(groups)
    features.update(f"={group}" for group in signs)
    return features


def _split(plain: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _END.finditer(plain):
        if match.end() - start >= _MIN_SENTENCE_CHARS or _CJK.search(plain, start, match.end()):
            yield from _cut(start, match.end())
            start = match.end()
    yield from _cut(start, len(plain))


def _cut(start: int, end: int) -> Iterator[tuple[int, int]]:
    for at in range(start, end, _MAX_SENTENCE_CHARS):
        yield at, min(end, at + _MAX_SENTENCE_CHARS)


def _read(plain: str, start: int, end: int) -> Sentence:
    features, kinds = set[str](), set[str]()
    before, opens = "^", True  # the previous word or kind, and whether a clause begins
    for match in _TOKEN.finditer(plain, start, end):
        name = match.lastgroup or ""
        if name == "break":
            opens = True
            continue
        word = match.group() if name == "word" else ""
        kind = KINDS.get(word) if word else _KINDS_OF_TOKENS.get(name, name)
        if word in _NAMES:
            continue
        if word:
            features.add(word)
        if kind:
            kinds.add(kind)
            features.add(f"<{kind}>")
            if opens and kind in _CALLS:
                kinds.add("call")
                features.add(f"!{kind}")
        now = f"<{kind}>" if kind else word
        features.add(f"{before} {now}")
        before = now
        opens = word in ("please", "then", "and", "kindly", "to", "also", "must")
    if _CJK.search(plain, start, end):
        for match in _UNSEPARATED.finditer(plain, start, end):
            kinds.add(UNSEPARATED[match.group()])
            features.add(f"<{UNSEPARATED[match.group()]}>")
    return Sentence(start, end, frozenset(features), frozenset(kinds))
