"""What a path tells of a file: its words, and whether it holds tests."""

from __future__ import annotations

import fnmatch
import re
from functools import lru_cache
from typing import Final, NamedTuple

from rootle.text.languages import CONFIG_EXTENSIONS, PROSE, language_of
from rootle.text.terms import WORD, split_identifier, stem_of, whole_identifier

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
_RECORD_NAME: Final = re.compile(
    r"change_?log|changes|news|history|release[-_]?notes|releases|upgrading|upgrade|migration"
    r"|authors|contribut|thanks|copying|licen[sc]e|code_of_conduct|todo",
    re.IGNORECASE,
)
_RECORD_FOLDER: Final = re.compile(r"(^|/)(changelogs?|changes|news)/", re.IGNORECASE)
_EXAMPLE_FOLDER: Final = re.compile(
    r"(^|/)(examples?|samples?|demos?|bench(marks?)?|scripts?|tools?|misc|contrib)/", re.IGNORECASE
)
_HIDDEN_FOLDER: Final = re.compile(r"(^|/)\.")
# Two words that are not the same are alike from so many common letters on.
HEAD_CHARS: Final = 3
# Of a name of twenty words there are two hundred runs; names of more words than this, which might
# be among them, are rare.
_LONGEST_INNER: Final = 8
# What kind of file it is; the first is the lowest bit of `PathParts.kinds`.
KINDS: Final = (
    "is_test",
    "is_record",  # a list of changes, a licence or the like
    "is_prose",  # a document for people
    "is_config",  # data or settings for programs
    "is_example",  # shows or measures the code, or helps to build it
    "is_hidden",  # a name in the path begins with a dot
    "is_set_aside",  # internal, vendored or deprecated
)
_TEST, _RECORD, _PROSE, _CONFIG, _EXAMPLE, _HIDDEN, _ASIDE = (1 << at for at in range(len(KINDS)))


class PathParts(NamedTuple):
    """The words of a path, lower case, and what else it tells."""

    stem: tuple[str, ...]
    folders: tuple[str, ...]
    stem_chars: int  # of its words together
    whole: str  # the stem in one spelling
    # Every run of up to eight words within the stem, but not the stem itself.
    inner: frozenset[tuple[str, ...]]
    heads: frozenset[str]  # how its words begin
    depth: int  # folders above it
    kinds: int  # a bit for each of KINDS


# A file that is named after its folder says nothing with its own name.
_EMPTY_STEMS: Final = frozenset(
    {"index", "mod", "init", "main", "lib", "__init__", "package", "root"}
)


@lru_cache(maxsize=65_536)
def path_parts(path: str) -> PathParts:
    folder, stem = path.rpartition("/")[0], stem_of(path)
    kinds = _kinds(path, folder)
    if folder and stem.lower().strip("_") in _EMPTY_STEMS:
        folder, _, stem = folder.rpartition("/")
    words, (around, heads) = _words(stem), _folder_words(folder)
    count = len(words)
    longest = min(count, _LONGEST_INNER + 1)
    return PathParts(
        words,
        around,
        sum(map(len, words)),
        whole_identifier("".join(WORD.findall(stem))),
        frozenset(
            [words[at : at + long] for long in range(1, longest) for at in range(count - long + 1)]
        ),
        heads.union([word[:HEAD_CHARS] for word in words]),
        path.count("/"),
        kinds,
    )


def _kinds(path: str, folder: str) -> int:
    name, language = path[len(folder) :].lstrip("/"), language_of(path)
    kinds = _kinds_in(folder)
    if _TEST_NAME.search(name):
        kinds |= _TEST
    if _RECORD_NAME.match(name):
        kinds |= _RECORD
    if language in PROSE:
        kinds |= _PROSE
    elif language in CONFIG_EXTENSIONS:
        kinds |= _CONFIG
    if name.startswith("."):
        kinds |= _HIDDEN
    if _SET_ASIDE.search(name):
        kinds |= _ASIDE
    return kinds


@lru_cache(maxsize=65_536)
def _kinds_in(folder: str) -> int:
    """What all files below a folder are, whatever their names."""
    path = f"{folder}/" if folder else ""
    told = (
        (_TEST_FOLDER, _TEST),
        (_RECORD_FOLDER, _RECORD),
        (_EXAMPLE_FOLDER, _EXAMPLE),
        (_HIDDEN_FOLDER, _HIDDEN),
        (_SET_ASIDE, _ASIDE),
    )
    return sum(kind for pattern, kind in told if pattern.search(path))


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
