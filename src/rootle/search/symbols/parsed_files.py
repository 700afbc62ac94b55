"""The files in which a name occurs, parsed on demand."""

from __future__ import annotations

import re
import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from rootle.index.reader import FileState, IndexReader
from rootle.search.symbols.name_places import OtherNames, find_name, written_name
from rootle.syntax.aliases import LocalAlias, find_local_alias, is_end_of_path
from rootle.syntax.assignments import is_assignment, is_assignment_in_line
from rootle.syntax.lines import Lines
from rootle.syntax.ruby_calls import RubyVariables
from rootle.syntax.source_tree import Position, SourceTree, read_source_tree
from rootle.text.languages import CODE_EXTENSIONS
from rootle.text.whole_names import line_numbers

# Total size of the texts whose trees are cached. A tree takes about ten times the memory of its
# text.
_MAX_CACHED_CHARS: Final = 3_000_000
# Parsing a larger file takes at least half a second, so its lines are classified by their text.
_MAX_FILE_CHARS: Final = 500_000
# The numbers of characters of a long line that are examined: around an occurrence, and at the start
# of the line. Whole lines would take too long: a name can occur thousands of times on one line.
_MAX_LINE: Final = 2_000
_MAX_HEAD: Final = 200

_COMMENT: Final = re.compile(
    r"\s*(?://|/?\*|#(?!\s*(?:include|define|if|else|elif|pragma))|--|;|%|<!--)"
)
# The start of a comment at the end of a line of code. In all other languages, it is // or /*.
_END_COMMENTS: Final = {
    language: re.compile(sign)
    for sign, languages in (
        (
            r"\s#",
            "bash elixir graphql julia nim nix perl powershell python r ruby tcl terraform",
        ),
        (r"\s--", "elm haskell lua sql"),
        (r"\s;", "clojure scheme"),
        (r"\s%", "erlang"),
    )
    for language in languages.split()
}
_SLASHES: Final = re.compile(r"(?<!:)//|/\*(?!.*\*/)")
_IMPORT: Final = re.compile(r"\s*(?:#\s*include|import|from|using|use|require|open|alias)\b")
_TYPE_ALIAS: Final = re.compile(r"\s*using\s+\w+\s*=")  # of C++
# Languages in which variables have a prefix that is not part of their name, as in $count.
_WITH_SIGILS: Final = frozenset({"php", "bash", "perl", "powershell"})
_CALL: Final = re.compile(r"\s*\(")
_RECORD: Final = "record "


class ParsedFiles:
    """A cache of syntax trees by the content of their files. Thread-safe."""

    def __init__(self) -> None:
        self._trees: OrderedDict[tuple[bytes, str], tuple[SourceTree | None, int]] = OrderedDict()
        self._chars = 0
        self._lock = threading.Lock()

    def has(self, state: FileState) -> bool:
        """Return whether a file is in the cache."""
        return _key(state) in self._trees

    def parse_tree(self, state: FileState, text: str) -> SourceTree | None:
        """Return the tree of a file with this text, or None if it cannot be parsed."""
        key = _key(state)
        with self._lock:
            if key in self._trees:
                self._trees.move_to_end(key)
                return self._trees[key][0]
        tree = read_source_tree(text, state.language) if len(text) <= _MAX_FILE_CHARS else None
        size = len(text) if tree is not None else 0
        with self._lock:
            if key not in self._trees:
                self._trees[key] = tree, size
                self._chars += size
            while self._chars > _MAX_CACHED_CHARS:
                _, (_, dropped) = self._trees.popitem(last=False)
                self._chars -= dropped
        return tree


def _key(state: FileState) -> tuple[bytes, str]:
    return state.digest or state.path.encode("utf-8", "surrogatepass"), state.language


