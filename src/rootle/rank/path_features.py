"""Extract words and file kinds (tests, documents, configuration, …) from a path."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final, NamedTuple

from rootle.text.file_kinds import is_in_vendor_folder
from rootle.text.languages import CODE_EXTENSIONS, CONFIG_EXTENSIONS, PROSE, file_language
from rootle.text.path_glob import compile_glob, is_glob
from rootle.text.terms import file_stem, find_words, split_identifier, whole_identifier
from rootle.text.translated_paths import contains_texts, is_catalogue

_TEST_FOLDER: Final = re.compile(
    r"(^|/)([Tt]ests?|specs?|__tests__|testing|mocks?|(tests?|testing|specs?)[-_]?(data|helpers?|kit|support|utils?)|[Ff]ixtures?|"
    r"[\w.-]*[-_.]tests?|e2e|"
    r"src/(test|integrationTest|[a-z]+Test)|[A-Za-z0-9_]+Tests|[A-Z][A-Za-z0-9]*\.Tests?(\.[\w.]+)?)/",
)
_TEST_NAME: Final = re.compile(
    r"(^test_|^testing\.go$|_test\.|_testing\.go$|_tests\.|[.-]test\.|[.-]spec\.|_spec\.|^tests?\.|Tests?\.[a-z]+$|Spec\.[a-z]+$|"
    r"^conftest\.)"
)
# Internal, old, vendored and deprecated code seldom answers a question, even if it contains the
# words of the question.
_SET_ASIDE: Final = re.compile(
    r"(^|/)(_?internals?|old)(/|\.|$)|deprecat|legacy|vendor|third_party|compat",
    re.IGNORECASE,
)
# Changelogs and boilerplate mention everything and seldom answer a question.
_RECORD_NAME: Final = re.compile(
    r"change_?log|changes|news|history|release[-_]?notes|releases|upgrading|upgrade|migration"
    r"|authors|contribut|thanks|copying|licen[sc]e|code_of_conduct|todo",
    re.IGNORECASE,
)
# A document that is named after a version of the project is about the changes in this version.
# `tls-1.3.md` is named after something else.
_VERSION_NAME: Final = re.compile(
    r"((v|announce(ment)?|change(s|log)|history|migration|news|notes|rel(ease)?s?([_-]notes?)?"
    r"|upgrad(e|ing)|versions?|what'?s?[_-]?new)[._-]?v?)?"
    r"\d{1,4}(\.\d{1,4}){1,3}([-_.]?[a-z][\w-]{0,30})?\.\w+$",
    re.IGNORECASE,
)
_RECORD_FOLDER: Final = re.compile(r"(^|/)(changelogs?|changes|news)/", re.IGNORECASE)
# Files that state which tools and packages, and which versions of them, a project requires.
_MANIFEST_NAME: Final = re.compile(
    r"(package\.json|deno\.jsonc?|\.n(vm|ode)rc|\.(node|python|ruby|java|go)-version|\.tool-versions"
    r"|\.?mise\.toml|runtime\.txt|pyproject\.toml|setup\.(py|cfg)|pipfile|tox\.ini"
    r"|[\w-]*requirements[\w-]*\.(txt|in)|environment\.ya?ml|gemfile|[\w.-]+\.gemspec|go\.mod"
    r"|cargo\.toml|rust-toolchain(\.toml)?|pom\.xml|[\w.-]+\.gradle(\.kts)?"
    r"|gradle(-wrapper)?\.properties|libs\.versions\.toml|build\.sbt|composer\.json"
    r"|[\w.-]+\.(cs|fs|vb)proj|directory\.\w+\.props|global\.json|mix\.exs|pubspec\.ya?ml"
    r"|package\.swift|cmakelists\.txt|meson\.build|configure\.ac|[\w.-]+\.(cabal|rockspec|opam)"
    r"|stack\.yaml|dune-project|project\.clj|deps\.edn|rebar\.config|build\.zig\.zon"
    r"|(\w+\.)?dockerfile(\.[\w.-]+)?|docker-compose(\.[\w-]+)?\.ya?ml)$",
    re.IGNORECASE,
)
_EXAMPLE_FOLDER: Final = re.compile(
    r"(^|/)(examples?|samples?|demos?|bench(marks?)?|scripts?|tools?|misc|contrib)/", re.IGNORECASE
)
# Folders at the root that contain copies of other projects. Below the root, folders such as "deps"
# often contain code of the project that manages dependencies.
_COPIED: Final = re.compile(r"(deps|extern|externals?|subprojects)/", re.IGNORECASE)
# Files that a program has written. Minified files, lock files and files that say that they are
# generated are not indexed at all.
_GENERATED: Final = re.compile(
    r"(^|/)(__snapshots__|__generated__|generated)/|(^|/)zz_generated\."
    r"|\.(snap|g\.dart|freezed\.dart|designer\.cs)$"
    # Lists of known findings that type checkers and linters write.
    r"|(^|/)\.?(\w{1,40}[-_.])?baseline\.(json|txt|xml|neon|ya?ml|toml)$",
    re.IGNORECASE,
)
# Changes to the tables of a database, which repeat the words of the code that uses the tables. The
# names of these files, or of their folders, begin with a number.
_MIGRATION_PATH: Final = re.compile(
    r"(^|/)(migrations?|migrate)/(\w{1,40}/)?(\d{3,14}[_-]|v\d{1,14}(_\d{1,9})?__|versions/)",
    re.IGNORECASE,
)
# Bundles and type declarations that builds of JavaScript and TypeScript write.
_BUILT_FOLDER: Final = re.compile(r"(^|/)(\w{1,40}[-_.])?dist/", re.IGNORECASE)
_BUILT_NAME: Final = re.compile(r"\.([cm]?js|d\.[cm]?ts|css)$", re.IGNORECASE)
_BUNDLE_NAME: Final = re.compile(r"\.(bundle|umd|iife)\.[cm]?js$", re.IGNORECASE)
_HIDDEN_FOLDER: Final = re.compile(r"(^|/)\.")
# Different words can be similar only if they share a prefix of at least this length.
HEAD_CHARS: Final = 3
# Maximum number of words in a run of consecutive words of a file name. A name of twenty words has
# two hundred runs, and longer runs are rarely the name of another file.
_MAX_INNER_WORDS: Final = 8
_RECORDINGS: Final = (".log", ".jsonl", ".out", ".csv")
# File kinds. The first one is the lowest bit of `PathParts.kinds`.
KINDS: Final = (
    "is_test",
    "is_record",  # a changelog, a license or the like
    "is_prose",  # a document
    "is_config",  # configuration or data
    "is_example",  # an example, a benchmark or a build script
    "is_hidden",  # a name in the path begins with a dot
    "is_set_aside",  # internal, vendored or deprecated
    "is_copied",  # a copy of another project
    "is_generated",  # written by a program
    "is_texts",  # the texts of a user interface
    "is_manifest",  # states what the project requires
    "is_migration",  # changes the tables of a database
)
_BITS: Final = tuple(1 << at for at in range(len(KINDS)))
_TEST, _RECORD, _PROSE, _CONFIG, _EXAMPLE, _HIDDEN, _ASIDE, _COPY, _MADE, _TEXTS = _BITS[:10]
_MANIFEST, _MIGRATION = _BITS[10:]


class PathParts(NamedTuple):
    """The lower-case words of a path, and its kinds."""

    stem: tuple[str, ...]
    folders: tuple[str, ...]
    stem_chars: int  # total length of the words of the stem
    whole: str  # the stem as one normalized word
    # Every run of up to eight consecutive words of the stem, except the stem itself.
    inner: frozenset[tuple[str, ...]]
    heads: frozenset[str]  # prefixes of the words of the path
    depth: int  # number of folders above the file
    kinds: int  # one bit for each of KINDS


# For files with these stems, the name of the folder counts as the stem.
_EMPTY_STEMS: Final = frozenset(
    {"index", "mod", "init", "main", "lib", "__init__", "package", "root"}
)


@lru_cache(maxsize=65_536)
def path_parts(path: str) -> PathParts:
    """Return the words and kinds of a path."""
    folder, stem = path.rpartition("/")[0], file_stem(path)
    kinds = _kinds(path, folder)
    if folder and stem.lower().strip("_") in _EMPTY_STEMS:
        folder, _, stem = folder.rpartition("/")
    words, (folder_words, heads) = _words(stem), _folder_words(folder)
    count = len(words)
    longest = min(count, _MAX_INNER_WORDS + 1)
    return PathParts(
        words,
        folder_words,
        sum(map(len, words)),
        whole_identifier("".join(find_words(stem))),
        frozenset(
            [words[at : at + size] for size in range(1, longest) for at in range(count - size + 1)]
        ),
        heads.union([word[:HEAD_CHARS] for word in words]),
        path.count("/"),
        kinds,
    )


def _kinds(path: str, folder: str) -> int:
    name, language = path[len(folder) :].lstrip("/"), file_language(path)
    kinds = _kinds_in(folder)
    if _TEST_NAME.search(name):
        kinds |= _TEST
    if _RECORD_NAME.match(name):
        kinds |= _RECORD
    if language in CODE_EXTENSIONS:
        kinds &= ~_RECORD  # history.py is code, not a changelog
    if language in PROSE:
        kinds |= _PROSE | (_RECORD if _VERSION_NAME.match(name) else 0)
    elif language in CONFIG_EXTENSIONS:
        kinds |= _CONFIG
    if name.startswith("."):
        kinds |= _HIDDEN
    if _SET_ASIDE.search(name):
        kinds |= _ASIDE
    if is_in_vendor_folder(path) or _COPIED.match(path):
        kinds |= _COPY
    is_built = _BUILT_NAME.search(name) and _BUILT_FOLDER.search(f"{folder}/")
    if is_built or _BUNDLE_NAME.search(name) or _GENERATED.search(path):
        kinds |= _MADE
    if contains_texts(path):
        kinds |= _TEXTS
    if _MANIFEST_NAME.match(name):
        kinds |= _MANIFEST
    if _MIGRATION_PATH.search(path):
        kinds |= _MIGRATION
    return kinds


@lru_cache(maxsize=65_536)
def _kinds_in(folder: str) -> int:
    """Return the kinds that all files below a folder have."""
    path = f"{folder}/" if folder else ""
    patterns = (
        (_TEST_FOLDER, _TEST),
        (_RECORD_FOLDER, _RECORD),
        (_EXAMPLE_FOLDER, _EXAMPLE),
        (_HIDDEN_FOLDER, _HIDDEN),
        (_SET_ASIDE, _ASIDE),
    )
    return sum(kind for pattern, kind in patterns if pattern.search(path))


@lru_cache(maxsize=65_536)  # many files share a folder
def _folder_words(folder: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the distinct words of a folder path, and their prefixes."""
    names = folder.split("/") if folder else []
    words = tuple(dict.fromkeys(word for name in names for word in _words(name)))
    return words, frozenset(word[:HEAD_CHARS] for word in words)


