"""Read and parse the files that declare types, each once per request and within a limit."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from rootle.index.reader import FileState, IndexReader
from rootle.search.symbols.definitions import is_test_place
from rootle.search.symbols.parsed_files import FileOccurrences, ParsedFiles
from rootle.search.symbols.uses.owner_filter import path_names
from rootle.syntax.declared.bindings import Binding, binding_at
from rootle.syntax.go_types import read_imports
from rootle.syntax.source_tree import SourceTree
from rootle.text.languages import JAVASCRIPT
from rootle.text.terms import whole_identifier
from rootle.text.whole_names import find_word

_MAX_CHUNKS: Final = 300  # that define a name; the declarations of more common names are not read
_MAX_OCCURRENCES: Final = 1_000  # of a name in a part of a file that is searched for bindings
_TYPE_WORD: Final = re.compile(
    r"\b(?:class|enum|interface|object|record|struct|trait|type|union)\Z"
)
_MAX_TYPE_WORD: Final = len("interface")
_GO_KIND_AFTER: Final = re.compile(  # after a name in `type ( … )`
    r"[ \t]+(?:struct|interface|map|func|\[|\*|\w)"
)
_GO_MODULE: Final = re.compile(r"^module[ \t]+\"?([^\s\"]+)", re.MULTILINE)
_MANIFEST: Final = "package.json"
_CRATE_MANIFEST: Final = "Cargo.toml"
_CRATE_NAME: Final = re.compile(r"^name[ \t]*=[ \t]*[\"']([\w-]+)", re.MULTILINE)
_MAX_PACKAGES: Final = 300
# The number of names for which a file is searched one by one. After that, the positions of all
# words are collected, which takes as long as about a thousand searches.
_MAX_SEARCHES: Final = 500
_WORD: Final = re.compile(rb"\w+")


@dataclass(frozen=True, eq=False)
class CodeFile:
    """A parsed file, and what it says about the names in it."""

    state: FileState
    text: str
    tree: SourceTree
    _bindings: dict[tuple[str, int, int], Sequence[Binding]] = field(default_factory=dict)

    @property
    def language(self) -> str:
        return self.tree.language

    def find(self, name: str) -> FileOccurrences | None:
        """Return where a name occurs in the file, or None if it does not occur."""
        return self._occurrences.find_other(name)

    @cached_property
    def _occurrences(self) -> FileOccurrences:
        return FileOccurrences(self.state, self.text, (), "", self.tree)

    def bindings(self, name: str) -> Sequence[Binding]:
        """Return the declarations of a name and the assignments to it, in the order of the file.

        Return none if the name occurs very often.
        """
        return self._bindings_in(name, 0, len(self.tree.data))

    def local_bindings(self, name: str, row: int) -> Sequence[Binding]:
        """Return the bindings of a name in the outermost definition around a row.

        If there are none, return those of the file.
        """
        outer = next(self.tree.units_at(row), None)
        if outer is not None:
            found = self._bindings_in(name, outer.node.start_byte, outer.node.end_byte)
            if found:
                return found
        return self.bindings(name)

    def _bindings_in(self, name: str, start: int, end: int) -> Sequence[Binding]:
        key = name, start, end
        if key not in self._bindings:
            self._bindings[key] = list(self._find_bindings(name, start, end))
        return self._bindings[key]

    def _find_bindings(self, name: str, start: int, end: int) -> Iterator[Binding]:
        word = name.encode("utf-8", "replace")
        offsets = self._offsets(word, start, end)
        for at in offsets if len(offsets) <= _MAX_OCCURRENCES else ():
            leaf = self.tree.root.descendant_for_byte_range(at, at + len(word))
            found = binding_at(self.tree, leaf) if leaf is not None else None
            if found is not None:
                yield found

    def _offsets(self, word: bytes, start: int, end: int) -> Sequence[int]:
        """Return where a word occurs between two offsets.

        The positions of all words are collected if many words are looked up.
        """
        if len(self._bindings) < _MAX_SEARCHES or not _WORD.fullmatch(word):
            return list(find_word(self.tree.data, word, start, end))
        found = self._words.get(word, ())
        return found[bisect_left(found, start) : bisect_left(found, end)]

    @cached_property
    def _words(self) -> Mapping[bytes, Sequence[int]]:
        """The offsets of each word."""
        words: defaultdict[bytes, list[int]] = defaultdict(list)
        for match in _WORD.finditer(self.tree.data):
            words[match.group()].append(match.start())
        return words

    def imported_package(self, name: str) -> str:
        """Return the import path of the Go package to which a name refers; "" if there is none."""
        return self._imports.get(name, "") if self.language == "go" else ""

    @cached_property
    def _imports(self) -> Mapping[str, str]:
        """The import paths of the packages of Go, by the names that the file uses for them."""
        return read_imports(self.tree)


class CodeFiles:
    """The files of the repository, as far as they are needed to determine types."""

    def __init__(
        self,
        index: IndexReader,
        parsed: ParsedFiles,
        find_read: Callable[[int], FileOccurrences | None],
        chars: int,
    ) -> None:
        """`find_read` returns a file that was already read.

        Other files are parsed as long as they have at most `chars` characters in total.
        """
        self._index = index
        self._parsed = parsed
        self._find_read = find_read
        self._chars = self._left = chars
        self._files: dict[int, CodeFile | None] = {}
        self._declarers: dict[tuple[str, str], list[FileState]] = {}
        self._definers: dict[str, Sequence[FileState]] = {}
        self.is_complete = True  # whether no file was left out because of the limit

    def get(self, state: FileState) -> CodeFile | None:
        """Return a parsed file; None if it cannot be parsed, or if the limit is reached."""
        if state.id not in self._files:
            known = self._find_read(state.id)
            if known is not None and known.tree is not None:
                self._files[state.id] = CodeFile(state, known.text, known.tree)
            else:
                self._files[state.id] = self._parse(state)
        return self._files[state.id]

    @property
    def may_parse_uses(self) -> bool:
        """Whether files with uses may be parsed too. Half of the limit is kept for other files."""
        return self._left > self._chars // 2

    @cached_property
    def own_packages(self) -> frozenset[str]:
        """The names of the npm packages and crates in the repository, from at most 300 manifests.

        As in imports, "_" replaces "-" in the name of a crate.
        """
        found = self._index.files_with_endings([_MANIFEST, _CRATE_MANIFEST])
        names = {one.path: one.path.rpartition("/")[2] for one in found if not one.skip}
        states = [one for one in found if names.get(one.path) in (_MANIFEST, _CRATE_MANIFEST)]
        texts = ((names[one.path], self._index.text(one.id)) for one in states[:_MAX_PACKAGES])
        packages = (
            _name_of_package(text) if name == _MANIFEST else _name_of_crate(text)
            for name, text in texts
        )
        return frozenset(filter(None, packages))

    @cached_property
    def go_module(self) -> str:
        """The import path of the Go module in the root folder; "" if there is none."""
        state = self._index.file_at("go.mod")
        if state is None or state.skip is not None:
            return ""
        found = _GO_MODULE.search(self._index.text(state.id))
        return found[1] if found is not None else ""

    @cached_property
    def path_names(self) -> frozenset[str]:
        """The names of all files and folders."""
        return list_path_names(self._index)

    def _parse(self, state: FileState) -> CodeFile | None:
        if self._left <= 0:
            self.is_complete = False
            return None
        text = self._index.text(state.id)
        self._left -= len(text)
        tree = self._parsed.parse_tree(state, text)
        return CodeFile(state, text, tree) if tree is not None else None

    def declarers(self, name: str, language: str) -> list[FileState]:
        """Return the files in a language that seem to declare a type, judging by their text."""
        key = name, language
        if key not in self._declarers:
            self._declarers[key] = [
                state
                for state in self.definers(name, language)
                if _declares_type(self._index.text(state.id), name)
            ]
        return self._declarers[key]

    def definers(self, name: str, language: str) -> list[FileState]:
        """Return the files in a language that may define a name, test files last.

        Return none if very many files do.
        """
        if name not in self._definers:
            key = whole_identifier(name)
            ids = self._index.sparse.definers([key], _MAX_CHUNKS)[key] if key else []
            files = {row.file_id for row in self._index.chunks(ids).values()}
            states = self._index.files(files).values() if len(ids) < _MAX_CHUNKS else ()
            self._definers[name] = sorted(
                states, key=lambda state: (is_test_place(state.path, ""), state.path)
            )
        family = JAVASCRIPT if language in JAVASCRIPT else {language}
        return [one for one in self._definers[name] if one.language in family]


def list_path_names(index: IndexReader) -> frozenset[str]:
    """Return the names of all files and folders."""
    return frozenset(part for one in index.all_files() for part in path_names(one.path))


def _declares_type(text: str, name: str) -> bool:
    """Return whether a text looks as if it declared a type with this name."""
    for at in find_word(text, name):
        end = at
        while end and text[end - 1] in " \t":
            end -= 1
        if end == at:
            continue
        if _TYPE_WORD.search(text, max(0, end - _MAX_TYPE_WORD), end) is not None:
            return True
        is_first = end == 0 or text[end - 1] == "\n"
        if is_first and _GO_KIND_AFTER.match(text, at + len(name)) is not None:
            return True
    return False


def _name_of_crate(manifest: str) -> str:
    """Return the first name in a Cargo.toml, with "_" instead of "-"; "" if it has none."""
    found = _CRATE_NAME.search(manifest)
    return found[1].replace("-", "_") if found is not None else ""


def _name_of_package(manifest: str) -> str:
    """Return the name in a package.json; "" if it has none, or is no valid JSON."""
    try:
        data = json.loads(manifest)
    except (ValueError, RecursionError):
        return ""
    name = data.get("name") if isinstance(data, dict) else None
    return name if isinstance(name, str) else ""
