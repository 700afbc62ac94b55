"""The words of the code of a project, its files and its folders."""

from __future__ import annotations

import os
import re
import threading
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from rootle.index.reader import FileState, IndexReader
from rootle.links.drift.code_words import CodeWords, ReadWords
from rootle.links.drift.comments import DividedText
from rootle.text.file_kinds import is_page
from rootle.text.languages import CODE_EXTENSIONS, DOCUMENTATION, file_language
from rootle.types import ProgressCallback

# The maximum number of characters of code. Reading them takes about ten seconds, which is necessary
# if the comments of all files are checked.
MAX_CHARS: Final = 150_000_000
# Documents in XML: DocBook, and the pages of a Maven site.
_XML_DOCUMENT: Final = re.compile(r"(?i)(?:^|/)(?:docs?|documentation|manual|xdocs?|docbook)/")


@dataclass(frozen=True)
class ProjectNames:
    """The names that exist in the current files."""

    words: CodeWords
    files: frozenset[str]  # paths, even of files whose content is not indexed
    is_complete: bool  # whether all text was within the limit

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
            language, folder = file_language(path), path.rpartition("/")[0]
            while folder and (folder, language) not in found:
                found.add((folder, language))
                folder = folder.rpartition("/")[0]
        return frozenset(found)

    @cached_property
    def module_names(self) -> frozenset[str]:
        """The names of folders and of source files without extensions, in lower case."""
        sources = (path for path in self.files if file_language(path) in CODE_EXTENSIONS)
        paths = (*self.folders, *sources)
        return frozenset(path.rpartition("/")[2].partition(".")[0].lower() for path in paths)

    @cached_property
    def _reversed(self) -> list[str]:
        """The paths of files and folders, each with its characters reversed, sorted."""
        return sorted(f"/{path}"[::-1] for path in self.files | self.folders)

    def has_path_end(self, path: str) -> bool:
        """Return whether `path` is the path of a file or a folder, or the last parts of one."""
        end = f"/{path}"[::-1]
        at = bisect_left(self._reversed, end)
        return at < len(self._reversed) and self._reversed[at].startswith(end)

    def has_word(self, name: str) -> bool:
        """Return whether a name occurs in code in this spelling, or is joined from two parts."""
        return self.words.has(name) or self.words.has_parts(name)

    def names_path(self, path: str) -> bool:
        """Return whether scripts, settings or data name a path, as a build may create the file."""
        return self.words.has_path(path)

    def has(self, name: str) -> bool:
        """Return whether a name occurs in code in any common spelling."""
        return self.words.has_spelling(name)


class ProjectReader:
    """Provides the names of a project, and keeps the words of its code until the index changes.

    Thread-safe.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: ReadWords | None = None

    def read(
        self,
        index: IndexReader,
        is_wanted: Callable[[str], bool],
        on_comments: Callable[[FileState, DividedText], None],
        on_progress: ProgressCallback,
    ) -> ProjectNames:
        """Return the names in an index.

        `on_comments` receives the comments of each source file for which `is_wanted` returns True.
        `on_progress` receives the number of files that were considered, and the number of all
        files. Nothing is read if the project contains more text than MAX_CHARS.
        """
        states = index.all_files()
        code = {state.id: state for state in states if state.skip is None and _has_code(state)}
        words = CodeWords(index, code, self._open_words(index.generation))
        is_complete = sum(state.chars for state in code.values()) < MAX_CHARS
        for count, state in enumerate(states if is_complete else ()):
            on_progress(count, len(states))
            is_source = state.id in code and state.language in CODE_EXTENSIONS
            if is_source and is_wanted(state.path):
                on_comments(state, words.read(state))
        return ProjectNames(words, frozenset(state.path for state in states), is_complete)

    def _open_words(self, generation: int) -> ReadWords:
        """Return the words that were read from this generation of the index."""
        with self._lock:
            known = self._known
            if known is None or known.generation != generation or known.is_too_large:
                known = self._known = ReadWords(generation)
            return known


def possible_paths(document: str, raw: str) -> list[str]:
    """Return the paths to which a path in a document may refer, relative to the root."""
    folder = document.rpartition("/")[0]
    below = os.path.normpath(f"{folder}/{raw}" if folder else raw).replace(os.sep, "/")
    found = [below, os.path.normpath(raw).replace(os.sep, "/")]
    return [path for path in dict.fromkeys(found) if not path.startswith(("..", "/"))]


def _has_code(state: FileState) -> bool:
    """Return whether a file counts as code. Documents do not, as they can contain old names."""
    is_book = state.language == "xml" and _XML_DOCUMENT.search(state.path) is not None
    return not (is_book or state.language in DOCUMENTATION or is_page(state.path, state.language))