@lru_cache(maxsize=65_536)  # a few folder names occur in many paths
def _words(name: str) -> tuple[str, ...]:
    return tuple(part for word in find_words(name) for part in split_identifier(word))


def quotes_messages(path: str) -> bool:
    """Return whether a file quotes the messages of a program, but does not produce them.

    Such files are tests, documents, changelogs, recorded output, generated code and catalogues of
    translations.
    """
    if path.lower().endswith(_RECORDINGS) or is_catalogue(path):
        return True
    return bool(path_parts(path).kinds & (_TEST | _RECORD | _PROSE | _MADE))


def is_generated(path: str) -> bool:
    """Return whether the path suggests that a program wrote the file, as for a bundle."""
    return bool(path_parts(path).kinds & _MADE)


def matches_path(path: str, pattern: str) -> bool:
    """Return whether the pattern is the path itself, a folder above it, or a matching glob."""
    return path_matcher(pattern)(path)


def path_matcher(pattern: str) -> Callable[[str], bool]:
    """Return a function that returns the result of `matches_path` for a path."""
    pattern = pattern.removeprefix("./").rstrip("/")
    if pattern in ("", "."):
        return lambda _: True
    folder = f"{pattern}/"
    if not is_glob(pattern):
        return lambda path: path == pattern or path.startswith(folder)
    matches = compile_glob(pattern).match
    return lambda path: path == pattern or path.startswith(folder) or bool(matches(path))
