"""What a path tells of a file: its words, and whether it holds tests."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

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
_RECORD_NAME: Final = re.compile(
    r"change_?log|changes|news|history|release[-_]?notes|releases|upgrading|upgrade|migration"
    r"|authors|contribut|thanks|copying|licen[sc]e|code_of_conduct|todo",
    re.IGNORECASE,
)
_RECORD_FOLDER: Final = re.compile(r"(^|/)(changelogs?|changes|news)/", re.IGNORECASE)
_EXAMPLE: Final = re.compile(
    r"(^|/)(examples?|samples?|demos?|bench(marks?)?|scripts?|tools?|misc|contrib)/", re.IGNORECASE
)
_HIDDEN: Final = re.compile(r"(^|/)\.")
# Two words that are not the same are alike from so many common letters on.
HEAD_CHARS: Final = 3
# Few names have more words, and those that do are sentences, of which no other name is a part.
_LONGEST_INNER: Final = 6


class Traits(NamedTuple):
    """What kind of file it is, told from its path."""

    is_test: bool
    is_record: bool  # a list of changes, a licence or the like
    is_prose: bool  # a document for people
    is_config: bool  # data or settings for programs
    is_example: bool  # shows or measures the code, or helps to build it
    is_hidden: bool  # a name in the path begins with a dot
    is_set_aside: bool  # internal, vendored or deprecated


@dataclass(frozen=True, slots=True)
class PathParts:
    """The words of a path, lower case, and what else it tells."""

    stem: tuple[str, ...]
    folders: tuple[str, ...]
    stem_chars: int  # of its words together
    whole: str  # the stem in one spelling
    # Every run of words within the stem but the stem itself; not the longest runs of long names.
    inner: frozenset[tuple[str, ...]]
    heads: frozenset[str]  # how its words begin
    depth: int  # folders above it
    traits: Traits


# A file that is named after its folder says nothing with its own name.
_EMPTY_STEMS: Final = frozenset(
    {"index", "mod", "init", "main", "lib", "__init__", "package", "root"}
)


@lru_cache(maxsize=65_536)
def path_parts(path: str) -> PathParts:
    folder, stem = path.rpartition("/")[0], stem_of(path)
    traits = _traits(path, folder)
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
        traits,
    )


def _traits(path: str, folder: str) -> Traits:
    around, name, language = _folder_traits(folder), path[len(folder) :].lstrip("/"), language_of(path)
    return Traits(
        is_test=around.is_test or _TEST_NAME.search(name) is not None,
        is_record=around.is_record or _RECORD_NAME.match(name) is not None,
        is_prose=language in PROSE,
        is_config=language in CONFIG_EXTENSIONS,
        is_example=around.is_example,
        is_hidden=around.is_hidden or name.startswith("."),
        is_set_aside=around.is_set_aside or _SET_ASIDE.search(name) is not None,
    )


@lru_cache(maxsize=65_536)
def _folder_traits(folder: str) -> Traits:
    """What the files in a folder are, whatever their names."""
    path = f"{folder}/" if folder else ""
    return Traits(
        is_test=_TEST_FOLDER.search(path) is not None,
        is_record=_RECORD_FOLDER.search(path) is not None,
        is_prose=False,
        is_config=False,
        is_example=_EXAMPLE.search(path) is not None,
        is_hidden=_HIDDEN.search(path) is not None,
        is_set_aside=_SET_ASIDE.search(path) is not None,
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
