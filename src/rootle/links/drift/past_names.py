"""Find the commits that removed a name, in the index of the commits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from rootle.history.commit_results import describe_commit
from rootle.history.commit_view import CommitView
from rootle.index.reader import FileState
from rootle.text.languages import CODE_EXTENSIONS, language_of
from rootle.text.terms import MAX_WORD_CHARS, WORD, whole_identifier
from rootle.types import COMMIT_MESSAGE, CommitFacts

# Commits that are read for one name, and for one answer. Reading one takes up to a millisecond.
_MAX_COMMITS: Final = 80
_MAX_READ: Final = 20_000
_KEYWORDS: Final = (
    "def|defp|defmacro|defmacrop|defmodule|fn|func|function\\*?|fun|sub|proc|method|macro|class"
    "|struct|enum|union|trait|interface|module|namespace|type|protocol|record|object|property"
    "|define|#define|impl|alias|alias_method|attr_\\w+"
)
_MODIFIERS: Final = "public|private|protected|internal|export|async|override|pub|abstract"
# Keywords of definitions that are local if they are indented.
_VARIABLES: Final = "const|static|let|var|val|final|extern|void|int|bool|char|string"
# Code whose definitions are no names of the project itself.
_SIDE_CODE: Final = re.compile(
    r"(?i)(?:^|[/_.-])(?:tests?|specs?|examples?|samples?|demos?|fixtures?|docs?|tutorials?"
    r"|playground|vendor(?:ed)?|third[_-]?party|xlib|extlib)(?:[/_.-]|$)|(?:Tests?|Specs?)(?:\.\w+|/)"
)
# The lines of a commit that list removed definitions; the whole patch may be too long.
_LISTS_REMOVED: Final = ("removed: ", "deleted ")
_BUILD_FILE: Final = re.compile(
    r"\.(?:gradle|sbt|gemspec)$|\.gradle\.kts$|(?:^|/)(?:buildSrc|project)/"
)
# Languages in which a type or nothing precedes the name of a function.
_TYPED_LANGUAGES: Final = frozenset("c cpp java csharp objc d dart php groovy".split())
_BRACE_LANGUAGES: Final = frozenset("javascript typescript tsx java csharp bash dart vue".split())
_COMMENT_LINE: Final = re.compile(r"\s*(?:#(?!\s*define)|//|/?\*|--(?!\w)|;|%|:param|@param)")


@dataclass(frozen=True, slots=True)
class PastName:
    """A name that a commit removed from the code."""

    name: str
    path: str  # of the file that defined it
    line: str  # the removed line
    commit: CommitFacts


class PastNames:
    """Looks up removed names. At most 20,000 commits are read for one answer."""

    def __init__(self, view: CommitView) -> None:
        self._view = view
        self._left = _MAX_READ
        self._sections = lru_cache(maxsize=512)(self._read_sections)

    @property
    def is_exhausted(self) -> bool:
        """Whether names were not looked up because too many commits were read."""
        return self._left <= 0

    def find_definition(self, name: str, *, may_be_local: bool) -> PastName | None:
        """Return the last removal of a definition of a name; None if there was none.

        `may_be_local` includes keys and indented variables, which may be local to a function.
        """
        return self._find(name, _Definitions(name, may_be_local).match)

    def find_text(self, text: str) -> PastName | None:
        """Return the last removal of a line of code that contains a text in quotation marks."""
        quoted = re.compile(rf"[\"'`(\[]{re.escape(text)}(?![\w-])")
        return self._find(text, lambda line, _: quoted.search(line) is not None)

    def find_parameters(self, name: str, parameters: Sequence[str]) -> PastName | None:
        """Return the last removal of a definition of a name with these parameters."""
        defines = _Definitions(name)
        wanted = [re.compile(rf"(?<!\w){re.escape(one)}(?!\w)") for one in parameters]
        return self._find(
            name,
            lambda line, language: (
                defines.match(line, language)
                and "(" in line
                and all(one.search(line.partition(name)[2]) for one in wanted)
            ),
            is_kept=True,
        )

    def find_word(self, path: str, function: str, name: str) -> PastName | None:
        """Return the last removal of a word from the code of a file near a function."""
        label = f"{self._view.folder}{path}"
        whole = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        for state in self._commits_with(name):
            for section, lines in self._sections(state.id):
                if section != label or not any(function in line for line in lines):
                    continue
                for line in lines:
                    is_code = line.startswith("-") and _COMMENT_LINE.match(line[1:]) is None
                    if is_code and whole.search(line):
                        return self._make(name, section, line[1:], state)
        return None

    def find_path(self, path: str) -> tuple[CommitFacts, str] | None:
        """Return the commit that deleted or renamed a file, and its path afterwards, or "".

        If such a commit is not found, it is the last commit that changed the file. None if no
        commit changed it.
        """
        changes = self._view.changes_of(path)
        last = None
        if changes:
            state = self._view.index.files([changes[0][0]])[changes[0][0]]
            last = state, ""
            if f"deleted {path}" in self._header(state, path):
                return describe_commit(self._view, state), ""
        renamed = re.compile(rf"^renamed (\S+) from {re.escape(self._view.folder + path)} \(", re.M)
        for state in self._commits_with(" ".join(WORD.findall(path.rpartition("/")[2]))):
            found = renamed.search(self._text(state))
            if found is not None:
                last = state, found[1].removeprefix(self._view.folder)
                break
        return None if last is None else (describe_commit(self._view, last[0]), last[1])

    def _header(self, state: FileState, path: str) -> str:
        label = f"{self._view.folder}{path}"
        for section, lines in self._sections(state.id):
            if section == label:
                return lines[0] if lines else ""
        return ""

    def _find(
        self, name: str, matches: Callable[[str, str], bool], *, is_kept: bool = False
    ) -> PastName | None:
        """Return the last removed line that matches.

        Unless the name itself `is_kept`, changes that add it to the same file are left out.
        """
        whole = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w])")
        for state in self._commits_with(name):
            for path, lines in self._sections(state.id):
                if path == COMMIT_MESSAGE or not _is_code(path):
                    continue
                language = language_of(path)
                is_added = any(line.startswith("+") and whole.search(line) for line in lines)
                if is_added and not is_kept:
                    continue
                for line in lines:
                    is_removed = line.startswith("-") and whole.search(line)
                    if (
                        is_removed
                        and not _COMMENT_LINE.match(line[1:])
                        and matches(line[1:], language)
                    ):
                        return self._make(name, path, line[1:], state)
                    is_listed = line.startswith(_LISTS_REMOVED) and not is_kept
                    if is_listed and whole.search(line):
                        return self._make(name, path, "", state)
        return None

    def _make(self, name: str, path: str, line: str, state: FileState) -> PastName:
        facts = describe_commit(self._view, state)
        return PastName(name, path.removeprefix(self._view.folder), line.strip(), facts)

    def _commits_with(self, name: str) -> Iterator[FileState]:
        """Yield the commits whose texts contain the words of a name, newest first."""
        index = self._view.index
        words = [whole_identifier(word) for word in WORD.findall(name)]
        fitting = [word for word in words if word and len(word) <= MAX_WORD_CHARS]
        terms = [stem for word in fitting for stem in index.sparse.stems(word)]
        if not terms or self._left <= 0:
            return
        ids = index.sparse.files_with(terms, [], _MAX_COMMITS, self._view.ids)
        states = sorted(index.files(ids).values(), key=lambda state: -(state.committed_s or 0))
        for state in states:
            self._left -= 1
            yield state

    def _text(self, state: FileState) -> str:
        return self._view.index.text(state.id)

    def _read_sections(self, file_id: int) -> list[tuple[str, list[str]]]:
        lines = self._view.index.text(file_id).split("\n")
        return [
            (section.label, lines[section.start_line - 1 : section.end_line])
            for section in self._view.index.sections_of(file_id)
        ]


@dataclass(frozen=True)
class _Definitions:
    """Recognizes lines that define a name: with a keyword, a type, or a value.

    `may_be_local` includes keys and indented variables. A name whose value is the name itself
    belongs to a protocol, not to the project.
    """

    name: str
    may_be_local: bool = False

    def match(self, line: str, language: str) -> bool:
        """Return whether a line of a language defines the name."""
        if line.count(self.name) > 1:
            return False
        if self._any_language.search(line):
            return True
        is_typed = language in _TYPED_LANGUAGES and self._typed.search(line) is not None
        return is_typed or (language in _BRACE_LANGUAGES and self._brace.search(line) is not None)

    @property
    def _word(self) -> str:
        return rf"(?<![\w$]){re.escape(self.name)}(?!\w)"

    @cached_property
    def _any_language(self) -> re.Pattern[str]:
        indent = r"\s*" if self.may_be_local else ""
        qualifier = r":?(?:\([^)]*\)\s*|[\w$<>]+(?:\.|::|\#))*"
        return re.compile(
            rf"^(?:\s*(?:[\w@()]+\s+){{0,5}}(?:{_KEYWORDS})\s+{qualifier}{self._word}"
            rf"|\s*(?:{_MODIFIERS})\b(?!.*\b(?:extends|implements)\b.*{self._word})"
            rf"[^=;:\"'.]*?{self._word}\s*[(<{{=;:]"
            rf"|{indent}(?:[\w@]+[\s(]+)*?(?:{_VARIABLES})\b[^=;\"'.()]*?{self._word}"
            rf"|{indent}[\"':]?{self._word}[\"']?\s*(?:=(?!=)|:(?!:)|=>)"
            rf"|\s*(?:self\.|this\.|@){self._word}\s*=)"
        )

    @cached_property
    def _typed(self) -> re.Pattern[str]:
        return re.compile(
            rf"^(?:[A-Za-z_][\w\s*&<>:,]*?[\s*&:]{self._word}\s*\(|\}}\s*{self._word}\s*;)"
        )

    @cached_property
    def _brace(self) -> re.Pattern[str]:
        return re.compile(rf"^\s*{self._word}\s*\([^;]*\)\s*(?::[^;]*)?\{{\s*$")


def _is_code(path: str) -> bool:
    if language_of(path) not in CODE_EXTENSIONS or _BUILD_FILE.search(path):
        return False
    return _SIDE_CODE.search(path) is None
