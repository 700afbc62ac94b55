"""The tree-sitter grammars of languages, loaded on first use."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module, resources
from typing import Final, cast

from tree_sitter import Language, Query


@dataclass(frozen=True, slots=True)
class GrammarSource:
    """The module and function that provide a grammar, and the query file for it.

    `crashing` matches text that can crash the scanner of the grammar. `is_c` is set for C and C++,
    whose conditional directives often make a text unreadable for a parser.
    """

    module: str
    function: str
    query: str
    crashing: re.Pattern[bytes] | None = None
    is_c: bool = False


@dataclass(frozen=True, slots=True)
class Grammar:
    """A language and the query that finds definitions, names and comments in its trees."""

    language: Language
    query: Query
    source: GrammarSource

    def without_crashes(self, data: bytes) -> bytes:
        """Return a text of the same length that the parser can read without crashing."""
        if self.source.crashing is None:
            return data
        return self.source.crashing.sub(lambda match: b"x" * len(match[0]), data)


# The scanner of tree-sitter-bash 0.25.1 calls isdigit() for the character after "{", "{1" and
# "{1..". If it is not ASCII, this call reads beyond a table of the C library. Depending on the
# addresses, the process then crashes.
_CRASHES_BASH: Final = re.compile(rb"(?<=[{.0-9])[\x80-\xff]+")
# At the end of the text, the scanner of tree-sitter-swift 0.7.4 compares a directive with the bytes
# after its name.
_CRASHES_SWIFT: Final = re.compile(rb"#(?:if|elseif|else|endif)\Z")

# To add a language, add a line here and a file in queries/.
GRAMMARS: Final[dict[str, GrammarSource]] = {
    "bash": GrammarSource("tree_sitter_bash", "language", "bash.scm", _CRASHES_BASH),
    "c": GrammarSource("tree_sitter_c", "language", "c.scm", is_c=True),
    "cpp": GrammarSource("tree_sitter_cpp", "language", "cpp.scm", is_c=True),
    "csharp": GrammarSource("tree_sitter_c_sharp", "language", "csharp.scm"),
    "css": GrammarSource("tree_sitter_css", "language", "css.scm"),
    "elixir": GrammarSource("tree_sitter_elixir", "language", "elixir.scm"),
    "go": GrammarSource("tree_sitter_go", "language", "go.scm"),
    "haskell": GrammarSource("tree_sitter_haskell", "language", "haskell.scm"),
    "html": GrammarSource("tree_sitter_html", "language", "html.scm"),
    "java": GrammarSource("tree_sitter_java", "language", "java.scm"),
    "javascript": GrammarSource("tree_sitter_javascript", "language", "javascript.scm"),
    "kotlin": GrammarSource("tree_sitter_kotlin", "language", "kotlin.scm"),
    "lua": GrammarSource("tree_sitter_lua", "language", "lua.scm"),
    "php": GrammarSource("tree_sitter_php", "language_php", "php.scm"),
    "python": GrammarSource("tree_sitter_python", "language", "python.scm"),
    "ruby": GrammarSource("tree_sitter_ruby", "language", "ruby.scm"),
    "rust": GrammarSource("tree_sitter_rust", "language", "rust.scm"),
    "scala": GrammarSource("tree_sitter_scala", "language", "scala.scm"),
    "sql": GrammarSource("tree_sitter_sql", "language", "sql.scm"),
    "swift": GrammarSource("tree_sitter_swift", "language", "swift.scm", _CRASHES_SWIFT),
    "tsx": GrammarSource("tree_sitter_typescript", "language_tsx", "typescript.scm"),
    "typescript": GrammarSource("tree_sitter_typescript", "language_typescript", "typescript.scm"),
    "zig": GrammarSource("tree_sitter_zig", "language", "zig.scm"),
}


# All grammars use this node for text that they cannot parse.
UNREAD: Final = "(ERROR) @unread"


@cache
def load_grammar(language: str) -> Grammar:
    """Return the grammar of a language in `GRAMMARS`, created once per process."""
    source = GRAMMARS[language]
    entry = cast("Callable[[], object]", getattr(import_module(source.module), source.function))
    # The module returns a capsule, which the type stub of tree-sitter declares as an integer.
    grammar = Language(entry())
    query = Query(grammar, read_query(source.query) + UNREAD)
    return Grammar(grammar, query, source)


def read_query(name: str) -> str:
    """Return the text of a query file."""
    return resources.files(__package__).joinpath("queries", name).read_text(encoding="utf-8")
