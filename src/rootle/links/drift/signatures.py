"""The current signatures of functions, and the classes whose members are all known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from rootle.index.reader import IndexReader
from rootle.links.drift.project_names import ProjectNames
from rootle.search.symbols.finder import SymbolFinder
from rootle.search.symbols.symbol_request import MAX_LIMIT, SymbolRequest
from rootle.types import Symbol

# The limit on the text that is read and parsed for one answer, in characters. It is the sum of a
# fixed number, which takes half a second, and a multiple of the size of the project. A name without
# a definition costs up to three times the size of the project, but there are few such names.
_BASE_COST: Final = 30_000_000
_COST_PER_CHAR: Final = 15
_COST_PER_NAME: Final = 50_000  # the cost of looking up a name in addition to reading files
_MAX_USE_SEARCHES: Final = 200  # names whose uses are listed for one answer
_MAX_HEAD_LINES: Final = 30
_ARGUMENT: Final = re.compile(r"[&*$]*([A-Za-z_]\w*)\s*(=.*|:.*|\?)?$", re.DOTALL)
_BOX_KINDS: Final = frozenset({"class", "struct", "interface", "trait", "enum", "record"})
_DYNAMIC: Final = re.compile(
    r"__getattr__|method_missing|__call\b|define_method|Proxy\(|setattr|\bimport \*|derive\("
)
_BASE_WORDS: Final = frozenset(
    "class struct interface trait enum record public private protected internal final abstract"
    " static sealed export default extends implements data open pub object partial".split()
)


@dataclass(frozen=True, slots=True)
class Arguments:
    """The names of the parameters of a call in a document."""

    names: tuple[str, ...]
    keywords: frozenset[str]  # the names that are written as "name=value"


def parse_arguments(text: str) -> Arguments | None:
    """Return the names in "first, second=None"; None if the text has other expressions."""
    names: list[str] = []
    keywords = set()
    for part in filter(None, (one.strip() for one in text.split(","))):
        match = _ARGUMENT.match(part.strip("[]"))
        if match is None:
            return None
        names.append(match[1])
        if (match[2] or "").startswith("="):
            keywords.add(match[1])
    return Arguments(tuple(names), frozenset(keywords)) if names else None


@dataclass(frozen=True, slots=True)
class Heads:
    """The definitions of all functions that have the same name."""

    first: str  # the likeliest definition with its parameters, on one line
    words: frozenset[str]  # the words in all definitions
    most_parameters: int  # the maximum number of arguments that one of the functions accepts
    is_open: bool  # whether a signature does not list all parameters
    any_keyword: bool  # whether a function accepts keywords that its signature does not name


class Signatures:
    """Reads the signatures of definitions in an index, up to a limit for one answer.

    After the limit is reached, further names are treated as undefined, and every class is treated
    as if it might have members from other projects.
    """

    def __init__(self, index: IndexReader, finder: SymbolFinder) -> None:
        self._index = index
        self._finder = finder
        chars = sum(state.chars for state in index.all_files())
        self._left = _BASE_COST + _COST_PER_CHAR * chars
        self._searches_left = _MAX_USE_SEARCHES
        self.is_exhausted = False  # whether the limit prevented a lookup
        self.find_definitions = lru_cache(maxsize=4_096)(self._find)
        self.heads_of = lru_cache(maxsize=4_096)(self._find_heads)
        self.text_of = lru_cache(maxsize=128)(self._read)
        self._lines_of = lru_cache(maxsize=128)(self._split)
        self._lines_with = lru_cache(maxsize=128)(self._find_uses)
        self._is_dynamic = lru_cache(maxsize=4_096)(self._search_dynamic)

    def is_closed_class(self, name: str, project: ProjectNames) -> bool:
        """Return whether a class exists and all of its members are defined in the project."""
        return bool(self._classes(name)) and not self.is_open_class(name, project)

    def is_open_class(self, name: str, project: ProjectNames) -> bool:
        """Return whether a class exists, but may have members that the project does not define."""
        is_open = any(self._is_open(symbol, project) for symbol in self._classes(name))
        return is_open or self.is_exhausted

    def _classes(self, name: str) -> list[Symbol]:
        return [one for one in self.find_definitions(name) if one.kind in _BOX_KINDS]

    def _is_open(self, symbol: Symbol, project: ProjectNames) -> bool:
        head = symbol.signature.partition(symbol.name)[2].partition("{")[0]
        bases = set(re.findall(r"[A-Za-z_]\w+", head)) - _BASE_WORDS - {"object"}
        if self._is_dynamic(symbol.path):
            return True
        return any(not project.has_word(base) or not self.find_definitions(base) for base in bases)

    def mentions(self, path: str, name: str) -> bool:
        """Return whether the text of a module contains a name, or may define it dynamically."""
        text = self.text_of(path)
        is_open = "__getattr__" in text or "import *" in text
        return is_open or re.search(rf"\b{re.escape(name)}\b", text) is not None

    def are_used_together(self, name: str, words: Sequence[str]) -> bool:
        """Return whether a line of code contains a name and all of the given words.

        The result is True if the limit is reached.
        """
        lines = self._lines_with(name)
        if lines is None:
            return True
        return any(all(re.search(rf"\b{re.escape(w)}\b", line) for w in words) for line in lines)

    def _find_uses(self, name: str) -> Sequence[str] | None:
        """Return the lines of code that use a name; None if the limit is reached."""
        if self._searches_left <= 0:
            self.is_exhausted = True
            return None
        self._searches_left -= 1
        uses = self._finder.find(self._index, SymbolRequest(name, "uses", limit=MAX_LIMIT)).uses
        return [use.text for use in uses if use.kind not in ("comment", "document")]

    def _find(self, name: str) -> Sequence[Symbol]:
        if self._left <= 0:
            self.is_exhausted = True
            return ()
        found, cost = self._finder.find_definitions(self._index, name)
        self._left -= cost + _COST_PER_NAME
        return found

    def _find_heads(self, name: str) -> Heads | None:
        """Return the definitions of the functions with a name; None if there are none.

        The result is also None if a class has the same name, because a call of this name then calls
        a constructor, which may have another name.
        """
        if self._classes(name):
            return None
        found = [
            head for symbol in self.find_definitions(name) if "(" in (head := self._head(symbol))
        ]
        if not found:
            return None
        return Heads(
            found[0],
            frozenset(word for head in found for word in re.findall(r"\w+", head)),
            max(map(_count_parameters, found)),
            any("*" in head or "..." in head for head in found),
            any(map(_accepts_any_keyword, found)),
        )

    def _head(self, symbol: Symbol) -> str:
        lines = self._lines_of(symbol.path)
        text = "\n".join(lines[symbol.line - 1 : symbol.line - 1 + _MAX_HEAD_LINES])
        start, depth = text.find(symbol.name), 0
        for at in range(max(start, 0), len(text)):
            if text[at] == "(":
                depth += 1
            elif text[at] == ")":
                depth -= 1
                if depth == 0:
                    return " ".join(text[start : at + 1].split())
            elif depth == 0 and text[at] in "{;\n" and at > start:
                return text[start:at].strip()
        return ""

    def _search_dynamic(self, path: str) -> bool:
        return _DYNAMIC.search(self.text_of(path)) is not None

    def _split(self, path: str) -> list[str]:
        return self.text_of(path).split("\n")

    def _read(self, path: str) -> str:
        state = self._index.file_at(path)
        return self._index.text(state.id) if state is not None and state.skip is None else ""


def _count_parameters(head: str) -> int:
    """Return an upper bound for the number of arguments that a function accepts.

    It is very high if the signature contains "*" or "...".
    """
    inside = head.partition("(")[2].rpartition(")")[0]
    if "..." in inside or "*" in inside:
        return 1_000
    return inside.count(",") + 1 if inside.strip() else 0


def _accepts_any_keyword(head: str) -> bool:
    """Return whether a function accepts keywords that its signature does not name."""
    return "**" in head or "..." in head
