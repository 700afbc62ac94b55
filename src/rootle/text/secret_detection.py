"""Find secrets in a text, such as passwords, tokens and private keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

import re2

from rootle.text.secret_formats import (
    PASSWORD,
    POSSIBLE_KEY,
    PREFIXES,
    PRIVATE_KEY,
    WEB_TOKEN_START,
    end_of_token,
    is_inside_word,
    match_format,
)
from rootle.text.secret_names import ASSIGNMENTS

_KEY_START: Final = "-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
_KEY_END: Final = re.compile(r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_MAX_KEY_CHARS: Final = 20_000
# The encoded bytes of a key contain upper-case letters, and lower-case letters or digits. Names in
# code that writes keys usually do not. The expression matches only whole runs of such characters:
# if it were also tried at each position within a run, the time would grow with the square of its
# length.
_KEY_BYTES: Final = re.compile(
    r"(?<![A-Za-z0-9+/=])(?=[a-z0-9+/=]*+[A-Z])(?=[A-Z+/=]*+[a-z0-9])[A-Za-z0-9+/=]{6,}+"
)
_NOT_IN_A_KEY: Final = re.compile(r"[{}()]")
# The lines of a key without an end marker. They may be quoted, commented out, or in a patch.
_KEY_LINES: Final = re.compile(
    r"(?:(?:\\n|[\s\"'#*>,-]|\+{1,3}+(?![A-Za-z0-9+/=]))*+[A-Za-z0-9+/=]{4,}+(?=\\n|[\"',\s]|\Z))+"
)
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
    matcher = _Matcher(text)
    found: list[Secret] = []
    at = end = 0
    while (match := _CANDIDATES.search(raw, at)) is not None:
        at = match.start() + 1
        secret = matcher.match(match.start())
        if secret is None or secret.start < end:
            continue
        value = text[secret.start : secret.end]
        if not any(fnmatchcase(value, pattern) for pattern in exceptions):
            found.append(secret)
            at = end = secret.end
    return found


def find_key_lines(patch: str, exceptions: Exceptions = ()) -> Sequence[Secret]:
    """Return the lines of a patch that may belong to a private key, in order."""
    return [
        Secret(POSSIBLE_KEY, start, end)
        for lines in _find_key_lines(patch)
        for start, end in lines
        if not any(fnmatchcase(patch[start:end], pattern) for pattern in exceptions)
    ]


class _Matcher:
    """Matches the candidates of one text, which must be given in the order of the text.

    It remembers how far it has read for earlier candidates. Otherwise, if a text repeats the
    beginning of a secret, the text after it would be read again for each repetition.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._keys = _PrivateKeys(text)
        self._no_token_before = 0  # the end of a run of characters that is not a JSON web token

    def match(self, start: int) -> Secret | None:
        """Return the secret that a candidate begins; None if it begins none."""
        text = self._text
        if text.startswith("-----BEGIN ", start):
            found = self._keys.match(start)
            return Secret(PRIVATE_KEY, *found) if found else None
        if text.startswith("Private-Lines: ", start):
            found = _match_putty_key(text, start)
            return Secret(PRIVATE_KEY, *found) if found else None
        if text.startswith(WEB_TOKEN_START, start):
            return self._match_web_token(start)
        return _match(text, start)

    def _match_web_token(self, start: int) -> Secret | None:
        if start < self._no_token_before:
            return None
        found = match_format(self._text, start)
        if found is None and not is_inside_word(self._text, start):
            self._no_token_before = end_of_token(self._text, start)
        return Secret(*found) if found else None


def _match(text: str, start: int) -> Secret | None:
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


class _PrivateKeys:
    """The private keys in one text, which are found from left to right in linear time."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends: Iterator[re.Match[str]] = _KEY_END.finditer(text)
        self._end: re.Match[str] | None = None
        self._checked: re.Match[str] | None = None  # the end of the body that was checked last
        self._last_bytes = 0  # where the last bytes of a key in that body begin; -1 if it has none
        self._last_code = 0  # where the last sign of code in that body is; -1 if it has none

    def match(self, start: int) -> tuple[int, int] | None:
        """Return the range of the key whose marker begins at `start`; None if there is none.

        The markers must be given in the order of the text.
        """
        text, limit = self._text, start + _MAX_KEY_CHARS
        head = text.index("-----", start + 5) + 5
        end = self._find_end(head)
        if end is not None and end.end() <= limit and self._is_key(head, end):
            return start, end.end()
        lines = _KEY_LINES.match(text, head, limit)
        if lines is None or not _KEY_BYTES.search(lines[0]):
            return None
        return start, lines.end()

    def _find_end(self, head: int) -> re.Match[str] | None:
        while self._end is None or self._end.start() < head:
            self._end = next(self._ends, None)
            if self._end is None:
                return None
        return self._end

    def _is_key(self, head: int, end: re.Match[str]) -> bool:
        """Return whether the text between two markers is a key.

        If several start markers precede the same end marker, only the body after the first one is
        searched, because it contains the other bodies.
        """
        if end is not self._checked:
            found = _KEY_BYTES.finditer(self._text, head, end.start())
            self._last_bytes = max((match.start() for match in found), default=-1)
            code = _NOT_IN_A_KEY.finditer(self._text, head, end.start())
            self._last_code = max((match.start() for match in code), default=-1)
            self._checked = end
        return self._last_bytes >= head > self._last_code


def _match_putty_key(text: str, start: int) -> tuple[int, int] | None:
    """Return the range of the private lines of a key of PuTTY; None if there are none."""
    match = _PUTTY_LINES.match(text, start)
    return match.span("value") if match else None


def _find_key_lines(patch: str) -> Iterator[Sequence[tuple[int, int]]]:
    """Yield the lines of a patch that may belong to a private key, in groups of successive lines.

    A patch shows few lines around a change, so the line that begins the key is often missing.
    """
    raw = patch.encode("ascii", "replace")
    for run in _KEY_IN_PATCH.finditer(raw):
        start, end = run.span()
        before = patch[max(0, start - _MAX_MARKER_CHARS) : start]
        after = patch[end : end + _MAX_MARKER_CHARS]
        if _PUBLIC_BEFORE.search(before) or _PUBLIC_AFTER.match(after):
            continue
        lines = [line.span("value") for line in _BYTES_OF_LINE.finditer(patch, start, end)]
        # If no line has upper-case letters, lower-case letters and digits, the lines are not a key
        # but, for example, digests.
        if any(_UPPER_LOWER_DIGIT.match(patch[first:last]) for first, last in lines):
            yield lines
