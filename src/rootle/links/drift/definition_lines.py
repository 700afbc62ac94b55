"""Recognize lines of code that define a name, without parsing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

_KEYWORDS: Final = (
    "def|defp|defmacro|defmacrop|defmodule|fn|func|function\\*?|fun|sub|proc|method|macro|class"
    "|struct|enum|union|trait|interface|module|namespace|type|protocol|record|object|property"
    "|define|#define|impl|alias|alias_method|attr_\\w+"
)
_MODIFIERS: Final = "public|private|protected|internal|export|async|override|pub|abstract"
# Keywords of definitions that are local to a function if they are indented.
_VARIABLES: Final = "const|static|let|var|val|final|extern|void|int|bool|char|string"
# Languages in which a function can be defined without a keyword. A type may precede the name.
_TYPED_LANGUAGES: Final = frozenset("c cpp java csharp objc d dart php groovy".split())
_BRACE_LANGUAGES: Final = frozenset("javascript typescript tsx java csharp bash dart vue".split())


@dataclass(frozen=True)
class DefinitionLines:
    """Recognizes lines that define a name: with a keyword, a type, or a value.

    With `may_be_local`, keys and indented variables are also recognized. If a line repeats the
    name, as in `NAME = "NAME"`, the line does not match, because the name usually comes from an
    external format or protocol.
    """

    name: str
    may_be_local: bool = False

    def match(self, line: str, language: str) -> bool:
        """Return whether a line of a language defines the name."""
        if line.count(self.name) > 1 or self.is_use(line):
            return False
        if self._any_language.search(line):
            return True
        is_typed = language in _TYPED_LANGUAGES and self._typed.search(line) is not None
        return is_typed or (language in _BRACE_LANGUAGES and self._brace.search(line) is not None)

    def is_use(self, line: str) -> bool:
        """Return whether a line looks like a definition, but uses a name of a library."""
        return self._use.search(line) is not None

    @property
    def _word(self) -> str:
        return rf"(?<![\w$]){re.escape(self.name)}(?!\w)"

    @cached_property
    def _use(self) -> re.Pattern[str]:
        """A pattern for a trait that a Rust type implements, and for a built-in function of Zig."""
        return re.compile(
            rf"^\s*(?:unsafe\s+)?impl\b[^{{]*{self._word}[^{{]*\bfor\b|@{re.escape(self.name)}\("
        )

    @cached_property
    def _any_language(self) -> re.Pattern[str]:
        indent = r"\s*" if self.may_be_local else ""
        qualifier = r":?(?:\([^)]*\)\s*|[\w$<>]+(?:\.|::|\#))*"
        return re.compile(
            rf"^(?:\s*(?:[\w@()]+\s+){{0,5}}(?:{_KEYWORDS})\s+{qualifier}{self._word}"
            rf"|\s*(?:{_MODIFIERS})\b(?!.*\b(?:extends|implements)\b.*{self._word})"
            rf"[^=;:\"'.]*?{self._word}\s*[(<{{=;:]"
            rf"|{indent}(?:[\w@]+[\s(]+)*?(?:{_VARIABLES})\b(?:[^=;\"'.():]|::)*?(?:[\w<>?*]+\.)?{self._word}"
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
        """A pattern for a method with a body, and for a method of a TypeScript interface."""
        return re.compile(
            rf"^\s*{self._word}\s*(?:<[^;()]*>)?\([^;]*\)\s*(?:(?::[^;]*)?\{{\s*$|:\s*[^;{{}}?]+;?\s*$)"
        )
