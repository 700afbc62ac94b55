"""Answers about names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

SymbolAspect = Literal["definitions", "uses", "assignments", "reads", "tests", "implementations"]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A place where a name is defined."""

    name: str
    # A keyword such as class, def or fn, or else function, variable, macro or declaration; if tests
    # are requested, also file.
    kind: str
    scope: str  # the enclosing definitions, outermost first: "class A > class B"
    path: str
    line: int  # the line of the name, from 1
    start_line: int  # the first line of the definition, including the comment above it
    end_line: int
    signature: str  # the line with the name
    language: str
    visibility: str  # public, protected or private, by its modifiers and naming conventions
    alias_of: str = ""  # the original name, if this name is an alias


@dataclass(frozen=True, slots=True)
class SymbolUse:
    """A line that contains a name and is not a definition of it."""

    path: str
    line: int  # the number of the line, from 1
    # call, implementation, type, import, export, reference, comment, string or document; or, if the
    # request asks for these, assignment or test (a test in a file that contains the name)
    kind: str
    scope: str  # the enclosing function, outermost definition first
    text: str  # the line
    is_test: bool
    # "path:line" of the used definition; "" if the code does not show which definition it is
    target: str = ""


@dataclass(frozen=True, slots=True)
class SymbolAnswer:
    """The definitions of a name, and one page of its uses.

    Uses in code come first, then those in tests, and then comments, strings and documents.
    """

    name: str
    aspect: SymbolAspect
    definitions: tuple[Symbol, ...]  # the most relevant first
    uses: tuple[SymbolUse, ...]  # the uses on this page; empty if the aspect is "definitions"
    offset: int  # the number of uses on earlier pages
    total_uses: int  # the number of uses on all pages; if the aspect is "definitions", of all uses
    counts: Mapping[str, int]  # kind -> number of uses, on all pages
    # False: not all files with the name were read, so the counts are lower bounds
    is_complete: bool
    next_cursor: str | None
    similar: tuple[str, ...] = ()  # the most similar defined names, if this name is not defined
    # False: too many files define the name, and not all of them were read
    has_all_definitions: bool = True
    is_filtered: bool = False  # True: a filter may have left out definitions in other files
    within: str = ""  # the path in the question; uses in other files are left out
    # The number of uses in code, on all pages, that may belong to another definition of the name.
    uses_by_name: int = 0
    # False: not all types of receivers were looked up, so more uses than necessary count as uses by
    # name.
    has_all_types: bool = True
    # If `is_complete` is False, a lower bound for the number of files with the name that were not
    # read or, for tests and implementations, not parsed. 0 if it is not known.
    unread_files: int = 0
    # If the aspect is "implementations", the names of the types on this page that have
    # implementations of their own. Only direct implementations are uses.
    extended: tuple[str, ...] = ()
    has_all_extended: bool = True  # False: not all files were read, so `extended` may lack types
    # The number of lines with the requested aspect that are left out, because there the name
    # denotes a local variable or parameter.
    local_variables: int = 0
    # True: the last part of the name has only one definition, regardless of the owner. False: it
    # has several or none, or not all files that may define it were read.
    is_only_definition: bool = False
    # If the aspect is "definitions" and at most three other lines contain the name, the places of
    # these lines, such as "cart.py:3".
    mentions: tuple[str, ...] = ()
