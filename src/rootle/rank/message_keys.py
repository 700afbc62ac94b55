"""Read the keys of messages in catalogues, and find the lines of code that use a key.

A catalogue contains the messages of a program with a key for each: `"error.full": "The disk is
full"` in JSON, `error.full=The disk is full` in properties, nested keys in YAML, and attributes in
XML. The code contains only the key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from rootle.rank.path_features import quotes_messages
from rootle.text.terms import file_stem, split_identifier
from rootle.text.translated_paths import contains_texts, parse_translation
from rootle.text.whole_names import line_numbers

Key = tuple[str, ...]  # the parts of a key, outermost first, such as ("error", "full")

_PROPERTIES: Final = ".properties"
_PAIR: Final = re.compile(r"\s*[\"']?([A-Za-z_][\w.$-]{0,160})[\"']?\s*[:=]")
_ATTRIBUTE: Final = re.compile(
    r"<[\w:-]{1,40}\s[^<>]{0,200}?\b(?:name|id|key)=\"([\w.$-]{1,160})\""
)
_PAIR_END: Final = re.compile(r"[\"']?\s*[:=](?!=)")
# The text of an XML element can be on a line of its own, after that of the attribute.
_XML_LINE: Final = re.compile(r"\s*<(?:value|source|target)\b")
_MAX_LINES_BEFORE: Final = 4
# The plural forms of a message, which the code does not name: `items_one` is used as `items`.
_PLURALS: Final = frozenset(("zero", "one", "two", "few", "many", "other"))
_PLURAL_ENDING: Final = re.compile(r"_(?:zero|one|two|few|many|other|plural)$")
_MIN_SINGLE_CHARS: Final = 6  # of a key that is searched without the keys around it
_MAX_PARTS: Final = 8
_MAX_USES: Final = 12  # lines with a key per text


def has_message_keys(path: str) -> bool:
    """Return whether a file may be a catalogue whose messages have keys."""
    return contains_texts(path) or path.lower().endswith(_PROPERTIES)


def read_namespace(path: str) -> Key:
    """Return the part of a key that is the name of its catalogue; () if it is no part of the key.

    In a folder per language, this is the name of the file: lang/en/auth.php contains `auth.failed`.
    """
    page, language = parse_translation(path)
    name = path.rpartition("/")[2]
    is_in_folder = language and page != path and page.rpartition("/")[2] == name
    return (file_stem(path),) if is_in_folder else ()


def read_message_key(lines: Sequence[str], number: int) -> Key:
    """Return the key of the message on a line of a catalogue; () if it has none.

    `number` is that of the line, from 1. The keys of surrounding blocks are part of the key.
    """
    line = lines[number - 1]
    before = range(number - 1, max(number - 1 - _MAX_LINES_BEFORE, 0), -1)
    nearest = (lines[at - 1] for at in before if _XML_LINE.match(line))
    for one in (line, *nearest):
        if attribute := _ATTRIBUTE.search(one):
            return _split(attribute[1])
    found = [key for key, _ in zip(_enclosing_keys(lines, number), range(_MAX_PARTS), strict=False)]
    return _split(".".join(reversed(found)))


def _enclosing_keys(lines: Sequence[str], number: int) -> Iterator[str]:
    """Yield the key on a line, or the nearest one above a line without a key, and those around it.

    A key is around all lines that follow it and are indented more.
    """
    least: int | None = None  # the lines above count only if they are indented less
    for at in range(number - 1, -1, -1):
        line = lines[at]
        depth = len(line) - len(line.lstrip())
        if depth == len(line) or (least is not None and depth >= least):
            continue
        if (pair := _PAIR.match(line)) is not None:
            least = depth
            yield pair[1]
        elif least is None:
            least = depth
        if least == 0:
            return


def _split(key: str) -> Key:
    parts = [part for part in key.split(".") if part]
    if len(parts) > 1 and parts[-1] in _PLURALS:
        parts.pop()
    return (*parts[:-1], _PLURAL_ENDING.sub("", parts[-1])) if parts else ()


def shorter_keys(key: Key) -> Iterator[Key]:
    """Yield a key, and the same key without the blocks around it, longest first.

    A key of one part may be an ordinary word. It is left out unless it has several words.
    """
    for start in range(len(key)):
        rest = key[start:]
        is_single = len(rest) == 1
        if is_single and (len(split_identifier(rest[0])) < 2 or len(rest[0]) < _MIN_SINGLE_CHARS):
            return
        yield rest


def find_key_lines(key: Key, text: str) -> list[int]:
    """Return the lines of a text that use a key as a whole, in ascending order.

    The parts may be joined by underscores, as in the names of functions that return messages. A
    line that begins with the key and a colon or an equals sign gives it a value.
    """
    joined = r"[.:/_-]".join(map(re.escape, key))
    pattern = re.compile(rf"(?<![A-Za-z0-9]){joined}(?![\w-])")
    matches = (match for match in pattern.finditer(text) if not _is_pair(text, match))
    starts = [match.start() for match in islice(matches, _MAX_USES)]
    return list(dict.fromkeys(line_numbers(text, starts)))


def _is_pair(text: str, match: re.Match[str]) -> bool:
    before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
    return not before.strip(" \t\"'") and _PAIR_END.match(text, match.end()) is not None


def is_quoting(path: str) -> bool:
    """Return whether a file only repeats keys: a test, a document or another catalogue."""
    return quotes_messages(path) or has_message_keys(path)
