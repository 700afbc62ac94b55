"""What a path tells of a file: its words, and whether it holds tests."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from rootle.languages import CONFIG_EXTENSIONS, PROSE, language_of
from rootle.text import WORD, split_identifier, stem_of, whole_identifier

_TEST_FOLDER: Final = re.compile(
    r"(^|/)(tests?|specs?|__tests__|testing|testdata|fixtures?|[\w.-]*[-_.]tests?|e2e|"
    r"src/(test|integrationTest|[a-z]+Test)|[A-Za-z0-9_]+Tests|[A-Z][A-Za-z0-9]*\.Tests?(\.[\w.]+)?)/",
)
_TEST_NAME: Final = re.compile(
    r"(^test_|_test\.|_tests\.|[.-]test\.|[.-]spec\.|_spec\.|^tests?\.|Tests?\.[a-z]+$|Spec\.[a-z]+$|"
    r"^conftest\.)"
)


# Kept apart by its authors: not the first place to look, though it may say the same words.
_SET_ASIDE: Final = re.compile(
    r"(^|/)(_?internals?|old)(/|\.|$)|deprecat|legacy|vendor|third_party|compat",
    re.IGNORECASE,
)
# What is told about the code over the years, and what every project has: words of everything, and
# seldom the answer.
_RECORD: Final = re.compile(
    r"(^|/)(change_?log|changes|news|history|release[-_]?notes|releases|upgrading|upgrade|migration"
    r"|authors|contribut|thanks|copying|licen[sc]e|code_of_conduct|todo)[^/]*$"
    r"|(^|/)(changelogs?|changes|news)/",
    re.IGNORECASE,
)
_EXAMPLE: Final = re.compile(
    r"(^|/)(examples?|samples?|demos?|bench(marks?)?|scripts?|tools?|misc|contrib)/", re.IGNORECASE
)
_HIDDEN: Final = re.compile(r"(^|/)\.")
# Two words that are not the same are alike from so many common letters on.
HEAD_CHARS: Final = 3


@dataclass(frozen=True, slots=True)
class PathParts:
    """The words of a path, lower case."""

    stem: tuple[str, ...]
    folders: tuple[str, ...]
    stem_chars: int  # of its words together
    whole: str  # the stem in one spelling
    inner: frozenset[tuple[str, ...]]  # every run of words within the stem but the stem itself
    heads: frozenset[str]  # how its words begin


# A file that is named after its folder says nothing with its own name.
_EMPTY_STEMS: Final = frozenset(
    {"index", "mod", "init", "main", "lib", "__init__", "package", "root"}
)


@lru_cache(maxsize=65_536)
def path_parts(path: str) -> PathParts:
    folder, stem = path.rpartition("/")[0], stem_of(path)
    if folder and stem.lower().strip("_") in _EMPTY_STEMS:
        folder, _, stem = folder.rpartition("/")
    words, (around, heads) = _words(stem), _folder_words(folder)
    count = len(words)
    return PathParts(
        words,
        around,
        sum(map(len, words)),
        whole_identifier("".join(WORD.findall(stem))),
        frozenset(
            [words[at : at + long] for long in range(1, count) for at in range(count - long + 1)]
        ),
        heads.union([word[:HEAD_CHARS] for word in words]),
    )


@lru_cache(maxsize=65_536)  # many files lie in one folder
def _folder_words(folder: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """The words of a folder's path, each once, and how they begin."""
    names = folder.split("/") if folder else []
    words = tuple(dict.fromkeys(word for name in names for word in _words(name)))
    return words, frozenset(word[:HEAD_CHARS] for word in words)


@lru_cache(maxsize=65_536)  # few names of folders stand in many paths
def _words(name: str) -> tuple[str, ...]:
    return tuple(part for word in WORD.findall(name) for part in split_identifier(word))


def is_at(path: str, place: str) -> bool:
    """Whether a path is this file, lies in this folder, or fits this glob."""
    place = place.removeprefix("./").rstrip("/")
    return (
        place in ("", ".")
        or path == place
        or path.startswith(f"{place}/")
        or fnmatch.fnmatchcase(path, place)
    )


@lru_cache(maxsize=65_536)
def is_set_aside(path: str) -> bool:
    """Whether a file is internal, vendored or deprecated, told from its path."""
    return _SET_ASIDE.search(path) is not None


@lru_cache(maxsize=65_536)
def is_record_path(path: str) -> bool:
    """Whether a file is a list of changes, a licence or the like, told from its path."""
    return _RECORD.search(path) is not None


@lru_cache(maxsize=65_536)
def is_prose_path(path: str) -> bool:
    """Whether a file is a document for people."""
    return language_of(path) in PROSE


@lru_cache(maxsize=65_536)
def is_config_path(path: str) -> bool:
    """Whether a file is data or settings for programs."""
    return language_of(path) in CONFIG_EXTENSIONS


@lru_cache(maxsize=65_536)
def is_example_path(path: str) -> bool:
    """Whether a file shows or measures the code, or helps to build it."""
    return _EXAMPLE.search(path) is not None


@lru_cache(maxsize=65_536)
def is_hidden_path(path: str) -> bool:
    """Whether a name in the path begins with a dot."""
    return _HIDDEN.search(path) is not None


@lru_cache(maxsize=65_536)
def is_test_path(path: str) -> bool:
    """Whether a file is a test, told from its folders and its name."""
    name = path.rpartition("/")[2]
    return bool(_TEST_FOLDER.search(path) or _TEST_NAME.search(name))
