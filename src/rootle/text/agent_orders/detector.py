"""Detect text that gives orders to an agent instead of informing it.

Web pages and other texts from strangers can contain sentences for the models that read them:
"ignore the previous instructions", "do not tell the user". The detector uses patterns, called
signs, that indicate such orders. It adds up the weights of signs that occur close to each other,
and a linear model adds up the weights of the words. The detector does not recognize intentions: it
also flags a page about such attacks, and it misses orders in words that neither its patterns nor
its model contain.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from operator import itemgetter
from typing import Final

from rootle.text.agent_orders.address_patterns import ADDRESS_SIGNS
from rootle.text.agent_orders.answer_patterns import ANSWER_SIGNS
from rootle.text.agent_orders.linear_model import FoundSign, strongest_sentence
from rootle.text.agent_orders.order_patterns import ORDER_SIGNS
from rootle.text.agent_orders.prefilter import LiteralFilter
from rootle.text.agent_orders.signs import SURE
from rootle.text.agent_orders.translated_patterns import TRANSLATED_SIGNS

# The patterns are matched against lower-case text with single spaces. Each repetition is bounded,
# so the time is proportional to the length of the text. The weights were chosen on the development
# half of the data of benchmarks/quality/agent_orders.py: an English sign that never occurs in
# ordinary text weighs nearly 1. If the sum of the weights is below SURE, the linear model decides,
# and the sum is one of its features.
_SIGNS: Final = (*ADDRESS_SIGNS, *ORDER_SIGNS, *ANSWER_SIGNS, *TRANSLATED_SIGNS)
THRESHOLD: Final = 1.0
# The weight of a sign is added to those of the signs within this many characters after its start.
_WINDOW_CHARS: Final = 400
_MAX_CHARS: Final = 100_000
_MAX_MATCHES: Final = 200  # matches of one sign that are used
_MAX_QUOTE_CHARS: Final = 120
# Unicode tags spell a text that people do not see.
_TAGS: Final = re.compile("[\U000e0020-\U000e007e]{4,}")
# Long sequences of zero-width characters can also encode a text that people do not see.
_HIDDEN_BITS: Final = re.compile("[\u200b-\u200d\u2060-\u2064\ufeff]{8,}|[\ufe00-\ufe0f]{4,}")
_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u206a-\u206f"
    "\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f]"
)
# Words that mix Latin with Greek or Cyrillic letters, some of which look like Latin letters.
_MIXED_WORD: Final = re.compile(
    r"(?=\w{0,30}[a-z])(?=\w{0,30}[\u0370-\u03ff\u0400-\u04ff])\w{2,40}"
)
_LOOKALIKES: Final = str.maketrans(
    "\u0430\u0435\u0456\u043e\u0440\u0441\u0445\u0443\u0455\u0458\u04cf\u0501\u0475\u0442\u043a\u043c\u043d\u0432"
    "\u03b1\u03bf\u03b9\u03bd\u03c1\u03c4\u03c5\u03ba\u03b5",
    "aeiopcxysjldvtkmhbaoivptuke",
)
_SPACES: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class AgentOrders:
    """Orders to an agent that occur in a text."""

    score: float  # at least THRESHOLD
    quote: str  # the beginning of the text around the signs, on one line
    groups: tuple[str, ...]  # the kinds of signs, such as "ignore" and "conceal"


@lru_cache(maxsize=128)  # an answer may examine a passage twice
def find_orders(text: str) -> AgentOrders | None:
    """Return the clearest orders to an agent in a text; None if there are none.

    The first 100,000 characters are searched for orders, and the whole text is searched for
    invisible characters.
    """
    if _TAGS.search(text) or _HIDDEN_BITS.search(text):
        return AgentOrders(THRESHOLD, "(text in invisible characters)", ("hidden",))
    plain = normalize(text[:_MAX_CHARS])
    signs = match_signs(plain)
    best: AgentOrders | None = None
    for score, start, end, groups in _windows(signs):
        if score >= SURE and (best is None or score > best.score):
            best = AgentOrders(round(score, 2), _quote(plain, start, end), groups)
    return best or _find_by_words(plain, signs)


def describe_orders(text: str) -> str | None:
    """Return a warning about a text that gives orders to an agent; None for other texts."""
    found = find_orders(text)
    return None if found is None else f"this text gives orders to an agent: {found.quote}"


def _find_by_words(plain: str, signs: list[FoundSign]) -> AgentOrders | None:
    found = strongest_sentence(plain, signs)
    if found is None or found.score < THRESHOLD:
        return None
    return AgentOrders(
        round(found.score, 2),
        _quote(plain, found.start, found.end),
        (*found.groups, "words"),
    )


def normalize(text: str) -> str:
    """Return a text in lower case with single spaces and without invisible characters."""
    plain = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).replace("\u2019", "'")
    plain = _SPACES.sub(" ", plain.lower())
    return _MIXED_WORD.sub(lambda word: word[0].translate(_LOOKALIKES), plain)


def match_signs(plain: str) -> list[FoundSign]:
    """Return the start, end, group and weight of each match of a sign, in order."""
    found = []
    for at in _open_filter().possible(plain):
        sign = _SIGNS[at]
        for count, match in enumerate(sign.regex.compiled.finditer(plain)):
            if count >= _MAX_MATCHES:
                break
            found.append((match.start(), match.end(), sign.group, sign.weight))
    return sorted(found)


@cache
def _open_filter() -> LiteralFilter:
    return LiteralFilter([sign.regex.source for sign in _SIGNS])


def _windows(
    found: list[FoundSign],
) -> Iterator[tuple[float, int, int, tuple[str, ...]]]:
    """Yield the score, start, end and groups of each sign and the signs that closely follow it.

    The score is the sum of their weights. If several signs belong to one group, only the strongest
    counts. The start is that of the strongest sign.
    """
    for at, (start, _, _, _) in enumerate(found):
        best: dict[str, float] = defaultdict(float)
        near = [one for one in found[at : at + 60] if one[0] <= start + _WINDOW_CHARS]
        for _, _, group, weight in near:
            best[group] = max(best[group], weight)
        strongest = max(near, key=itemgetter(3))
        last = max(end for _, end, _, _ in near)
        yield sum(best.values()), strongest[0], last, tuple(sorted(best))


def _quote(plain: str, start: int, end: int) -> str:
    quote = plain[start:end].strip(" #*>-|\"'/<!")
    return quote if len(quote) <= _MAX_QUOTE_CHARS else f"{quote[: _MAX_QUOTE_CHARS - 1]}…"
