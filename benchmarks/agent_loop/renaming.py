"""Copies of repositories in which the words of the domain are replaced consistently.

A model that knows a public repository cannot answer from memory if the copy uses other words in its
files, identifiers and prose. Each word of a table is replaced wherever it is a part of an
identifier, a path or a sentence, in lower case, Capitalized or in UPPER CASE, with or without a
plural "s". Lines keep their numbers. The copy is for reading: it does not compile if a word is also
a keyword or a library name of the programming language. Names, such as the project's, are replaced
inside longer words as well.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.common.git import SNIFFED_BYTES

_WORD: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")


class RenamingError(Exception):
    """Raised when a table is invalid or ambiguous, or two files would get the same path."""


@dataclass(frozen=True)
class WordTable:
    """Replacements for lower-case words, and for names that may be parts of longer words."""

    words: Mapping[str, str]
    names: Mapping[str, str]


def read_table(path: Path) -> WordTable:
    """Return the table in a JSON file. Raise RenamingError if it is invalid or ambiguous."""
    record = json.loads(path.read_text(encoding="utf-8"))
    table = WordTable(record["words"], record["names"])
    both = [*table.words.items(), *table.names.items()]
    known = {word for word, _ in both}
    for word, replacement in both:
        if not re.fullmatch(r"[a-z]+", word) or not re.fullmatch(r"[a-z]+", replacement):
            raise RenamingError(f"{word}: words consist of lower-case letters")
        if replacement in known:
            raise RenamingError(f"{word}: its replacement {replacement} is replaced too")
    if len({replacement for _, replacement in both}) < len(both):
        raise RenamingError(f"{path.name}: two words have the same replacement")
    return table


def rename_words(text: str, table: WordTable) -> str:
    """Return the text with every word of the table replaced; its case and plural are kept."""
    return _WORD.sub(lambda match: _replace_word(match[0], table), text)


def _replace_word(word: str, table: WordTable) -> str:
    lower = word.lower()
    new = _find_replacement(lower, table)
    if new == lower:
        return word
    if word.isupper() and len(word) > 1:
        return new.upper()
    return new.capitalize() if word[0].isupper() else new


def _find_replacement(lower: str, table: WordTable) -> str:
    if lower in table.words:
        return table.words[lower]
    if lower.endswith("s") and (stem := table.words.get(lower[:-1])):
        return f"{stem}s"
    for name, replacement in table.names.items():
        lower = lower.replace(name, replacement)
    return lower


def copy_renamed(source: Path, target: Path, table: WordTable) -> int:
    """Copy a folder with renamed words into a new folder; return the number of files.

    Binary files are copied under their renamed paths. Links and `.git` are omitted.
    """
    paths: dict[str, str] = {}
    for path in sorted(source.rglob("*")):
        old = path.relative_to(source)
        if path.is_symlink() or not path.is_file() or ".git" in old.parts:
            continue
        new = rename_words(old.as_posix(), table)
        if new in paths:
            raise RenamingError(f"{paths[new]} and {old.as_posix()} would both be {new}")
        paths[new] = old.as_posix()
        _copy_file(path, target / new, table)
    return len(paths)


def _copy_file(source: Path, target: Path, table: WordTable) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    content = source.read_bytes()
    if b"\0" in content[:SNIFFED_BYTES]:
        shutil.copyfile(source, target)
        return
    text = content.decode("utf-8", errors="surrogateescape")
    target.write_bytes(rename_words(text, table).encode("utf-8", errors="surrogateescape"))
