"""Secrets in a text: found by the shapes of well-known ones, and blotted out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_MARK: Final = "[masked: {}]"
_MARKED: Final = re.compile(r"\[masked: [^\]]*\]")

# What each kind looks like. Prefixes and lengths are those that the issuers document. A group
# named "value" is all that is blotted out; else it is the whole match.
_SHAPES: Final = {
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
        \bsk-[A-Za-z0-9_-]{20,}                             # OpenAI, Anthropic and those alike
        | \bAIza[\w-]{35}                                   # Google
        | \bhf_[A-Za-z0-9]{30,} | \bnpm_[A-Za-z0-9]{36}\b | \bpypi-[\w-]{50,}
        | \bSG\.[\w-]{16,}\.[\w-]{16,} | \bdop_v1_[a-f0-9]{64}\b""",
    "JSON web token": r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*",
    "bearer token": r"(?i:\b(?:bearer|basic))[ ]+(?P<value>(?=\S*\d)[\w.~+/=-]{16,})",
    "password": r"""
        ://[^\s/:@]*:(?P<value>[^\s/@]+)@                   # in a URL
        | \b(?i:[\w.-]{0,40}(?:password|passwd|passphrase|pwd))["']?\s*
          # In a sentence what follows is a word about passwords more often than one.
          (?:=|:=|:(?!\s+[A-Za-z]+\s+[A-Za-z])|(?i:\bis\b)(?=\s+\S*[\d\W]\S))\s*
          (?P<quoted>["'])?(?P<plain>(?(quoted)[^"'\n]+|[^\s"',;]+))""",
    "secret": r"""
        \b(?i:[\w.-]{0,40}(?:secret|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?key|token))["']?
        \s*(?:=|:=|:|(?i:\bis\b))\s*["']?(?P<value>(?=[^\s"',;]*\d)[^\s"',;()\[\]{}]{8,})""",
}
_PATTERNS: Final = {
    kind: re.compile(shape, re.VERBOSE | re.DOTALL) for kind, shape in _SHAPES.items()
}
# What stands where a password would: a variable, a call, a placeholder, a word about passwords.
_NO_SECRET: Final = re.compile(
    r"""
    [$<{(\[*%] | (?:os|process|config|settings|self|env|req|request)\b[.\[]
    | [\w.]*\( | (?:none|null|nil|true|false|undefined|str|string|int|bool|optional|required
    |empty|missing|unknown|hidden|redacted|xxx+)\b
    | [\w.]*(?:password|passwd|pwd|secret|token)
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Of a fact that was a secret alone, no more than its name is left.
_FEWEST_WORDS: Final = 2
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_NAMES: Final = re.compile(
    r"(?i)[\w.-]{0,40}(?:password|passwd|pwd|secret|token|bearer|basic|authorization|key)\w*"
)


@dataclass(frozen=True, slots=True)
class MaskedText:
    """A text without its secrets."""

    text: str
    kinds: tuple[str, ...]  # of what was blotted out, each once

    @property
    def says_nothing(self) -> bool:
        """Whether nothing is left that would be worth keeping."""
        if not self.kinds:
            return False
        rest = _NAMES.sub(" ", _MARKED.sub(" ", self.text))
        return len(_WORD.findall(rest)) < _FEWEST_WORDS


def masked(text: str) -> MaskedText:
    """The text with a mark in the place of each secret; the same text where it has none."""
    kinds: dict[str, None] = {}
    for kind, pattern in _PATTERNS.items():
        text = _blotted(text, kind, pattern, kinds)
    return MaskedText(text, tuple(kinds))


def _blotted(text: str, kind: str, pattern: re.Pattern[str], kinds: dict[str, None]) -> str:
    def blot(match: re.Match[str]) -> str:
        groups = match.groupdict()
        group = next((name for name in ("value", "plain") if groups.get(name)), None)
        start, end = match.span(group) if group else match.span()
        if group == "plain" and _is_no_secret(match[group]):
            return match[0]
        if _MARKED.search(match[0]) or (group == "value" and _NO_SECRET.match(match[group])):
            return match[0]
        kinds[kind] = None
        whole = match[0]
        return whole[: start - match.start()] + _MARK.format(kind) + whole[end - match.start() :]

    return pattern.sub(blot, text)


def _is_no_secret(value: str) -> bool:
    return len(value) < 4 or _NO_SECRET.match(value) is not None
