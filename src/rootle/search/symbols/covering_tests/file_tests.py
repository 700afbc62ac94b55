"""List the tests of a module or a file: those in the file itself, and those in its test files."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Final

from rootle.index.reader import FileState, IndexReader
from rootle.search.symbols.definitions import is_test_place, path_in_name, split_name
from rootle.search.symbols.import_paths import PLAIN_STEMS
from rootle.search.symbols.parsed_files import ParsedFiles
from rootle.search.symbols.symbol_request import SymbolRequest
from rootle.syntax.blocks.block_titles import format_scope
from rootle.syntax.test_units import find_tests
from rootle.text.languages import CODE_EXTENSIONS
from rootle.text.terms import WORD, file_stem, split_identifier, whole_identifier
from rootle.types import Symbol, SymbolUse

# The words at the start or the end of the name of a test file: cart_test.go, CartTests, cart.spec.
_TEST_WORDS: Final = frozenset({"test", "tests", "spec", "specs"})
_MAX_CHARS: Final = 3_000_000  # of the files whose tests are listed
# If more files have an ordinary word as their name, such as "utils", a question with this word is
# not about one of these files.
_MAX_FILES_OF_WORD: Final = 3
_MAX_LINE: Final = 200


class FileTests:
    """The files that a request for tests names, and the tests in them."""

    def __init__(
        self, index: IndexReader, parsed: ParsedFiles, request: SymbolRequest, *, may_be_word: bool
    ) -> None:
        """Set `may_be_word` if the name may be an ordinary word rather than that of a file."""
        self._index = index
        self._parsed = parsed
        self._request = request
        self._may_be_word = may_be_word

    @cached_property
    def name(self) -> str:
        """The name whose uses are requested; for the tests of the file "cart.py", it is "cart"."""
        if self._request.aspect != "tests":
            return self._request.name
        files = self._index.files_with_endings([self._request.name])
        is_file = any(state.path.rpartition("/")[2] == self._request.name for state in files)
        return file_stem(self._request.name) if is_file else self._request.name

    @cached_property
    def subjects(self) -> Sequence[FileState]:
        """The code files that have the name, except test files."""
        return [state for state in self._named if not is_test_place(state.path, "")]

    @cached_property
    def _named(self) -> Sequence[FileState]:
        owners, name = split_name(self.name)
        key = whole_identifier("".join(WORD.findall(name)))
        if self._request.aspect != "tests" or not key or path_in_name(self.name):
            return ()
        found = [
            state
            for state in self._index.all_files()
            if state.skip is None
            and state.language in CODE_EXTENSIONS
            and key in _subject_names(state)
        ]
        if owners:
            found = _select_in_folders(found, owners)
        if self._may_be_word and len(found) > 2 * _MAX_FILES_OF_WORD:
            return ()
        allowed = self._request.files
        if allowed is not None:
            found = [state for state in found if state.id in allowed]
        return sorted(found, key=lambda state: (is_test_place(state.path, ""), state.path))

    @property
    def ids(self) -> Mapping[str, int]:
        """The ids of the files by path, test files included."""
        return {state.path: state.id for state in self._named}

    @property
    def is_complete(self) -> bool:
        """Whether the files were short enough to read all of them."""
        return len(self._readable) == len(self._named)

    @cached_property
    def _readable(self) -> Sequence[FileState]:
        ends = accumulate(state.chars for state in self._named)
        return [one for one, end in zip(self._named, ends, strict=True) if end <= _MAX_CHARS]

    def definitions(self, known: Collection[str]) -> list[Symbol]:
        """Return the files as definitions; leave out paths in `known`, which define the name."""
        return [
            Symbol(
                self._request.name,
                "file",
                "",
                state.path,
                1,
                1,
                self._index.text(state.id).rstrip("\n").count("\n") + 1,
                f"file {state.path.rpartition('/')[2]}",
                state.language,
                "public",
            )
            for state in self.subjects
            if state.path not in known
        ]

    def add_to(self, uses: Sequence[SymbolUse]) -> list[SymbolUse]:
        """Return the tests, then the other uses. Uses in files with the name precede the rest."""
        tests = list(self._uses())
        known = {(use.path, use.line) for use in tests}
        others = [use for use in uses if (use.path, use.line) not in known]
        return [*tests, *sorted(others, key=lambda use: use.path not in self.ids)]

    def _uses(self) -> Iterator[SymbolUse]:
        """Yield the tests, one for each line; for a test file without known tests, yield line 1."""
        target = f"{self.subjects[0].path}:1" if len(self.subjects) == 1 else ""
        for state in self._readable:
            found = list(self._tests_in(state, target))
            if not found and is_test_place(state.path, ""):
                line = self._index.text(state.id).partition("\n")[0].strip()[:_MAX_LINE]
                found = [SymbolUse(state.path, 1, "test", "", line, True, target)]
            for use in found:
                excluded = self._request.excluded
                if excluded is None or not excluded.search(use.text):
                    yield use

    def _tests_in(self, state: FileState, target: str) -> Iterator[SymbolUse]:
        text = self._index.text(state.id)
        tree = self._parsed.parse_tree(state, text)
        if tree is None:
            return
        for row, units in find_tests(tree):
            line = tree.lines.rows[row].strip()[:_MAX_LINE]
            scope = format_scope(units[:-1])
            yield SymbolUse(state.path, row + 1, "test", scope, line, True, target)


def _select_in_folders(states: Sequence[FileState], owners: Sequence[str]) -> list[FileState]:
    """Return the files of a module such as `shop.cart`, given its outer names, innermost first.

    A test file can be in another folder if no other module has the name.
    """
    subjects = [state for state in states if not is_test_place(state.path, "")]
    named = [state for state in subjects if _is_in_folders(state, owners)]
    if not named:
        return []
    tests = [state for state in states if is_test_place(state.path, "")]
    near = [state for state in tests if _is_in_folders(state, owners)]
    return [*named, *(tests if len(named) == len(subjects) else near)]


def _is_in_folders(state: FileState, owners: Sequence[str]) -> bool:
    """Return whether the folders of a file end with these names, given innermost first."""
    folders = state.path.split("/")[:-1]
    if file_stem(state.path) in PLAIN_STEMS:
        folders = folders[:-1]
    inner = folders[::-1][: len(owners)]
    return list(map(whole_identifier, inner)) == list(map(whole_identifier, owners))


def _subject_names(state: FileState) -> Collection[str]:
    """Return the normalized names of a file's module; for a test file, of the tested module."""
    folder, stem = state.path.rpartition("/")[0], file_stem(state.path)
    folder_name = folder.rpartition("/")[2]
    is_package = stem in PLAIN_STEMS or state.language == "go"
    names = {whole_identifier("".join(WORD.findall(folder_name)))} if is_package else set()
    words = [part for word in WORD.findall(stem) for part in split_identifier(word)]
    if is_test_place(state.path, ""):
        while words and words[0] in _TEST_WORDS:
            words = words[1:]
        while words and words[-1] in _TEST_WORDS:
            words = words[:-1]
    return names | {"".join(words)}
