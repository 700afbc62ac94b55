"""One table of a TOML file put in or taken out, every other line left as it is."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rootle.agents.line_endings import TextError, newline_of, with_ends, with_plain_ends

_HEADER: Final = re.compile(r"^[ \t]*\[(\[?)([^\]\n]*)\]", re.MULTILINE)
_WORD: Final = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")
_STRING: Final = r""""(?:[^"\\\n]|\\.)*"|'[^'\n]*'"""
_LIST: Final = rf"""\[(?:[^\]"'#]|{_STRING}|#[^\n]*)*\]"""
_LINE: Final = re.compile(r"\(at line (\d+)")


def read(text: str) -> dict[str, Any]:
    """What the file says; raises TextError."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = _LINE.search(str(error))
        raise TextError(str(error), int(line[1]) if line else None) from error


def put(text: str, keys: Sequence[str], entry: Mapping[str, Any]) -> str:
    """The text with these lines in the table of the keys; others in it stay."""
    plain = with_plain_ends(text)
    table = _table(plain, keys)
    if table is None:
        lines = [f"[{'.'.join(keys)}]", *(_line(key, value) for key, value in entry.items())]
        # A blank line before it, but after a last line without an end: that comes back as it was.
        plain += ("\n" if plain else "") + "\n".join(lines) + "\n"
    else:
        start, end = table
        plain = plain[:start] + _changed(plain[start:end], entry) + plain[end:]
    return with_ends(plain, newline_of(text))


def drop(text: str, keys: Sequence[str], keep: int) -> str:  # noqa: ARG001 - as for JSON
    """The text without the table of the keys and those in it."""
    plain = with_plain_ends(text)
    while (table := _table(plain, keys)) is not None:
        before, after = plain[: table[0]], plain[table[1] :]
        if before.endswith("\n\n") or not after:
            before = before.removesuffix("\n")
        plain = before + after
    return with_ends(plain, newline_of(text))


def _table(text: str, keys: Sequence[str]) -> tuple[int, int] | None:
    """Where a table stands with the tables in it, without the comments and blanks that follow."""
    headers = [(found.start(), _words(found)) for found in _HEADER.finditer(text)]
    headers.append((len(text), []))
    for at, (start, words) in enumerate(headers):
        if words[: len(keys)] == list(keys):
            end = next(e for e, other in headers[at + 1 :] if other[: len(keys)] != list(keys))
            return start, start + len(_without_tail(text[start:end]))
    return None


def _words(header: re.Match[str]) -> list[str]:
    # A list of tables is none of ours, whatever its name.
    return [] if header[1] else [word.strip("\"'") for word in _WORD.findall(header[2])]


def _without_tail(block: str) -> str:
    """Without what introduces the next table."""
    lines = block.splitlines(keepends=True)
    while not lines[-1].strip() or lines[-1].lstrip().startswith("#"):
        lines.pop()
    return "".join(lines)


def _changed(block: str, entry: Mapping[str, Any]) -> str:
    """The lines of a table with other values; raises TextError where one cannot be found."""
    head, _, rest = block.partition("\n")
    # Only the table itself, not the tables in it.
    own = _HEADER.search(rest)
    body, inner = (rest[: own.start()], rest[own.start() :]) if own else (rest, "")
    for key, value in entry.items():
        found = re.search(rf"^[ \t]*{key}[ \t]*=[ \t]*(?:{_LIST}|{_STRING}|[^\n#]*)", body, re.M)
        if found is None:
            body = f"{_line(key, value)}\n{body}"
        elif read(found.group()) != {key: value}:
            body = body[: found.start()] + _line(key, value) + body[found.end() :]
    return f"{head}\n{body}{inner}"


def _line(key: str, value: Any) -> str:  # Any: a text, a number, true, false or a list of these
    return f"{key} = {_toml(value)}"


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_toml(part) for part in value)}]"
    # A path of Windows is easier to read between single quotes, where a backslash is one.
    if isinstance(value, str) and "\\" in value and not re.search(r"['\x00-\x1f]", value):
        return f"'{value}'"
    return json.dumps(value, ensure_ascii=False)
