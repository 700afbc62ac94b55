"""The tree-sitter grammars of languages, loaded on first use."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module, resources
from typing import Final, cast

from tree_sitter import Language, Query

from rootle.syntax.c_code.function_macros import hide_macros
from rootle.syntax.c_code.inner_directives import hide_enum_macros, hide_inner_directives
from rootle.syntax.c_code.lone_macros import hide_lone_macros
from rootle.syntax.files.markup import hide_markup


@dataclass(frozen=True, slots=True)
class GrammarSource:
    """The module and function that provide a grammar, and the query file for it.

    `crashing` matches text that can crash the scanner of the grammar. The patterns in `hidden`
    match text that the grammar misreads because of some words or a macro call. Group 1 of a pattern
    matches these words or this call, which are replaced with spaces before parsing. `is_c` is set
    for C and C++, whose macros and conditional directives often make a text unreadable for a
    parser. `macros` finds definitions in the template language around the code; group 1 is the
    name. `script_language` is set for components: the language of the scripts in their markup.
    """

    module: str
    function: str
    query: str
    crashing: re.Pattern[bytes] | None = None
    hidden: tuple[re.Pattern[bytes], ...] = ()
    is_c: bool = False
    script_language: str = ""
    macros: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Grammar:
    """A language and the query that finds definitions, names and comments in its trees."""

    language: Language
    query: Query
    source: GrammarSource

    def readable(self, data: bytes) -> bytes:
        """Return a text that the parser can read. All positions stay unchanged."""
        if self.source.script_language:
            data = hide_markup(data)
        if self.source.crashing is not None:
            data = self.source.crashing.sub(lambda match: b"x" * len(match[0]), data)
        if self.source.is_c:
            data = hide_enum_macros(hide_inner_directives(data))
        for pattern in self.source.hidden:
            data = pattern.sub(_hide, data)
        return hide_lone_macros(hide_macros(data)) if self.source.is_c else data


def _hide(match: re.Match[bytes]) -> bytes:
    at = match.start(1) - match.start()
    return match[0][:at] + _NO_SPACE.sub(b" ", match[1]) + match[0][at + len(match[1]) :]


# The scanner of tree-sitter-bash 0.25.1 calls isdigit() for the character after "{", "{1" and
# "{1..". If the character is not ASCII, isdigit() reads outside a table of the C library, and the
# process may crash.
_CRASHES_BASH: Final = re.compile(rb"(?<=[{.0-9])[\x80-\xff]+")
# If a text ends with a directive, the scanner of tree-sitter-swift 0.7.4 reads beyond the text.
_CRASHES_SWIFT: Final = re.compile(rb"#(?:if|elseif|else|endif)\Z")

_NO_SPACE: Final = re.compile(rb"\S")
# Each pattern matches an export macro or an attribute before the name of a class, as in
# "class APP_API Widget {". The grammars mistake this word for the name of the class, and the class
# for a function or a variable.
#
# There is one pattern for each keyword, because a search is ten times as fast if the pattern begins
# with a literal.
_HIDDEN_C: Final = tuple(
    re.compile(
        rb"""%b\s{1,20}+(?:\[\[[^\[\]\n]{0,80}\]\]\s{1,20}+)?
        ((?:(?:[A-Z_][A-Z0-9_]++|\w{1,80}_(?:EXPORT|API)\b)(?:\([^()\n]{0,200}\))?\s{1,20}+){1,3})
        (?=(?:\[\[[^\[\]\n]{0,80}\]\]\s{1,20}+)?(?!final\b)[A-Za-z_][\w:]*+\s{0,20}+
        (?:<[^{};]{0,200}>\s{0,20})?(?:final\s{0,20}+)?(?:%b))"""
        % (keyword, end),
        re.VERBOSE,
    )
    # "struct NAME other;" declares a variable.
    for keyword, end in (
        (b"class", rb"[{;]|:(?!:)"),
        (b"struct", rb"\{|:(?!:)"),
        (b"union", rb"\{"),
        (b"enum", rb"\{|:(?!:)"),
    )
)
# Calls of macros between definitions, such as `DEFINE_FLAG(quiet, false);` or `DEFAULT(void, );`.
# The grammars take them for declarations of functions. A literal or a missing argument, which such
# a declaration cannot have, is then an error. After several such errors, the grammars do not
# recognize the classes that follow.
_HIDDEN_MACRO_CALLS: Final = re.compile(
    rb"""\n([A-Z][A-Z0-9_]{2,80}+\((?=[^()\n]{0,200}\)[ ]?;)
    (?:[^()\n]{0,200},)?[ ]{0,20}(?:["'0-9][^()\n]{0,200}|(?<=[, ]))\)[ ]?;)""",
    re.VERBOSE,
)
# Attributes without arguments after the parameters of a function: `int f(void) __must_check;`.
_HIDDEN_ATTRIBUTES: Final = re.compile(
    rb"\n[a-z_][^\n;{}=]{0,200}\)[ \t]{1,5}((?:__[a-z]\w{1,40}[ \t]{0,5}){1,3})(?=[;\n{])"
)
# The condition of an exception specification, such as `noexcept(is_safe<T> ? true : false)` after
# the parameters of a function. The grammar cannot parse some conditions with template arguments.
_HIDDEN_NOEXCEPT: Final = re.compile(
    rb"""[)&]\s{0,80}+(?:const\s{0,80}+)?(?:&{1,2}\s{0,80}+)?
    (noexcept\s{0,20}+\((?:[^(){};]|\((?:[^(){};]|\((?:[^(){};]|\([^(){};]{0,99}\)){0,99}\)
    ){0,99}\)){1,300}\))""",
    re.VERBOSE,
)
# If a class has one of these modifiers, and certain annotations or no body, the grammar mistakes
# the class for an infix expression.
_HIDDEN_KOTLIN: Final = (
    *(
        re.compile(rb"(%b)\s{1,20}+constructor\b" % modifier)
        for modifier in (b"private", b"protected", b"internal", b"public")
    ),
    *(
        re.compile(
            rb"(%b)(?=(?:\s{1,20}+\w{1,20}+){0,3}?\s{1,20}+(?:class|object|interface)\b)" % modifier
        )
        for modifier in (b"expect", b"actual")
    ),
)

# Definitions of dbt, in templates of Jinja: `{% macro in_cents(amount) %}`.
_SQL_MACROS: Final = re.compile(
    r"\{%[-+]?\s{0,20}(?:macro|materialization|snapshot|test)\s{1,20}(\w+)"
)
_COMPONENT: Final = GrammarSource(
    "tree_sitter_typescript", "language_typescript", "typescript.scm", script_language="typescript"
)

# To add a language, add a line here and a query file in queries/.
GRAMMARS: Final[dict[str, GrammarSource]] = {
    "astro": _COMPONENT,
    "bash": GrammarSource("tree_sitter_bash", "language", "bash.scm", _CRASHES_BASH),
    "c": GrammarSource(
        "tree_sitter_c",
        "language",
        "c.scm",
        hidden=(*_HIDDEN_C, _HIDDEN_MACRO_CALLS, _HIDDEN_ATTRIBUTES),
        is_c=True,
    ),
    "cpp": GrammarSource(
        "tree_sitter_cpp",
        "language",
        "cpp.scm",
        hidden=(*_HIDDEN_C, _HIDDEN_MACRO_CALLS, _HIDDEN_ATTRIBUTES, _HIDDEN_NOEXCEPT),
        is_c=True,
    ),
    "csharp": GrammarSource("tree_sitter_c_sharp", "language", "csharp.scm"),
    "css": GrammarSource("tree_sitter_css", "language", "css.scm"),
    "elixir": GrammarSource("tree_sitter_elixir", "language", "elixir.scm"),
    "go": GrammarSource("tree_sitter_go", "language", "go.scm"),
    "haskell": GrammarSource("tree_sitter_haskell", "language", "haskell.scm"),
    "html": GrammarSource("tree_sitter_html", "language", "html.scm"),
    "java": GrammarSource("tree_sitter_java", "language", "java.scm"),
    "javascript": GrammarSource("tree_sitter_javascript", "language", "javascript.scm"),
    "kotlin": GrammarSource("tree_sitter_kotlin", "language", "kotlin.scm", hidden=_HIDDEN_KOTLIN),
    "lua": GrammarSource("tree_sitter_lua", "language", "lua.scm"),
    "php": GrammarSource("tree_sitter_php", "language_php", "php.scm"),
    "python": GrammarSource("tree_sitter_python", "language", "python.scm"),
    "ruby": GrammarSource("tree_sitter_ruby", "language", "ruby.scm"),
    "rust": GrammarSource("tree_sitter_rust", "language", "rust.scm"),
    "scala": GrammarSource("tree_sitter_scala", "language", "scala.scm"),
    "sql": GrammarSource("tree_sitter_sql", "language", "sql.scm", macros=_SQL_MACROS),
    "svelte": _COMPONENT,
    "swift": GrammarSource("tree_sitter_swift", "language", "swift.scm", _CRASHES_SWIFT),
    "tsx": GrammarSource("tree_sitter_typescript", "language_tsx", "typescript.scm"),
    "typescript": GrammarSource("tree_sitter_typescript", "language_typescript", "typescript.scm"),
    "vue": _COMPONENT,
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
