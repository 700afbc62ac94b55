"""Find secrets in a text, such as passwords, tokens and private keys."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

import re2

from rootle.text.secret_formats import (
    PASSWORD,
    POSSIBLE_KEY,
    PREFIXES,
    PRIVATE_KEY,
    match_format,
)
from rootle.text.secret_names import ASSIGNMENTS

_KEY_START: Final = "-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
_KEY_END: Final = re.compile(r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_MAX_KEY_CHARS: Final = 20_000
# The encoded bytes of a key contain upper-case letters, and lower-case letters or digits. Names in
# code that writes keys usually do not.
_KEY_BYTES: Final = re.compile(r"(?=[a-z+/=]*[A-Z])(?=[A-Z+/=]*[a-z0-9])[A-Za-z0-9+/=]{6,}")
_NOT_IN_A_KEY: Final = re.compile(r"[{}()]")
# The lines of a key without an end marker. They may be quoted, commented out, or in a patch.
_KEY_LINES: Final = re.compile(r"(?:(?:\\n|[\s\"'+#*>,-])*[A-Za-z0-9+/=]{4,}(?=\\n|[\"',\s]|\Z))+")
_PUTTY_LINES: Final = re.compile(r"Private-Lines: \d+\r?\n(?P<value>(?:[A-Za-z0-9+/=]+\r?\n?)+)")

# Lines of a patch that consist of encoded bytes. They may be indented, quoted or commented out. git
# can also show a line of the key after "@@", as the heading of a hunk.
_HEADING: Final = r"@@ (?:[-+0-9, ]{1,60}@@ )?"
_MARGIN: Final = r"[ \t\"'#*>]*"
_LINE_END: Final = r"={0,2}(?:\\[nr])*[\"',;+\\ \t\r]*$"
_LONG_LINE: Final = rf"^(?:{_HEADING}|[-+ ]?){_MARGIN}[A-Za-z0-9+/]{{60,80}}{_LINE_END}"
_ANY_LINE: Final = rf"^[-+ ]?{_MARGIN}[A-Za-z0-9+/]{{4,80}}{_LINE_END}"
# The end of a key, or long lines from its middle. Up to two lines of any length may follow: the
# last line of the key before and after the change.
_KEY_IN_PATCH: Final = re2.compile(
    rf"(?m)(?:{_ANY_LINE}\n)+^[-+ ]?{_MARGIN}-----END [A-Z0-9 ]*PRIVATE KEY"
    rf"|(?:{_LONG_LINE}\n)+{_LONG_LINE}(?:\n{_ANY_LINE}){{0,2}}".encode()
)
_BYTES_OF_LINE: Final = re.compile(
    rf"^(?:{_HEADING}|[-+ ]?){_MARGIN}(?P<value>[A-Za-z0-9+/]{{4,80}}={{0,2}})(?![A-Za-z0-9+/=-])",
    re.MULTILINE,
)
_UPPER_LOWER_DIGIT: Final = re.compile(r"(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])[^0-9]*[0-9]")
# A certificate or a public key.
_PUBLIC_BEFORE: Final = re.compile(r"-----BEGIN (?![A-Z0-9 ]*PRIVATE KEY)[^\n]*\n\Z")
_PUBLIC_AFTER: Final = re.compile(r"\n[^\n]{0,40}-----END (?![A-Z0-9 ]*PRIVATE KEY)")
_MAX_MARKER_CHARS: Final = 200

# One pass of RE2, which takes linear time and 2 ns per character, finds where a secret may be.
_CANDIDATES: Final = re2.compile(
    f"{_KEY_START}|Private-Lines: |{PREFIXES}|(?i:{ASSIGNMENTS})".encode()
)

Exceptions = tuple[str, ...]  # glob patterns of values that are not secrets


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret in a text: its kind and its range."""

    kind: str
    start: int
    end: int


def find_secrets(text: str, exceptions: Exceptions = ()) -> Sequence[Secret]:
    """Return the secrets in a text, in order and without overlaps."""
    # Each character becomes one byte, so that positions need no conversion.
    raw = text.encode("ascii", "replace")
    found: list[Secret] = []
    at = end = 0
    while (match := _CANDIDATES.search(raw, at)) is not None:
        at = match.start() + 1
        secret = _match(text, match.start())
        if secret is None or secret.start < end:
            continue
        value = text[secret.start : secret.end]
        if not any(fnmatchcase(value, pattern) for pattern in exceptions):
            found.append(secret)
            at = end = secret.end
    return found


def find_key_lines(patch: str, exceptions: Exceptions = ()) -> Sequence[Secret]:
    """Return the lines of a patch that may belong to a private key.

    A patch shows few lines around a change, so the line that begins the key is often missing.
    """
    raw = patch.encode("ascii", "replace")
    found: list[Secret] = []
    for run in _KEY_IN_PATCH.finditer(raw):
        start, end = run.span()
        before = patch[max(0, start - _MAX_MARKER_CHARS) : start]
        after = patch[end : end + _MAX_MARKER_CHARS]
        if _PUBLIC_BEFORE.search(before) or _PUBLIC_AFTER.match(after):
            continue
        lines = [line.span("value") for line in _BYTES_OF_LINE.finditer(patch, start, end)]
        values = [patch[slice(*line)] for line in lines]
        if not any(map(_UPPER_LOWER_DIGIT.match, values)):  # not a key but, for example, digests
            continue
        found += (
            Secret(POSSIBLE_KEY, *line)
            for line, value in zip(lines, values, strict=True)
            if not any(fnmatchcase(value, pattern) for pattern in exceptions)
        )
    return found


def _match(text: str, start: int) -> Secret | None:
    if text.startswith("-----BEGIN ", start):
        return _match_private_key(text, start)
    if text.startswith("Private-Lines: ", start):
        match = _PUTTY_LINES.match(text, start)
        return Secret(PRIVATE_KEY, *match.span("value")) if match else None
    # The patterns in the imported module take longer to compile than a search that finds no
    # candidates.
    from rootle.text.secret_values import is_plausible, match_assignment

    found = match_format(text, start)
    if found is not None:
        secret = Secret(*found)
        is_named = secret.kind == PASSWORD and not is_plausible(text[secret.start : secret.end])
        return None if is_named else secret
    found = match_assignment(text, start)
    return Secret(*found) if found else None


def _match_private_key(text: str, start: int) -> Secret | None:
    limit = start + _MAX_KEY_CHARS
    head = text.index("-----", start + 5) + 5
    end = _KEY_END.search(text, head, limit)
    if end is not None:
        body = text[head : end.start()]
        if _KEY_BYTES.search(body) and not _NOT_IN_A_KEY.search(body):
            return Secret(PRIVATE_KEY, start, end.end())
    lines = _KEY_LINES.match(text, head, limit)
    if lines is None or not _KEY_BYTES.search(lines[0]):
        return None
    return Secret(PRIVATE_KEY, start, lines.end())
