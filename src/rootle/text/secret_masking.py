"""Mask the secrets in a text, such as passwords, tokens and private keys."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rootle.text.secret_names import may_contain_secret

if TYPE_CHECKING:
    from rootle.text.secret_detection import Exceptions, Secret

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
    count: int = 0  # number of masked secrets

    @property
    def is_only_secrets(self) -> bool:
        """Whether the text contains nothing but masked secrets and their names."""
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

    return _replace(text, find_secrets(text, exceptions))


def mask_patch(text: str, exceptions: Exceptions = ()) -> MaskedText:
    """Replace each secret in the patch of a commit, and each line that may belong to a key."""
    from rootle.text.secret_detection import find_key_lines

    without_keys = _replace(text, find_key_lines(text, exceptions))
    masked = mask_secrets(without_keys.text, exceptions)
    kinds = dict.fromkeys((*without_keys.kinds, *masked.kinds))
    return MaskedText(masked.text, tuple(kinds), without_keys.count + masked.count)


def _replace(text: str, found: Sequence[Secret]) -> MaskedText:
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
