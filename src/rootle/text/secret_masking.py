"""Mask the secrets in a text, such as passwords, tokens and private keys."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rootle.text.secret_names import may_contain_secret

if TYPE_CHECKING:
    from rootle.text.secret_detection import Exceptions

_MARK: Final = "[masked: {}]"
_MARKED: Final = r"\[masked: [^\]]*\]"
# A masked text with fewer words than this, not counting names of secrets, is considered to contain
# only secrets.
_MIN_WORDS: Final = 2
_WORD: Final = r"[^\W\d_]{2,}"
_SECRET_NAMES: Final = (
    r"(?i)[\w.-]{0,40}(?:password|passwd|pwd|secret|token|bearer|basic|authorization|key)\w*"
)


@dataclass(frozen=True, slots=True)
class MaskedText:
    """A text without its secrets."""

    text: str
    kinds: tuple[str, ...]  # distinct kinds of the masked secrets
    count: int = 0  # of the masked secrets

    @property
    def is_only_secrets(self) -> bool:
        """Whether only the names of secrets remain."""
        if not self.kinds:
            return False
        rest = re.sub(_SECRET_NAMES, " ", re.sub(_MARKED, " ", self.text))
        return len(re.findall(_WORD, rest)) < _MIN_WORDS


def mask_secrets(text: str, exceptions: Exceptions = ()) -> MaskedText:
    """Replace each secret with a mark that names its kind.

    Line breaks within a secret are kept, so that the numbers of all lines stay the same.
    """
    if not may_contain_secret(text):
        return MaskedText(text, ())
    # Loading RE2 and the patterns takes longer than all other work on a typical question.
    from rootle.text.secret_detection import find_secrets

    found = find_secrets(text, exceptions)
    if not found:
        return MaskedText(text, ())
    parts, at = [], 0
    for secret in found:
        breaks = text.count("\n", secret.start, secret.end)
        parts += [text[at : secret.start], _MARK.format(secret.kind), "\n" * breaks]
        at = secret.end
    parts.append(text[at:])
    kinds = dict.fromkeys(secret.kind for secret in found)
    return MaskedText("".join(parts), tuple(kinds), len(found))