@dataclass(frozen=True)
class FileOccurrences:
    """A file, and the positions at which a name occurs in it as a whole word."""

    state: FileState
    text: str
    offsets: tuple[int, ...]  # in characters
    name: str
    tree: SourceTree | None = None

    @property
    def token(self) -> str:
        """The text at each offset: the name, or for a Ruby setter the name without "="."""
        return written_name(self.name, self.state.language)

    @cached_property
    def size(self) -> int:
        """The length of the token in bytes."""
        return len(self.token.encode("utf-8", "replace"))

    @cached_property
    def positions(self) -> tuple[Position, ...]:
        """The row of each occurrence, and its column in bytes."""
        found: list[Position] = []
        end = 0  # end of the text that was counted for the last column
        for offset, line in zip(self.offsets, self._line_numbers(), strict=True):
            is_same_line = bool(found) and found[-1][0] == line - 1
            start = end if is_same_line else self.text.rfind("\n", end, offset) + 1 or end
            before = self.text[start:offset]
            column = len(before) if before.isascii() else len(before.encode("utf-8", "replace"))
            found.append((line - 1, column + (found[-1][1] if is_same_line else 0)))
            end = offset
        return tuple(found)

    @cached_property
    def has_record(self) -> bool:
        """Whether the text may contain a record of Java or C#, whose parameters are fields."""
        return _RECORD in self.text

    def _line_numbers(self) -> Sequence[int]:
        """Return the line of each offset, from 1."""
        if self.tree is None:
            return line_numbers(self.text, self.offsets)
        return [bisect_right(self.tree.lines.starts, offset) for offset in self.offsets]

    def find_other(self, name: str) -> FileOccurrences | None:
        """Return where another name occurs in the file, or None if it does not occur."""
        name = _plain_name(name, self.state.language)
        offsets = tuple(self._other_names.find(name))
        return replace(self, offsets=offsets, name=name) if offsets else None

    def find_between(self, name: str, start: int, end: int) -> Sequence[int]:
        """Return the offsets of another name between two offsets of the file."""
        return self._other_names.find_between(name, start, end)

    @cached_property
    def _other_names(self) -> OtherNames:
        return OtherNames(self.text, self.state.language)

    @cached_property
    def _offset_at(self) -> dict[Position, int]:
        return dict(zip(self.positions, self.offsets, strict=True))

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset of each line, in characters."""
        return self.lines.starts[:-1]

    @cached_property
    def lines(self) -> Lines:
        """The lines of the text."""
        return self.tree.lines if self.tree is not None else Lines(self.text)

    def with_tree(self, tree: SourceTree | None) -> FileOccurrences:
        """Return the file with its tree.

        If the name often occurs very deep in the tree, return the file without the tree, because
        the time to find the parent of a node grows with its depth.
        """
        is_deep = tree is not None and tree.are_too_deep(self.positions)
        return replace(self, tree=None if is_deep else tree)

    def line(self, row: int) -> str:
        """Return the text of a line."""
        start = self.line_starts[row]
        end = self.line_starts[row + 1] - 1 if row + 1 < len(self.line_starts) else None
        return self.text[start:end]

    def line_start(self, row: int) -> str:
        """Return the first characters of a line, which are enough to show it."""
        start = self.line_starts[row]
        return self.text[start : min(self._line_end(row), start + _MAX_LINE)]

    def line_around(self, at: Position) -> tuple[str, int]:
        """Return the line of an occurrence, and the column of the occurrence in characters.

        Of a very long line, only the start and the part around the occurrence are returned.
        """
        start, end, offset = self.line_starts[at[0]], self._line_end(at[0]), self._offset_at[at]
        if end - start <= _MAX_LINE:
            return self.text[start:end], offset - start
        first = max(start, offset - _MAX_LINE // 2)
        head = self.text[start : min(first, start + _MAX_HEAD)]
        near = self.text[first : min(end, offset + _MAX_LINE // 2)]
        return head + near, len(head) + offset - first

    def text_around(self, at: Position, chars: int) -> tuple[str, str]:
        """Return at most `chars` characters before and after an occurrence on its line."""
        offset = self._offset_at[at]
        end = offset + len(self.token)
        before = self.text[max(self.line_starts[at[0]], offset - chars) : offset]
        return before, self.text[end : max(end, min(self._line_end(at[0]), end + chars))]

    def ends_path_at(self, at: Position) -> bool:
        """Return whether the path of an imported module ends with the name at a position."""
        return is_end_of_path(self.text, self._offset_at[at] + len(self.token))

    def alias_at(self, at: Position) -> LocalAlias | None:
        """Return the other name that the import at a position introduces for the name, if any."""
        offset = self._offset_at[at]
        return find_local_alias(self.text, offset, offset + len(self.token))

    def _line_end(self, row: int) -> int:
        is_last = row + 1 == len(self.line_starts)
        return len(self.text) if is_last else self.line_starts[row + 1] - 1

    def may_call_at(self, at: Position) -> bool:
        """Return whether a bare name in Ruby is not a variable, so that it may call a method."""
        variables = self._ruby_variables
        return variables is not None and variables.may_call_method(*at, self.size)

    @cached_property
    def _ruby_variables(self) -> RubyVariables | None:
        return RubyVariables(self.tree) if self.tree is not None else None

    def is_page_text_at(self, at: Position) -> bool:
        """Return whether an occurrence is in the text of a web page, not in a tag or a script."""
        if self.state.language != "html" or self.tree is None:
            return False
        return self.tree.node_at(*at, self.size).type == "text"

    def is_set_at(self, at: Position) -> bool:
        """Return whether the name gets a value at a position."""
        if self.tree is not None:
            return is_assignment(self.tree, *at, self.size)
        line, column = self.line_around(at)
        return is_assignment_in_line(line, column, len(self.token), self.state.language)


def read_occurrences(index: IndexReader, state: FileState, name: str) -> FileOccurrences | None:
    """Return where a name occurs in a file as a whole word, or None if it does not occur."""
    return find_occurrences(state, index.text(state.id), name)


def read_definer(index: IndexReader, state: FileState, name: str) -> FileOccurrences:
    """Return a file that defines a name, and where the name occurs in it, if it does.

    A definition can have the name of its file without containing it.
    """
    text = index.text(state.id)
    return find_occurrences(state, text, name) or FileOccurrences(state, text, (), name)


def find_occurrences(state: FileState, text: str, name: str) -> FileOccurrences | None:
    """Return where a name occurs in a text of a file as a whole word, or None if it does not."""
    name = _plain_name(name, state.language)
    offsets = tuple(find_name(text, name, state.language))
    return FileOccurrences(state, text, offsets, name) if offsets else None


def _plain_name(name: str, language: str) -> str:
    """Return a name without the prefix of a variable."""
    return (name.lstrip("$") or name) if language in _WITH_SIGILS else name


def classify_line(line: str, column: int, size: int, language: str) -> str:
    """Return the kind of the `size` characters at a column (from 0), as in `SymbolUse.kind`."""
    # A web page that is too large to be parsed has more text than code.
    if language not in CODE_EXTENSIONS or language == "html":
        return "document"
    if _COMMENT.match(line) or (language == "vim" and line.lstrip().startswith('"')):
        return "comment"
    if _IMPORT.match(line) and not (language == "cpp" and _TYPE_ALIAS.match(line)):
        return "import"
    if _is_quoted(line, column):
        return "string"
    if _is_in_end_comment(line[:column], language):
        return "comment"
    return "call" if _CALL.match(line, column + size) else "reference"


def _is_in_end_comment(before: str, language: str) -> bool:
    """Return whether a comment that continues to the end of the line begins in `before`.

    Only the first comment marker is checked, because lines of generated files can be very long.
    """
    found = _END_COMMENTS.get(language, _SLASHES).search(before)
    return found is not None and not any(
        before.count(quote, 0, found.start()) % 2 for quote in "\"'`"
    )


def _is_quoted(line: str, column: int) -> bool:
    before, after = line[:column], line[column:]
    return any(before.count(quote) % 2 and quote in after for quote in "\"'`")
