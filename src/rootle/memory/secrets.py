"""Detects secrets of well-known formats in a text, and masks them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_MARK: Final = "[masked: {}]"
_MARKED: Final = re.compile(r"\[masked: [^\]]*\]")

# Prefixes and lengths follow the documentation of the issuers. If a pattern has a group named
# "value" or "plain", only this group is masked, otherwise the whole match.
_FORMATS: Final = {
    "private key": r"""
        -----BEGIN[ ][A-Z0-9 ]*PRIVATE[ ]KEY(?:[ ]BLOCK)?-----.*?
        (?:-----END[ ][A-Z0-9 ]*PRIVATE[ ]KEY(?:[ ]BLOCK)?-----|\Z)""",
    "AWS access key": r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b",
    "GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})\b",
    "GitLab token": r"\bgl(?:pat|ptt|dt|rt|cbt|oas)-[\w-]{20,}",
    "Slack token": r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Za-z0-9-]{10,}",
    "webhook": r"https://hooks\.slack\.com/services/[\w/]{20,}",
    "Stripe key": r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}",
    "API key": r"""
        \bsk-[A-Za-z0-9_-]{20,}                             # OpenAI, Anthropic and others
        | \bAIza[\w-]{35}                                   # Google
        | \bhf_[A-Za-z0-9]{30,} | \bnpm_[A-Za-z0-9]{36}\b | \bpypi-[\w-]{50,}
        | \bSG\.[\w-]{16,}\.[\w-]{16,} | \bdop_v1_[a-f0-9]{64}\b""",
    "JSON web token": r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*",
    "bearer token": r"(?i:\b(?:bearer|basic))[ ]+(?P<value>(?=\S*\d)[\w.~+/=-]{16,})",
    "password": r"""
        ://[^\s/:@]*:(?P<value>[^\s/@]+)@                   # in a URL
        | \b(?i:[\w.-]{0,40}(?:password|passwd|passphrase|pwd))["']?\s*
          # In a sentence, the next word is more often part of the sentence than a password.
          (?:=|:=|:(?!\s+[A-Za-z]+\s+[A-Za-z])|(?i:\bis\b)(?=\s+\S*[\d\W]\S))\s*
          (?P<quoted>["'])?(?P<plain>(?(quoted)[^"'\n]+|[^\s"',;]+))""",
    "secret": r"""
        \b(?i:[\w.-]{0,40}(?:secret|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?key|token))["']?
        \s*(?:=|:=|:|(?i:\bis\b))\s*["']?(?P<value>(?=[^\s"',;]*\d)[^\s"',;()\[\]{}]{8,})""",
}
_PATTERNS: Final = {
    kind: re.compile(pattern, re.VERBOSE | re.DOTALL) for kind, pattern in _FORMATS.items()
}
# Values that are not secrets: a variable, a call, a placeholder, a word about passwords.
_PLACEHOLDER: Final = re.compile(
    r"""
    [$<{(\[*%] | (?:os|process|config|settings|self|env|req|request)\b[.\[]
    | [\w.]*\( | (?:none|null|nil|true|false|undefined|str|string|int|bool|optional|required
    |empty|missing|unknown|hidden|redacted|xxx+)\b
    | [\w.]*(?:password|passwd|pwd|secret|token)
    """,
    re.VERBOSE | re.IGNORECASE,
)
# A masked text with fewer other words is considered to contain only a secret and its name.
_MIN_WORDS: Final = 2
_MIN_PASSWORD_CHARS: Final = 4
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_SECRET_NAMES: Final = re.compile(
    r"(?i)[\w.-]{0,40}(?:password|passwd|pwd|secret|token|bearer|basic|authorization|key)\w*"
)


@dataclass(frozen=True, slots=True)
class MaskedText:
    """A text without its secrets."""

    text: str
    kinds: tuple[str, ...]  # distinct kinds of the masked secrets

    @property
    def is_only_secrets(self) -> bool:
        """Whether only the names of secrets remain."""
        if not self.kinds:
            return False
        rest = _SECRET_NAMES.sub(" ", _MARKED.sub(" ", self.text))
        return len(_WORD.findall(rest)) < _MIN_WORDS


def mask_secrets(text: str) -> MaskedText:
    """Replace each secret with a mark that names its kind."""
    kinds: dict[str, None] = {}
    for kind, pattern in _PATTERNS.items():
        text = _mask_kind(text, kind, pattern, kinds)
    return MaskedText(text, tuple(kinds))


def _mask_kind(text: str, kind: str, pattern: re.Pattern[str], kinds: dict[str, None]) -> str:
    def mask(match: re.Match[str]) -> str:
        groups = match.groupdict()
        group = next((name for name in ("value", "plain") if groups.get(name)), None)
        start, end = match.span(group) if group else match.span()
        if group == "plain" and _is_harmless(match[group]):
            return match[0]
        if _MARKED.search(match[0]) or (group == "value" and _PLACEHOLDER.match(match[group])):
            return match[0]
        kinds[kind] = None
        whole = match[0]
        return whole[: start - match.start()] + _MARK.format(kind) + whole[end - match.start() :]

    return pattern.sub(mask, text)


def _is_harmless(value: str) -> bool:
    return len(value) < _MIN_PASSWORD_CHARS or _PLACEHOLDER.match(value) is not None
