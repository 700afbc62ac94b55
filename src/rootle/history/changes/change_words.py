"""The words for changes: what was done, in questions and in commit messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import cache
from types import MappingProxyType
from typing import Final

from rootle.text.stemmer import open_stemmer

_stemmer: Final = cache(open_stemmer)


class Action(Enum):
    """The kinds of changes that questions ask about."""

    REMOVAL = "removal"
    DEPRECATION = "deprecation"
    REPLACEMENT = "replacement"
    RENAME = "rename"
    ADDITION = "addition"
    REVERSION = "reversion"
    UPGRADE = "upgrade"  # of a version or a number; a question about it names no new value


# Patterns for texts in lower case. Upgrades have their own pattern, because many messages about
# another change contain "update".
VERBS: Final[Mapping[Action, str]] = MappingProxyType(
    {
        Action.REMOVAL: (
            r"remov(?:e|es|ed|ing|al)|delet(?:e|es|ed|ing|ion)|drop(?:s|ped|ping)?"
            r"|(?:get|gets|got|getting) rid of|kill(?:s|ed)?|purge[sd]?|eliminat(?:e|es|ed|ing)"
            r"|stop(?:s|ped)? (?:us|support|depend|requir|bundl|ship|work|publish|build|test)"
            r"\w{0,10}"
            r"|discontinue[sd]?|no longer|disappear(?:s|ed)?|go(?:es)? away"
        ),
        Action.DEPRECATION: r"(?:soft-)?deprecat(?:e|es|ed|ing|ion)",
        Action.REPLACEMENT: (
            r"replac(?:e|es|ed|ing|ement)|switch(?:es|ed|ing)?|migrat(?:e|es|ed|ing|ion)"
            r"|transition(?:s|ed|ing)?(?= (?:\S{1,60} ){0,4}?(?:from|to)\b)"
            r"|(?:bump|rais|upgrad|updat|increas|lower|downgrad)(?:s|e|es|ed|ing)?"
            r"(?= (?:\S{1,60} ){0,4}?(?:from|to) \S{0,20}\d)"
            r"|convert(?:s|ed)?|swap(?:s|ped)?|instead of|in favou?r of"
            r"|port(?:s|ed)?(?= (?:to|from))"
            r"|(?:mov|chang)(?:e|es|ed|ing)(?= (?:\S{1,60} ){0,4}?(?:from|to)\b)"
            r"|[=-]>|→"
        ),
        # "When did X become the default" does not ask about a new name.
        Action.RENAME: (
            r"renam(?:e|es|ed|ing)|be(?:come|came)s?(?! (?:the |an? )?(?:default|optional|mandatory"
            r"|required|obsolete|stable|public|private|possible|available|deprecated|unused)\b)"
        ),
        Action.ADDITION: (
            r"add(?:s|ed|ing)?|introduc(?:e|es|ed|ing|tion)|implement(?:s|ed|ing)?|creat(?:e|es|ed)"
        ),
        Action.REVERSION: r"revert(?:s|ed|ing)?|undid|back(?:s|ed|ing)? out",
    }
)
_ACTION: Final = re.compile(
    r"(?<![\w-])(?:"
    + "|".join(f"(?P<{action.value}>{words})" for action, words in VERBS.items())
    + r")(?![\w-])"
)
_UPGRADE: Final = re.compile(
    r"(?<![\w-])(?:bump|rais|upgrad|updat|increas)(?:s|e|es|ed|ing)?(?![\w-])"
)
# Words, and their parts, with whole numbers: "letEnv 3.5" -> let Env 3.5.
_WORD: Final = re.compile(r"\d+(?:\.\d+)*|[^\W\d_]+")
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+")
# Appended to the stem of a word that ends in "i" or "is". Otherwise, "pypi" and "pypy" would have
# the same stem.
_FINAL_I: Final = "'"


def find_actions(text: str, asked: Action | None = None) -> list[tuple[Action, int, int]]:
    """Return the words for changes in a text, each with its first and end position, in order.

    Words for upgrades are found only if they are asked for.
    """
    lowered = text.lower()
    others = [
        (Action(found.lastgroup), found.start(), found.end()) for found in _ACTION.finditer(lowered)
    ]
    if asked is not Action.UPGRADE:
        return others
    upgrades = {found.start(): found.end() for found in _UPGRADE.finditer(lowered)}
    kept = [one for one in others if one[1] not in upgrades]
    found = [(Action.UPGRADE, start, end) for start, end in upgrades.items()]
    return sorted([*kept, *found], key=lambda one: one[1])


def stems_in_order(text: str) -> list[str]:
    """Return the stems of all parts of words in a text, and its numbers, such as "3.5"."""
    return _stem(part for word in _WORD.findall(text) for part in _PART.findall(word) or [word])


def stem_line(text: str, *, has_parts: bool = True) -> str:
    """Return the stems of a text, with a space before and after each.

    With `has_parts`, the parts of a word with capitals follow the word: "WebSocket" -> websocket
    web socket.
    """
    terms: list[str] = []
    for word in _WORD.findall(text):
        parts = _PART.findall(word) if has_parts else []
        terms += [word, *parts] if len(parts) > 1 else [word]
    return f" {' '.join(_stem(terms))} "


def index_stems(stems: str) -> str:
    """Convert stems to the form in the word index, which does not mark a final "i"."""
    return stems.replace(_FINAL_I, "")


def _stem(terms: Iterable[str]) -> list[str]:
    words = " ".join(terms).lower()
    return [
        f"{stem}{_FINAL_I}" if stem.endswith("i") and word.endswith(("i", "is")) else stem
        for word, stem in zip(words.split(), _stemmer()(words), strict=True)
    ]
