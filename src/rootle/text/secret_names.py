"""Names such as `password` that precede a secret, and a quick check for texts without secrets.

This module is separate from `secret_detection` and `secret_values`, whose patterns are compiled
only if a text may contain a secret.
"""

from __future__ import annotations

from typing import Final

_PASSWORDS: Final = r"pass(?:w(?:or)?[dt]|phrase|code)|kennwort|pwd|pass|pw"
# A value may follow one of these words without an operator, as in "user ana, password hunter2".
_PROSE: Final = r"pass(?:w(?:or)?[dt]|phrase|code)|kennwort|pw"
NAMES: Final = rf"{_PASSWORDS}|secret|token|credentials?|session(?:[_-]?id)?|key|auth"
# The part of a name that may follow the keyword, as in `password1` and `SECRET_KEY_BASE`.
SUFFIX: Final = r"(?:[_.-]?(?:prod(?:uction)?|dev|staging|stage|live|base|value|main)|\d{1,2})?"
CLOSE: Final = r"\\?[\"'`\])]{0,3}"
INDEX: Final = r"(?:\[\d{0,4}\])?"  # the index of an array, as in `char password[] = …`
# The characters that may precede an equals sign, as in `||=` and `?=`.
OPERATOR: Final = r"(?:\|\||\?{1,2}|\+)?"
# Keywords that assign a value without an operator: a name, a space and the value follow. RE2 takes
# 40% longer if it ignores the case of these keywords.
DECLARE: Final = r"(?-i:define|ENV|set[qx]?)[ \t]+"
VERBS: Final = "is|was|ist|war|lautet"  # between a name and a value in a sentence
# A regular expression for possible assignments, in the syntax of RE2. It must ignore case.
ASSIGNMENTS: Final = (
    rf"(?:{NAMES}){SUFFIX}(?:{INDEX}{CLOSE}[ \t]*{OPERATOR}[=:]|[\"'],|[\"']?>[^<>\s]"
    rf"|[\"']?,?\s+[\"']?value[\"']?[=:]|[\"'] ?\{{| +(?:{VERBS}|for|of|to) )"
    rf"|(?:{_PROSE}) {{1,2}}[^\s0-9]{{0,20}}[0-9]"
    r"|--[a-z-]{0,30}(?:password|passphrase|token|secret|key) "
    rf"|{DECLARE}[\w-]*(?:{NAMES}){SUFFIX}[ \t]+[^ \t]"
)

# A short text contains no secret if it has neither a long token nor any of these hints, in upper or
# lower case. The names above are listed in their shortest forms. The other hints are commands,
# phrases and keys. The secrets that follow them may be short or consist of several words.
_HINTS: Final = (
    *("pass", "pw", "kennwort", "secret", "token", "credential", "session", "key", "auth"),
    *("://", " -u", "--user", "login", "mysql", "redis-cli", "identified by", "private-lines"),
    *("seed", "recovery", "mnemonic"),
)
_MIN_TOKEN_CHARS: Final = 15  # length of the shortest token with a known prefix
# For longer texts, the patterns are faster than this check.
_MAX_SHORT_TEXT_CHARS: Final = 1_000


def may_contain_secret(text: str) -> bool:
    """Return whether a text may contain a secret. If False, it certainly contains none."""
    if len(text) > _MAX_SHORT_TEXT_CHARS:
        return True
    lower = text.lower()
    return any(hint in lower for hint in _HINTS) or any(
        len(token) >= _MIN_TOKEN_CHARS for token in text.split()
    )
