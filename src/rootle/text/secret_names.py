"""Names such as `password` that announce a secret, as regular expressions without case.

Separate from `secret_values`, whose patterns are compiled only if a text contains such a name.
"""

from __future__ import annotations

from typing import Final

_PASSWORDS: Final = r"pass(?:w(?:or)?[dt]|phrase|code)|kennwort|pwd|pass|pw"
NAMES: Final = rf"{_PASSWORDS}|secret|token|credentials?|session(?:[_-]?id)?|key|auth"
# The keyword is not always the last word of a name: `password1`, `SECRET_KEY_BASE`.
SUFFIX: Final = r"(?:[_.-]?(?:prod(?:uction)?|dev|staging|stage|live|base|value|main)|\d{1,2})?"
CLOSE: Final = r"\\?[\"'`\])]{0,3}"
# Candidates in the syntax of RE2, without case.
ASSIGNMENTS: Final = (
    rf"(?:{NAMES}){SUFFIX}(?:{CLOSE}[ \t]*[=:]|[\"'],|>[^<>\s]"
    r"|[\"']?,?\s+[\"']?value[\"']?[=:]| +(?:is|was|for|of|to) )"
    r"|--[a-z-]{0,30}(?:password|passphrase|token|secret|key) "
)
