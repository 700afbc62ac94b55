"""The words of the code of a project, its files and its folders."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from rootle.index.reader import FileState, IndexReader
from rootle.links.drift.comments import DividedText, divide, find_declared
from rootle.text.file_kinds import is_page
from rootle.text.languages import CODE_EXTENSIONS, DOCUMENTATION, detect_language
from rootle.types import ProgressCallback

# The maximum number of characters that are read for one answer. Reading them takes about ten
# seconds.
MAX_CHARS: Final = 150_000_000
_MAX_KEPT_WORDS: Final = 500_000  # they take about 50 MB
# Documents in XML: DocBook, and the pages of a Maven site.
_XML_DOCUMENT: Final = re.compile(r"(?i)(?:^|/)(?:docs?|documentation|manual|xdocs?|docbook)/")
_TOKEN: Final = re.compile(r"[^\W\d]\w*(?:-\w+)*")


@dataclass(frozen=True)
class ProjectNames:
    """The names that exist in the current files."""

    # The words of code, data and settings, and the names that comments declare.
    words: frozenset[str]
    files: frozenset[str]  # paths, even of files whose content is not indexed
    is_complete: bool  # whether all text was within the limit

    @cached_property
    def folded(self) -> frozenset[str]:
        """The words in lower case, without separators."""
        return frozenset(map(fold, self.words))

    @cached_property
    def folders(self) -> frozenset[str]:
        """The folders with files, without a final slash."""
        found = set()
        for path in self.files:
            folder = path.rpartition("/")[0]
            while folder and folder not in found:
                found.add(folder)
                folder = folder.rpartition("/")[0]
        return frozenset(found)

    @cached_property
    def folder_languages(self) -> frozenset[tuple[str, str]]:
        """Pairs of a folder and the language of a file somewhere below it."""
        found = set()
        for path in self.files:
            language, folder = detect_language(path), path.rpartition("/")[0]
            while folder and (folder, language) not in found:
                found.add((folder, language))
                folder = folder.rpartition("/")[0]
        return frozenset(found)

    @cached_property
    def module_names(self) -> frozenset[str]:
        """The names of folders and of source files without extensions, in lower case."""
        sources = (path for path in self.files if detect_language(path) in CODE_EXTENSIONS)
        paths = (*self.folders, *sources)
        return frozenset(path.rpartition("/")[2].partition(".")[0].lower() for path in paths)

    @cached_property
    def _reversed(self) -> list[str]:
        """The paths of files and folders, read backwards and sorted."""
        return sorted(f"/{path}"[::-1] for path in self.files | self.folders)

    def has_path_end(self, path: str) -> bool:
        """Return whether `path` is the path of a file or a folder, or the last parts of one."""
        end = f"/{path}"[::-1]
        at = bisect_left(self._reversed, end)
        return at < len(self._reversed) and self._reversed[at].startswith(end)

    def has(self, name: str) -> bool:
        """Return whether a name occurs in code in any common spelling."""
        return name in self.words or fold(name) in self.folded


def fold(name: str) -> str:
    """Return a name in lower case without separators: retry_max and retryMax become equal."""
    return name.replace("_", "").replace("-", "").lower()


class ProjectReader:
    """Reads the names of a project, and keeps them until the index changes. Thread-safe.

    Reading a project of 100 MB takes seconds, and a check of one document needs all its names.
    """

    def __init__(self) -> None:
        self._known: tuple[int, ProjectNames] | None = None  # the generation of an index, its names

    def read(
        self,
        index: IndexReader,
        is_wanted: Callable[[str], bool],
        on_comments: Callable[[FileState, DividedText], None],
        on_progress: ProgressCallback,
    ) -> ProjectNames:
        """Return the names in an index.

        `on_comments` receives the comments of each source file for which `is_wanted` returns True.
        Unless the names are known, `on_progress` receives the number of files that were read, and
        the number of all files.
        """
        known = self._known
        if known is None or known[0] != index.generation:
            names = _read_project(index, is_wanted, on_comments, on_progress)
            self._known = (index.generation, names) if _may_keep(names) else None
            return names
        for state in index.all_files():
            if _may_comment(state) and is_wanted(state.path):
                on_comments(state, divide(index.text(state.id), state.language))
        return known[1]


def _may_keep(names: ProjectNames) -> bool:
    return names.is_complete and len(names.words) <= _MAX_KEPT_WORDS


def _may_comment(state: FileState) -> bool:
    return state.skip is None and _has_code(state) and state.language in CODE_EXTENSIONS


def _read_project(
    index: IndexReader,
    is_wanted: Callable[[str], bool],
    on_comments: Callable[[FileState, DividedText], None],
    on_progress: ProgressCallback,
) -> ProjectNames:
    words: set[str] = set()
    paths: set[str] = set()
    left = MAX_CHARS
    states = index.all_files()
    for count, state in enumerate(states):
        on_progress(count, len(states))
        paths.add(state.path)
        if state.skip is not None or not _has_code(state) or left <= 0:
            continue
        left -= state.chars
        divided = divide(index.text(state.id), state.language)
        words.update(_TOKEN.findall("\n".join(divided.code)))
        words.update(find_declared(divided, state.language))
        if state.language in CODE_EXTENSIONS and is_wanted(state.path):
            on_comments(state, divided)
    words.update(part for word in list(_select_hyphenated(words)) for part in word.split("-"))
    return ProjectNames(frozenset(words), frozenset(paths), left > 0)


def _has_code(state: FileState) -> bool:
    """Return whether a file counts as code. Documents do not, as they can contain old names."""
    is_book = state.language == "xml" and _XML_DOCUMENT.search(state.path) is not None
    return not (is_book or state.language in DOCUMENTATION or is_page(state.path, state.language))


def _select_hyphenated(words: set[str]) -> Iterator[str]:
    return (word for word in words if "-" in word)
