"""Find the commits that removed a name, in the index of the commits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Final

from rootle.history.commit_results import describe_commit
from rootle.history.commit_view import CommitView
from rootle.index.reader import FileState
from rootle.links.drift.definition_lines import DefinitionLines
from rootle.links.drift.external_names import defines_option, environment_pattern
from rootle.links.drift.past_files import PastFiles
from rootle.text.languages import CODE_EXTENSIONS, file_language
from rootle.text.terms import MAX_WORD_CHARS, WORD, whole_identifier
from rootle.types import COMMIT_MESSAGE, COMMIT_URI, REMOVED_SCOPE_SEPARATOR, CommitFacts

# The maximum number of commits that are read for one name, and for one answer. Reading a commit
# takes up to a millisecond.
MAX_COMMITS: Final = 80
_MAX_READ: Final = 20_000
# The maximum number of patches that git reads for one answer. A patch is read if the index names a
# changed definition, but does not contain its removed lines.
_MAX_PATCHES: Final = 300
_KEPT_PATCHES: Final = 32  # patches in the cache; a patch can take several megabytes
_MAX_LINES: Final = 20  # removed lines per file that are checked for a name
# Lines are cut to this length, as in the index, because regular expressions are slow on long lines.
_MAX_LINE_CHARS: Final = 240
# Files whose definitions are not names of the project itself.
_SIDE_CODE: Final = re.compile(
    r"(?i)(?:^|[/_.-])(?:tests?|specs?|examples?|samples?|demos?|fixtures?|docs?|tutorials?"
    r"|playground|testapps?|vendor(?:ed)?|third[_-]?party|xlib|extlib)(?:[/_.-]|$)|(?:Tests?|Specs?|Demos?|Samples?)(?:\.\w+|/)"
)
# A line of a test, or a line that extends a type. The type may belong to another project.
_REOPENED: Final = re.compile(r"[\s\w]*\b(?:extension|impl|test|describe|it)\b")
_BUILD_FILE: Final = re.compile(
    r"\.(?:gradle|sbt|gemspec)$|\.gradle\.kts$|(?:^|/)(?:buildSrc|project)/|(?:^|/)Rakefile$|\.rake$"
)
# The subject of a commit that git-subtree creates. The paths in it are those of another project.
_SUBTREE: Final = re.compile(r"Squashed '[^']{1,200}' (?:content|changes) from ")
_COMMENT_LINE: Final = re.compile(r"\s*(?:#(?!\s*define)|//|/?\*|--(?!\w)|;|%|:param|@param)")


@dataclass(frozen=True, slots=True)
class PastName:
    """A name that a commit removed from the code."""

    name: str
    path: str  # the path of the file that defined the name
    line: str  # the removed line
    commit: CommitFacts
    # classes that may declare a method that the removed line overrides
    bases: frozenset[str] = frozenset()
    is_indented: bool = False  # whether the removed line was indented, like a line of a member


class PastNames:
    """Looks up removed names.

    At most 20,000 commits of the index, and 300 patches that git prints, are read for one answer.
    """

    def __init__(
        self,
        view: CommitView,
        removed: CommitView | None,
        read_patch: Callable[[str], Mapping[str, Sequence[str]]],
        past_files: PastFiles,
    ) -> None:
        """`removed` is the index of removed definitions, if there is one.

        `read_patch` returns the changed lines of a commit by path, given its hash.
        """
        self._past_files = past_files
        self._view = view
        self._removed = removed
        self._left = _MAX_READ
        self._patches_left = _MAX_PATCHES
        self._is_limited = False
        self.has_unread_commits = False  # whether more commits contain a name than are read for it
        self._sections = lru_cache(maxsize=512)(self._read_sections)
        self._ask_git = read_patch
        self._patch = lru_cache(maxsize=_KEPT_PATCHES)(self._read_patch)

    @property
    def is_exhausted(self) -> bool:
        """Whether a limit prevented a look-up, so that outdated names may be missing."""
        return self._is_limited or self._past_files.is_exhausted

    def find_definition(self, name: str, *, may_be_local: bool) -> PastName | None:
        """Return the last removal of a definition of a name; None if there was none.

        With `may_be_local`, also find keys and indented variables, which may be local to a
        function.
        """
        defines = DefinitionLines(name, may_be_local)
        return self._find(name, defines.match) or self._find_removed(name, defines)

    def find_definition_in(self, path: str, name: str) -> PastName | None:
        """Return the last removal of a definition of a name from a file; None if there was none."""
        return self._find(name, DefinitionLines(name).match, only=f"{self._view.folder}{path}")

    def find_option(self, text: str) -> PastName | None:
        """Return the last removal of a code line that defined an option; None if there was none."""
        quoted = re.compile(rf"[\"'`(\[]{re.escape(text)}(?![\w-])")
        return self._find(
            text,
            lambda line, _: quoted.search(line) is not None,
            accepts=lambda sha, path, line: defines_option(
                path, line, partial(self._past_files.read_above, sha, path, line)
            ),
        )

    def find_environment(self, name: str) -> PastName | None:
        """Return the last removal of a line that read an environment variable."""
        reads = environment_pattern(name)
        return self._find(
            name, lambda line, _: reads.search(line) is not None, accepts=lambda *_: True
        )

    def find_parameters(self, name: str, parameters: Sequence[str]) -> PastName | None:
        """Return the last removal of a definition of a name with these parameters."""
        defines = DefinitionLines(name)
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
        """Return the last removal of a word from the code of a file.

        The change of the file must also contain the name of the function.
        """
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
        """Return the commit that deleted or renamed a file, and the new path or "".

        If no such commit is found, return the last commit that changed the file; None if there is
        none.
        """
        ids = [file_id for file_id, _ in self._view.list_changes(path)]
        states = self._view.index.files(ids)
        state = next((states[one] for one in ids if not _SUBTREE.match(states[one].title)), None)
        last = None
        if state is not None:
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
        self,
        name: str,
        matches: Callable[[str, str], bool],
        *,
        is_kept: bool = False,
        accepts: Callable[[str, str, str], bool] | None = None,
        only: str = "",
    ) -> PastName | None:
        """Return the last removed line that matches, from any file or from the file `only`.

        Changes that also add the name to the same file are left out, unless `is_kept` is set.
        `accepts` receives the hash, the path and the line. Without it, lines in comments and
        strings, such as the examples in a docstring, are left out.
        """
        wanted = _RemovedLine(name, matches, is_kept)
        for state in self._commits_with(name):
            for path, lines in self._sections(state.id):
                if path == COMMIT_MESSAGE or not _is_code(path) or (only and path != only):
                    continue
                sha = state.path.removeprefix(COMMIT_URI)
                found = wanted.find_in(path, lines)
                if not found and not is_kept and any(map(wanted.is_listed, lines)):
                    found = wanted.find_in(path, self._patch(sha).get(path, ()))
                for line in dict.fromkeys(found):
                    if (
                        accepts(sha, path, line)
                        if accepts is not None
                        else not self._past_files.is_text(sha, path, line, name)
                    ):
                        return self._make(name, path, line, state)
        return None

    def _find_removed(self, name: str, defines: DefinitionLines) -> PastName | None:
        """Look for a name in the index of removed definitions, which contains whole definitions."""
        view = self._removed
        if view is None:
            return None
        for state in self._commits_with(name, view):
            commit = self._view.commit_at(state.path)
            for section in view.index.read_sections(state.id) if commit is not None else ():
                path = section.label.rpartition(":")[0]
                is_same = section.title.rpartition(REMOVED_SCOPE_SEPARATOR)[2] == name
                if commit is not None and is_same and _is_code(path):
                    lines = view.index.text(state.id).split("\n")
                    removed = lines[section.start_line : section.end_line]
                    sha = state.path.removeprefix(COMMIT_URI)
                    named = filter(_whole_word(name).search, removed)
                    code = (
                        one for one in named if not self._past_files.is_text(sha, path, one, name)
                    )
                    line = next(code, "")
                    if line and not _REOPENED.match(line) and not defines.is_use(line):
                        return self._make(name, path, line, commit)
        return None

    def _read_patch(self, sha: str) -> Mapping[str, Sequence[str]]:
        """Return all changed lines of a commit. The index may contain only some of them."""
        if self._patches_left <= 0:
            self._is_limited = True
            return {}
        self._patches_left -= 1
        return {
            path: [line[:_MAX_LINE_CHARS] for line in lines]
            for path, lines in self._ask_git(sha).items()
        }

    def _make(self, name: str, path: str, line: str, state: FileState) -> PastName:
        facts = describe_commit(self._view, state)
        bases = self._past_files.overridden(state.path.removeprefix(COMMIT_URI), path, line)
        path = path.removeprefix(self._view.folder)
        return PastName(name, path, line.strip(), facts, bases, line[:1].isspace())

    def _commits_with(self, name: str, view: CommitView | None = None) -> Iterator[FileState]:
        """Yield the commits whose texts contain the words of a name, newest first."""
        view = view or self._view
        index = view.index
        words = [whole_identifier(word) for word in WORD.findall(name)]
        fitting = [word for word in words if word and len(word) <= MAX_WORD_CHARS]
        terms = [stem for word in fitting for stem in index.sparse.stems(word)]
        if not terms:
            return
        if self._left <= 0:
            self._is_limited = True
            return
        ids = index.sparse.files_with(terms, [], MAX_COMMITS + 1, view.ids)
        for state in view.newest_first(index.files(ids[:MAX_COMMITS]).values()):
            self._left -= 1
            yield state
        # The caller stops before this line if it has found what it looks for.
        self.has_unread_commits = self.has_unread_commits or len(ids) > MAX_COMMITS

    def _text(self, state: FileState) -> str:
        return self._view.index.text(state.id)

    def _read_sections(self, file_id: int) -> list[tuple[str, list[str]]]:
        lines = self._view.index.text(file_id).split("\n")
        return [
            (section.label, lines[section.start_line - 1 : section.end_line])
            for section in self._view.index.read_sections(file_id)
        ]


@dataclass(frozen=True)
class _RemovedLine:
    """Finds removed lines with a name."""

    name: str
    matches: Callable[[str, str], bool]  # receives the line and its language
    is_kept: bool  # whether to include changes that also add the name to the same file

    def find_in(self, path: str, lines: Sequence[str]) -> list[str]:
        """Return the matching removed lines among the changed lines of a file."""
        language = file_language(path)
        if not self.is_kept and any(map(self._is_added, lines)):
            return []
        found = (line[1:] for line in lines if line.startswith("-") and self.is_named(line))
        code = (line for line in found if not _COMMENT_LINE.match(line))
        return [line for line in code if self.matches(line, language)][:_MAX_LINES]

    def is_listed(self, line: str) -> bool:
        """Return whether a line contains the name, but is a header and not a line of the file."""
        return not line.startswith(("+", "-", " ")) and self.is_named(line)

    def is_named(self, line: str) -> bool:
        """Return whether a line contains the name as a whole word."""
        return self._whole.search(line) is not None

    @cached_property
    def _whole(self) -> re.Pattern[str]:
        return _whole_word(self.name)

    def _is_added(self, line: str) -> bool:
        return line.startswith("+") and self.is_named(line)


def _whole_word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w$]){re.escape(name)}(?!\w)")


def _is_code(path: str) -> bool:
    if file_language(path) not in CODE_EXTENSIONS or _BUILD_FILE.search(path):
        return False
    return _SIDE_CODE.search(path) is None
