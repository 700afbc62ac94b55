"""Answers about names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

SymbolAspect = Literal["definitions", "uses", "tests", "implementations"]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A place where a name is defined."""

    name: str
    # A keyword such as class, def or fn, or else function, variable, macro or declaration.
    kind: str
    scope: str  # the enclosing definitions, outermost first: "class A > class B"
    path: str
    line: int  # of the name, from 1
    start_line: int  # of the definition, with the comment above it
    end_line: int
    signature: str  # the line with the name
    language: str
    visibility: str  # public, protected or private, by its modifiers and naming conventions


@dataclass(frozen=True, slots=True)
class SymbolUse:
    """A line on which a name occurs outside of its definitions."""

    path: str
    line: int  # from 1
    kind: str  # call, implementation, type, import, reference, comment, string or document
    scope: str  # the enclosing function, outermost definition first
    text: str  # the line
    is_test: bool
    target: str = ""  # "path:line" of the definition; empty if the code does not show which one


@dataclass(frozen=True, slots=True)
class SymbolAnswer:
    """The definitions of a name, and one page of its uses: calls first, then tests, comments."""

    name: str
    aspect: SymbolAspect
    definitions: tuple[Symbol, ...]  # the most relevant first
    uses: tuple[SymbolUse, ...]  # on this page; empty if the aspect is "definitions"
    offset: int  # number of uses on earlier pages
    total_uses: int  # on all pages; counts all uses if the aspect is "definitions"
    counts: Mapping[str, int]  # kind -> number of uses, on all pages
    is_complete: bool  # False: not all files with the name were read, so counts are lower bounds
    next_cursor: str | None
    similar: tuple[str, ...] = ()  # the nearest defined names, if this one is not defined
    has_all_definitions: bool = True  # False: very many files define the name; not all were read
    is_filtered: bool = False  # True: a filter may have left out definitions in other files
    within: str = ""  # the path that the question names; uses elsewhere are left out
