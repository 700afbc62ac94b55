"""Find the last of many globs that matches a string, in time linear in the total length.

Most globs of a large ignore file are plain names, extensions or paths, which are looked up in a
dictionary. The remaining globs are grouped by a literal part that they contain. A group is matched,
with RE2, only if the string contains this part.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from rootle.sources.files.ignore_patterns import (
    SPECIAL_CHARACTERS,
    find_literals,
    translate_pattern,
)

if TYPE_CHECKING:
    import re2

# If there are at most this many globs, they are not grouped, because a single expression for all of
# them rejects most strings in 2 µs.
_MAX_UNGROUPED: Final = 200
# Literal parts are split into keys of at most this length. To match a path, all its substrings that
# are as long as some key are looked up.
_MAX_KEY_CHARS: Final = 8
_MAX_ALTERNATIVES: Final = 500
# The memory limit of RE2, which allocates memory only when needed. The limit suffices for any glob
# that is shorter than the longest possible path.
_MAX_MEMORY_BYTES: Final = 32 << 20

_Line = tuple[int, str]  # a line number, and the glob on this line


class GlobIndex:
    """Globs with their line numbers. They match strings with one character per byte."""

    def __init__(self, lines: Mapping[str, int], *, match_names: bool) -> None:
        """Index the globs. With `match_names`, the strings to match contain no slash."""
        self._by_text: dict[str, int] = {}
        self._by_extension: dict[str, int] = {}
        wild: list[_Line] = []
        for glob, line in lines.items():
            if SPECIAL_CHARACTERS.isdisjoint(glob):
                self._by_text[glob] = line
            elif match_names and _is_extension(glob):
                self._by_extension[glob[2:]] = line
            else:
                wild.append((line, glob))
        self._groups = _group(sorted(wild, reverse=True))
        self._ungrouped = self._groups.pop("", None)
        self._key_sizes = sorted({len(key) for key in self._groups})

    def last_line(self, text: str) -> int:
        """Return the highest line number of a glob that matches all of `text`; -1 if none does."""
        last = self._by_text.get(text, -1)
        if self._by_extension and "." in text:
            last = max(last, self._by_extension.get(text.rpartition(".")[2], -1))
        if self._ungrouped is not None:
            last = max(last, self._ungrouped.last_line(text.encode("latin-1")))
        for group in self._groups_in(text):
            last = max(last, group.last_line(text.encode("latin-1")))
        return last

    def _groups_in(self, text: str) -> Iterator[_Group]:
        for size in self._key_sizes:
            keys = {text[start : start + size] for start in range(len(text) - size + 1)}
            for key in keys & self._groups.keys():
                yield self._groups[key]


def _is_extension(glob: str) -> bool:
    rest = glob[2:]
    return glob.startswith("*.") and "." not in rest and SPECIAL_CHARACTERS.isdisjoint(rest)


def _group(lines: Sequence[_Line]) -> dict[str, _Group]:
    """Group lines by the rarest key in their globs; globs without a key are in group ""."""
    if len(lines) <= _MAX_UNGROUPED:
        return {"": _Group(lines)} if lines else {}
    texts = [list(_keys(glob)) for _, glob in lines]
    counts = Counter(key for keys in texts for key in keys)
    groups = defaultdict(list)
    for line, keys in zip(lines, texts, strict=True):
        rarest = min(keys, key=lambda key: (counts[key], -len(key)), default="")
        groups[rarest].append(line)
    return {key: _Group(members) for key, members in groups.items()}


def _keys(glob: str) -> Iterable[str]:
    for text in find_literals(glob):
        for start in range(0, len(text), _MAX_KEY_CHARS):
            yield text[start : start + _MAX_KEY_CHARS]


class _Group:
    """Lines in blocks, which are matched in turn; the highest line numbers come first."""

    def __init__(self, lines: Sequence[_Line]) -> None:
        self._parts = [
            _Alternatives(lines[start : start + _MAX_ALTERNATIVES])
            for start in range(0, len(lines), _MAX_ALTERNATIVES)
        ]

    def last_line(self, raw: bytes) -> int:
        return next((line for part in self._parts if (line := part.last_line(raw)) >= 0), -1)


class _Alternatives:
    """A binary tree of lines; each node has one expression that matches any of its globs."""

    def __init__(self, lines: Sequence[_Line]) -> None:
        self._lines = lines

    def last_line(self, raw: bytes) -> int:
        if self._any is not None and self._any.fullmatch(raw) is None:
            return -1
        if len(self._lines) == 1:
            return self._lines[0][0] if self._any is not None else -1
        later, earlier = self._halves
        line = later.last_line(raw)
        return line if line >= 0 else earlier.last_line(raw)

    @cached_property
    def _any(self) -> re2._Regexp | None:
        return _compile(glob for _, glob in self._lines)

    @cached_property
    def _halves(self) -> tuple[_Alternatives, _Alternatives]:
        middle = len(self._lines) // 2
        return _Alternatives(self._lines[:middle]), _Alternatives(self._lines[middle:])


def _compile(globs: Iterable[str]) -> Any:
    """Return an expression that matches any of the globs; None if it is too large.

    A single glob that is too large is longer than any path, so it matches none.
    """
    import re2  # takes 4 ms, and most folders need no expression

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.dot_nl = options.never_capture = True
    options.log_errors = False
    options.max_mem = _MAX_MEMORY_BYTES
    try:
        return re2.compile("|".join(map(translate_pattern, globs)).encode("latin-1"), options)
    except re2.error:
        return None
