"""Regular expressions that are compiled when a text may match them.

Compiling a long regular expression takes a millisecond or more. Compiling all expressions that
recognize questions, orders to agents and facts about a user would take a tenth of the time of a
command, and most texts match none of them.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass
from functools import cache
from typing import Final

_WORD: Final = re.compile(r"[a-z]+")


@dataclass(frozen=True, slots=True)
class LazyPattern:
    """A regular expression that is compiled on first use."""

    source: str
    # Every text that matches contains at least one word of each set, in upper or lower case.
    words: tuple[frozenset[str], ...] = ()
    flags: re.RegexFlag = re.IGNORECASE

    def may_match(self, words: Set[str]) -> bool:
        """Return whether a text with these words, from `words_in`, contains the needed words."""
        return not any(map(words.isdisjoint, self.words))

    @property
    def compiled(self) -> re.Pattern[str]:
        return _compile(self.source, self.flags)


def lazy_pattern(source: str, *words: str) -> LazyPattern:
    """Return a pattern that ignores case.

    Each of the `words` is a list of alternatives, separated by "|". Every text that matches must
    contain at least one alternative of each list, as a whole word. Of an alternative such as "got
    rid of", only the first word counts.
    """
    sets = (
        frozenset(alternative.split()[0] for alternative in alternatives.split("|"))
        for alternatives in words
    )
    return LazyPattern(source, tuple(sets))


def words_in(text: str) -> frozenset[str]:
    """Return the sequences of the letters a to z in a text, in lower case."""
    return frozenset(_WORD.findall(text.casefold()))


@cache
def _compile(source: str, flags: re.RegexFlag) -> re.Pattern[str]:
    return re.compile(source, flags)
