"""Messages as a user sees them: placeholders replaced by likely values."""

from __future__ import annotations

import re
from typing import Final

from training.questions.phrasing import hash_choice

PLACEHOLDER: Final = re.compile(
    r"%\((\w+)\)[a-z]|\$\{([^{}]*)\}|#\{([^{}]*)\}|\\\(([^()]*)\)|\{([^{}]*)\}|\$(\w+)"
    r"|(%[-+0-9.#]*(?:l{0,2}|z)[diuxX])|(%[-+0-9.#]*[a-zA-Z@]|~[pswaB])"
)
_NUMBER: Final = re.compile(
    r"(?:count|num|size|len|length|index|idx|line|code|port|max|min|limit|status|id|n|i|version"
    r"|bytes|offset|width|height|timeout|ms|pid)$",
    re.IGNORECASE,
)
_FILE: Final = re.compile(r"path|file|dir|folder|root|location|source|dest", re.IGNORECASE)
_TYPE: Final = re.compile(r"type|class|kind|struct|interface", re.IGNORECASE)
_URL: Final = re.compile(r"url|uri|host|addr|endpoint", re.IGNORECASE)
_NUMBERS: Final = ("3", "12", "42", "404", "0", "8080", "17", "256")
_FILES: Final = ("/srv/app/data.json", "config.yml", "/tmp/build/out", "src/main.c", "./notes.txt")
_TYPES: Final = ("String", "Int", "User", "Order", "object", "list")
_URLS: Final = ("http://localhost:8080", "10.0.0.5", "example.org")
_VALUES: Final = ("foo", "users", "worker", "orders", "admin", "my-app", "bar", "item_1")
_CAUSES: Final = (
    "permission denied", "No such file or directory", "connection refused", "unexpected EOF",
    "invalid argument", "timed out",
)  # fmt: skip


def fill_placeholders(literal: str) -> str:
    """Return a message with its placeholders filled, the same way on every run."""

    def value(match: re.Match[str]) -> str:
        name = next((group for group in match.groups()[:6] if group is not None), "")
        name = re.sub(r"[:!|].*|\(.*?\)", "", name).strip().rpartition(".")[2]
        is_cause = match.end() == len(literal) and literal[: match.start()].endswith(": ")
        values = likely_values(name, is_number=match[7] is not None, is_cause=is_cause)
        return values[hash_choice(f"{literal}{match.start()}", len(values))]

    filled = re.sub(r"\\[nrt]", " ", PLACEHOLDER.sub(value, literal))
    return " ".join(filled.replace("\\", "").replace("%%", "%").split())


def likely_values(name: str, *, is_number: bool, is_cause: bool) -> tuple[str, ...]:
    """Return values for a placeholder; `is_cause` marks one that ends a message after a colon."""
    if is_cause and not is_number:
        return _CAUSES
    if is_number or _NUMBER.search(name):
        return _NUMBERS
    if _FILE.search(name):
        return _FILES
    if _TYPE.search(name):
        return _TYPES
    return _URLS if _URL.search(name) else _VALUES
