"""Order the commits of a passage by how much of its meaning they explain."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

from rootle.provenance.contributions import Contributions

_NUMBER: Final = re.compile(
    r"(?:(?<![\w&/])(?:GH-|[#!])|\b(?:pull request|pull|issues?|PR|bug|closes|fixes)[ /:]+#?)"
    r"(\d{1,7})\b",
    re.IGNORECASE,
)
_TRAILER: Final = re.compile(
    r"^(?:Signed-off-by|Co-authored-by|Reviewed-by|Acked-by|Tested-by|Cc|Change-Id|git-svn-id"
    r"|Reviewed-on|Approved-by)\b.*$",
    re.IGNORECASE | re.MULTILINE,
)
_REASON: Final = re.compile(
    r"\b(?:fix(?:e[sd])?|because|since|avoid|prevent|otherwise|so that|in order to|instead"
    r"|regression|bug|crash|leak|race|deadlock|overflow|security|CVE|workaround|compat\w*"
    r"|support|allow|ensure|handle|faster|performance|break|broken|wrong|incorrect)\b",
    re.IGNORECASE,
)
_ROUTINE: Final = re.compile(
    r"^(?:refactor|style|chore|test|docs|ci|build)(?:\(.*?\))?!?:"
    r"|^(?:\w+(?:\(.*?\))?!?: *)?(?:wip|lint|format(?:ting)?|reformat|style|typos?|spelling"
    r"|renam\w+|clean ?up|refactor\w*|split\w*|mov(?:e|ed|ing)|bump|merge|initial (?:commit|import)"
    r"|import\w*|rubocop|clippy|rustfmt|gofmt|prettier|black|ruff|flake8|pyupgrade|eslint"
    r"|white ?space|indent\w*|cosmetic\w*|copyright|licen[cs]e headers?|sort imports"
    r"|type (?:hints?|annotations?)|add (?:type|typing|mypy))\b",
    re.IGNORECASE,
)
_TESTS: Final = re.compile(r"\b(?:tests?|specs?|coverage)\b", re.IGNORECASE)
_ADDED: Final = 0.5
_NEWEST: Final = 0.6
_REMOVED: Final = 0.5
_TOUCHED: Final = 0.2  # the weight of each changed line, even if later commits replaced its words
_LONG_BODY_CHARS: Final = 250
_SHORT_BODY_CHARS: Final = 40
_MIN_NAME_CHARS: Final = 4


def rank_commits(
    found: Contributions,
    line_weights: Mapping[int, float],
    names: Collection[str],
    sweeping: Collection[str] = (),
) -> list[str]:
    """Return the commits that changed a passage, best explanation first.

    `line_weights` are the weights of the requested lines, with the sum 1. The last commit that
    changed one of these lines is a likely explanation. `names` are words of the passage that a
    message may mention. `sweeping` are the commits that changed many files. If such a commit was
    the last one to change a line, this counts only as far as the commit added the words of the
    line, because it often made the same small change everywhere.
    """
    newest: dict[str, float] = {}
    for line, sha in found.newest.items():
        share = found.measure_line_share(sha, line) if sha in sweeping else 1.0
        newest[sha] = newest.get(sha, 0.0) + line_weights.get(line, 0.0) * share
    scores = {
        sha: (
            _ADDED * found.measure_share(sha)
            + _NEWEST * newest.get(sha, 0.0)
            + _REMOVED * found.removed.get(sha, 0.0)
            + _TOUCHED * sum(line_weights.get(line, 0.0) for line in found.touched[sha])
        )
        * rate_message(found.messages[sha], names)
        for sha in found.touched
    }
    return sorted(scores, key=lambda sha: -scores[sha])


def rate_message(message: str, names: Collection[str]) -> float:
    """Return how well a message explains a change, as a factor from 0.5 to 1.6; 1 is neutral."""
    subject, _, body = _TRAILER.sub("", message).strip().partition("\n")
    body = body.strip()
    rating = 1.0
    if _ROUTINE.search(subject):
        rating -= 0.3
    if _TESTS.search(subject):
        rating -= 0.2
    if len(body) >= _SHORT_BODY_CHARS:
        rating += 0.15
    if len(body) >= _LONG_BODY_CHARS:
        rating += 0.1
    if _REASON.search(message):
        rating += 0.1
    if find_numbers(message):
        rating += 0.05
    mentioned = sum(len(name) >= _MIN_NAME_CHARS and name in message for name in names)
    return max(0.5, rating + min(0.2, 0.1 * mentioned))


def find_numbers(*messages: str) -> tuple[int, ...]:
    """Return the numbers of the issues and pull requests that messages name, without duplicates."""
    numbers = (int(found[1]) for text in messages for found in _NUMBER.finditer(text))
    return tuple(dict.fromkeys(numbers))
