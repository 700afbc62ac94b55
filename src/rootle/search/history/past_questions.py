"""Recognize questions that commits answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from rootle.search.query.syntax import parse_query

HISTORY: Final = "history"
_HASH: Final = re.compile(r"(?:git:|commit[ :]+)?([0-9a-f]{7,64})", re.IGNORECASE | re.ASCII)
_RANGE: Final = re.compile(r"([\w./@^~-]*[\w@^~])\.\.\.?([\w./@^~-]+)", re.ASCII)
# With a past event, not with a state: "when is the cache cleared" asks about code.
_EVENT: Final = (
    r"(?:added|introduced|removed|deleted|dropped|changed|replaced|renamed|moved|rewritten|reverted"
    r"|deprecated|fixed|broken|disabled|enabled|merged|released|switched|stopped|started|split"
    r"|extracted|made|turned|bumped|raised|lowered|updated|upgraded|refactored|migrated)"
)
_PAST: Final = re.compile(
    rf"""\b(?:which|what|the) (?:last |latest |first )?(?:commits?|pull requests?|prs?|merges?)\b
        |\bwho (?:first |last |originally )?(?:{_EVENT}|wrote|did|made|broke|committed|touched)\b
        |\b(?:when|why|how come|since when)\ (?:was|were|did|has|have|had|is|are)\b.*
         \b(?:{_EVENT}|add|introduce|remove|delete|drop|change|replace|rename|move|rewrite|revert
         |deprecate|fix|break|disable|enable|switch|stop|start|split|appear|disappear|go\ away|gone
         |become|use\ to|used\ to|no\ longer|bump|raise|lower|upgrade|refactor|migrate)\b
        |\bwhat (?:has )?changed\b|\bchanges? (?:in|to|since|between)\b.*\b(?:since|between|last)\b
        |\b(?:last|latest|recent(?:ly)?|first) (?:change[ds]?|commits?|touched|modified|edits?)\b
        |\bhistory of\b|\bgit (?:log|blame|history|show)\b|\bblame\b
        |\bused to\b.*\b(?:but|now|before)\b|\bno longer\b.*\b(?:since|why|when)\b
        |\bwhy (?:do|does|did) (?:we|it|this|they|the)\b.*\b(?:no longer|not .* any ?more|stop)\b
        |\bcommit (?:that|which|where|in which|message)\b|^commits?\b(?=.*\bthat\b)
        |\bsince (?:version|release|commit|v?\d+\.\d+|last (?:week|month|year|release))\b
        |\bregression (?:in|from|since)\b|\bintroduced (?:in|by|with)\b""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_MAX_CHARS: Final = 400


@dataclass(frozen=True, slots=True)
class PastQuestion:
    """What a question asks of the commits."""

    asks_first: bool  # commits come before files
    excludes_files: bool = False  # `in:history`, a hash or a range
    commit: str = ""  # a hash or its beginning
    revisions: tuple[str, str] | None = None  # of a range: the older and the newer one


def parse_past_question(text: str) -> PastQuestion | None:
    """Return what a question asks of the commits; None if it asks only about files.

    Raise QueryError for invalid operators.
    """
    query = parse_query(text)
    stripped = query.text.strip().rstrip("?.!")
    if query.kinds and HISTORY not in query.kinds:
        return None
    only = query.kinds == (HISTORY,)
    if (found := _HASH.fullmatch(stripped)) and not stripped.isalpha():
        return PastQuestion(True, excludes_files=True, commit=found[1].lower())
    if found := _RANGE.fullmatch(stripped):
        return PastQuestion(True, excludes_files=True, revisions=(found[1], found[2]))
    if only:
        return PastQuestion(True, excludes_files=True)
    asks_first = _PAST.search(stripped[:_MAX_CHARS]) is not None
    return PastQuestion(asks_first) if asks_first or query.kinds else None
