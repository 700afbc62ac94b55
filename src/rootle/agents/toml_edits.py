"""Set or remove one table in TOML text. The rest of the text stays unchanged."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rootle.agents.config_text import (
    ConfigTextError,
    detect_newline,
    normalize_newlines,
    replace_newlines,
)

_HEADER: Final = re.compile(r"^[ \t]*\[(\[?)([^\]\n]*)\]", re.MULTILINE)
_KEY: Final = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")
_STRING: Final = r""""(?:[^"\\\n]|\\.)*"|'[^'\n]*'"""
_LIST: Final = rf"""\[(?:[^\]"'#]|{_STRING}|#[^\n]*)*\]"""
# The time to parse a key grows with the square of the number of its parts.
_MAX_KEY_PARTS: Final = 100
_LONG_KEY: Final = re.compile(
    r"(?:^|[{,\[])[ \t]*+(?:(?:[\w-]++|\"[^\"\n]*+\"|'[^'\n]*+')[ \t]*+\.[ \t]*+)"
    rf"{{{_MAX_KEY_PARTS}}}",
    re.MULTILINE,
)
_ERROR_LINE: Final = re.compile(r"\(at line (\d+)")


def parse(text: str) -> dict[str, Any]:
    """Return the data in the text. Raise ConfigTextError if the text is invalid."""
    if (key := _LONG_KEY.search(text)) is not None:
        number = text.count("\n", 0, key.end()) + 1
        raise ConfigTextError(f"a key has more than {_MAX_KEY_PARTS} parts", number)
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ConfigTextError("the values are nested too deeply") from error
    except tomllib.TOMLDecodeError as error:
        line = _ERROR_LINE.search(str(error))
        raise ConfigTextError(str(error), int(line[1]) if line else None) from error


def set_entry(text: str, keys: Sequence[str], entry: Mapping[str, Any]) -> str:
    """Return the text with the values of `entry` in the table `keys`. Other values are kept."""
    plain = normalize_newlines(text)
    table = _find_table(plain, keys)
    if table is None:
        lines = [f"[{'.'.join(keys)}]", *(_format_pair(*pair) for pair in entry.items())]
        # Exactly one newline is added before the table, so that `remove_entry` can restore the
        # text. It makes a blank line if the text ends with a newline.
        plain += ("\n" if plain else "") + "\n".join(lines) + "\n"
    else:
        start, end = table
        plain = plain[:start] + _set_values(plain[start:end], entry) + plain[end:]
    return replace_newlines(plain, detect_newline(text))


def remove_entry(text: str, keys: Sequence[str], keep: int) -> str:  # noqa: ARG001 - JSON needs it
    """Return the text without the table under nested keys, subtables included."""
    plain = normalize_newlines(text)
    while (table := _find_table(plain, keys)) is not None:
        before, after = plain[: table[0]], plain[table[1] :]
        if before.endswith("\n\n") or not after:
            before = before.removesuffix("\n")
        plain = before + after
    return replace_newlines(plain, detect_newline(text))


def _find_table(text: str, keys: Sequence[str]) -> tuple[int, int] | None:
    """Return the start and end of a table with its subtables; None if there is no such table.

    Comments after the last value are not part of the table.
    """
    headers = [(found.start(), _header_keys(found)) for found in _HEADER.finditer(text)]
    headers.append((len(text), []))
    for number, (start, table) in enumerate(headers):
        if table[: len(keys)] == list(keys):
            following = headers[number + 1 :]
            end = next(at for at, other in following if other[: len(keys)] != list(keys))
            return start, start + len(_strip_tail(text[start:end]))
    return None


def _header_keys(header: re.Match[str]) -> list[str]:
    # rootle never writes an array of tables, so it never edits one.
    return [] if header[1] else [key.strip("\"'") for key in _KEY.findall(header[2])]


def _strip_tail(block: str) -> str:
    """Return a block without trailing blank lines and comments, which belong to the next table."""
    lines = block.splitlines(keepends=True)
    while not lines[-1].strip() or lines[-1].lstrip().startswith("#"):
        lines.pop()
    return "".join(lines)


def _set_values(block: str, entry: Mapping[str, Any]) -> str:
    """Return the text of a table with new values."""
    head, _, rest = block.partition("\n")
    subtable = _HEADER.search(rest)
    at = subtable.start() if subtable else len(rest)
    body, subtables = rest[:at], rest[at:]
    for key, value in entry.items():
        found = re.search(rf"^[ \t]*{key}[ \t]*=[ \t]*(?:{_LIST}|{_STRING}|[^\n#]*)", body, re.M)
        if found is None:
            body = f"{_format_pair(key, value)}\n{body}"
        elif parse(found.group()) != {key: value}:
            body = body[: found.start()] + _format_pair(key, value) + body[found.end() :]
    return f"{head}\n{body}{subtables}"


def _format_pair(key: str, value: Any) -> str:  # Any: text, number, boolean, or a list of these
    return f"{key} = {_format_value(value)}"


def _format_value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_format_value(part) for part in value)}]"
    # In single quotes a backslash needs no escape, so Windows paths are easier to read.
    if isinstance(value, str) and "\\" in value and not re.search(r"['\x00-\x1f]", value):
        return f"'{value}'"
    return json.dumps(value, ensure_ascii=False)
