"""Find the definition or file that a question names, and the commits that changed or removed it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rootle.errors import IndexStorageError
from rootle.federation.name_answers import NameLookup
from rootle.history.names.name_history import MAX_DEFINITIONS
from rootle.history.names.place_changes import ChangedPlace, last_word
from rootle.history.removals.present_code import PresentCode, describe_present
from rootle.history.removals.removal_search import find_removals
from rootle.provenance.definition_changes import (
    CurrentLines,
    list_definition_changes,
    list_file_changes,
)
from rootle.search.symbols.place_kinds import PlaceKind, has_place, kind_of_place
from rootle.text.languages import CODE_EXTENSIONS, UNKNOWN, file_language
from rootle.text.terms import compose
from rootle.types import RemovalAnswer, RevisionRange, SearchQuery, ignore_progress

if TYPE_CHECKING:
    from rootle.app.container import Container
    from rootle.history.removals.removed_definitions import RemovedDefinition, RemovedDefinitions
    from rootle.index.reader import IndexReader
    from rootle.sources.git.lines.commits_of_lines import ChangeLog
    from rootle.types import Symbol

_REMOVED_WAIT_S: Final = 3.0  # maximum wait for the index of removed definitions
_DECLARATION: Final = "declaration"
_SETTINGS: Final = frozenset({"variable", "constant"})
# The name of a package with its scope, as npm and JSR write it.
_SCOPED: Final = re.compile(r"@[\w.-]+/(?P<name>[\w.-]+)/?")
_MANIFESTS: Final = (
    *("package.json", "deno.json", "deno.jsonc", "jsr.json", "Cargo.toml", "pyproject.toml"),
    *("setup.py", "go.mod", "pom.xml", "build.gradle", "build.gradle.kts", "composer.json"),
    *("mix.exs", "pubspec.yaml", "Package.swift"),
)


def open_name_lookup(root: Path, container: Container) -> NameLookup:
    """Return a name lookup for one question. It updates the file index at most once."""
    history = container.history()

    @cache
    def open_files() -> IndexReader | None:
        try:
            container.refresher().refresh(ignore_progress, fully=False)
            return container.indexer().snapshot()
        except IndexStorageError:  # a question about commits needs no index of the files
            return None

    @cache
    def find(name: str) -> Sequence[Symbol]:
        index = open_files()
        return () if index is None else find_definitions(container, index, name)

    def find_place(name: str) -> ChangedPlace | None:
        index = open_files()
        if index is None:
            return None
        return find_changed_place(root, name, index, find, history.change_log())

    def find_files(word: str) -> ChangedPlace | None:
        index = open_files()
        paths = [] if index is None else _find_files_by_word(index, word)
        return _changed_files(root, paths, history.change_log()) if paths else None

    def list_period(paths: Sequence[str], period: RevisionRange) -> Collection[str]:
        changes = list_file_changes(root, paths, history.change_log(), period)
        return () if changes is None else changes.commits

    return NameLookup(
        find_place,
        find_files,
        lambda: prepare_removed_definitions(history.removed_definitions()),
        lambda name: find_removed_definitions(name, history.removed_definitions(), open_files()),
        lambda name: describe_present(name, find),
        list_period,
    )


def find_changed_place(
    root: Path,
    name: str,
    index: IndexReader,
    find: Callable[[str], Sequence[Symbol]],
    log: ChangeLog,
) -> ChangedPlace | None:
    """Return the files or the definitions with a name, and the commits that changed them.

    Return None if there are none, or more than three. Definitions in tests and example projects
    count only if there are no others. `find` returns the definitions of a name in code.
    """
    paths = _find_paths(index, name) if "." in name or "/" in name else []
    if 0 < len(paths) <= MAX_DEFINITIONS:
        return _changed_files(root, paths, log)
    found = find(name)
    symbols = [one for one in found if one.kind != _DECLARATION] or found
    symbols = [one for one in symbols if kind_of_place(one.path) == PlaceKind.CODE] or symbols
    if not symbols and ("/" in name or file_language(name) != UNKNOWN):
        return replace(_changed_files(root, [name], log), exists=False)
    if not 0 < len(symbols) <= MAX_DEFINITIONS:
        return None
    lines = [CurrentLines(os.path.join(os.path.realpath(root), one.path), one.start_line,
                          one.end_line) for one in symbols]  # fmt: skip
    changes = list_definition_changes(lines, log)
    names = tuple(dict.fromkeys(one.path for one in symbols))
    where = ", ".join(f"{one.path}:{one.start_line}-{one.end_line}" for one in symbols)
    kinds = frozenset(one.kind for one in symbols)
    is_elsewhere = _is_used_elsewhere(index, name, symbols)
    if changes is None:
        return ChangedPlace(names, where, kinds, None, is_used_elsewhere=is_elsewhere)
    return ChangedPlace(
        names,
        where,
        kinds,
        changes.commits,
        changes.merges,
        changes.note,
        is_elsewhere,
        scopes=frozenset(one.scope.rpartition(" ")[2] for one in symbols),
    )


def _is_used_elsewhere(index: IndexReader, name: str, symbols: Sequence[Symbol]) -> bool:
    """Return whether a name is defined only in tests and example projects, but used elsewhere.

    If the name is a variable, such as a setting in the configuration of tests, its occurrences in
    documents count as uses too.
    """
    if any(kind_of_place(one.path) == PlaceKind.CODE for one in symbols):
        return False
    is_setting = all(one.kind in _SETTINGS for one in symbols)
    kinds = {PlaceKind.CODE, PlaceKind.DOCUMENT} if is_setting else {PlaceKind.CODE}
    return has_place(index, last_word(name), kinds)


def _changed_files(root: Path, paths: Sequence[str], log: ChangeLog) -> ChangedPlace:
    changes = list_file_changes(root, paths, log)
    names, where, kinds = tuple(paths), ", ".join(paths), frozenset[str]()
    if changes is None:
        return ChangedPlace(names, where, kinds, None)
    return ChangedPlace(names, where, kinds, changes.commits, changes.merges, changes.note)


def _find_paths(index: IndexReader, name: str) -> list[str]:
    """Return the file or folder at the path `name`, or else the files whose paths end in `name`.

    The path of a folder ends in "/".
    """
    wanted = compose(name).removeprefix("./")
    folder = f"{wanted.rstrip('/')}/"
    written = {compose(state.path): state.path for state in index.all_files()}
    paths = _match_paths(written.keys(), wanted, folder)
    return [written.get(path) or _write_folder(path, written) for path in paths]


def _find_files_by_word(index: IndexReader, word: str) -> list[str]:
    """Return the folder with this name at the root or of a package, and the files with this name.

    The case of the letters, and the extension of a file, do not count. Only the files at the root
    are returned, or else all if there are at most three. The path of the folder ends in "/". A
    package of a monorepo may be named with its scope: "@shop/cart" for the folder packages/cart.
    """
    paths = [state.path for state in index.all_files()]
    folders = {f"{path.partition('/')[0]}/" for path in paths if "/" in path}
    scoped = _SCOPED.fullmatch(word)
    word = scoped["name"] if scoped else word
    packages = _find_packages(paths, word)
    folder = [f"{word}/"] if f"{word}/" in folders else packages if len(packages) == 1 else []
    if scoped:
        return folder
    wanted = word.casefold()
    named = sorted(path for path in paths if _file_stem(path) == wanted)
    at_root = [path for path in named if "/" not in path]
    files = at_root or ([] if folder else named)
    return [*folder, *files] if len(files) <= MAX_DEFINITIONS else folder


def _find_packages(paths: Iterable[str], name: str) -> list[str]:
    """Return the folders with a name that contain a package: "packages/cart/"."""
    ends = tuple(f"/{name}/{manifest}" for manifest in _MANIFESTS)
    return sorted({f"{path.rpartition('/')[0]}/" for path in paths if path.endswith(ends)})


def _file_stem(path: str) -> str:
    """Return the name of a file without its extensions and in lower case: "changelog"."""
    return path.rpartition("/")[2].lstrip(".").partition(".")[0].casefold()


def _write_folder(folder: str, written: Mapping[str, str]) -> str:
    """Return the indexed spelling of a folder path. The keys of `written` are paths in NFC."""
    inside = next(path for path in written if path.startswith(folder))
    depth = folder.count("/")
    return "/".join([*written[inside].split("/")[:depth], ""])


def _match_paths(paths: Collection[str], wanted: str, folder: str) -> list[str]:
    if wanted in paths:
        return [wanted]
    if any(path.startswith(folder) for path in paths):
        return [folder] if "/" in wanted else []
    inner = f"/{wanted}"
    if wanted.endswith("/"):
        folders = (path.partition(inner) for path in paths)
        return sorted({f"{before}{found}" for before, found, _ in folders if found})
    return sorted(path for path in paths if path.endswith(inner))


def find_removed_code(
    container: Container, request: SearchQuery, limit: int | None
) -> RemovalAnswer:
    """Return removed code that matches a request, best first.

    Raise QueryError for an invalid query or limit, and if no commits can be searched.
    """
    history, indexer = container.history(), container.indexer()
    return find_removals(
        request,
        limit,
        history.require_commits,
        history.removed_definitions,
        indexer.snapshot,
        lambda name: find_definitions(container, indexer.snapshot(), name),
    )


def prepare_removed_definitions(definitions: RemovedDefinitions | None) -> str:
    """Index removed definitions for a limited time; return "", or why some are not indexed."""
    return "" if definitions is None else definitions.updates.prepare(_REMOVED_WAIT_S)


def find_removed_definitions(
    name: str, definitions: RemovedDefinitions | None, index: IndexReader | None
) -> tuple[list[RemovedDefinition], bool]:
    """Return the removed definitions of a name, except those that still exist elsewhere.

    Also return whether commits that contain the name, but were not read, may have removed more.

    `index` is the index of the current files. While the index of the removed definitions is being
    built, some of them are not known: see `prepare_removed_definitions`.
    """
    if definitions is None:
        return [], False
    found, is_limited = definitions.find_by_name(name)
    if index is None:
        return found, is_limited
    present = PresentCode(index)
    return [one for one in found if present.find(one) is None], is_limited


def find_definitions(container: Container, index: IndexReader, name: str) -> Sequence[Symbol]:
    """Return the definitions of a name in the code of an index."""
    from rootle.search.symbols.symbol_request import SymbolRequest

    found = container.symbol_finder().find(index, SymbolRequest(name)).definitions
    return [one for one in found if one.language in CODE_EXTENSIONS]
