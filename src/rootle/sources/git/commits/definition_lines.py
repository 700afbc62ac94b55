"""Find the names that lines of a file define, with the rules of its language.

In prose, only headings are names. Files in a language without rules have no names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple

from rootle.text.languages import UNKNOWN, file_language

_MAX_LINE_CHARS: Final = 400  # the rest of a line is not matched
# Words that can precede the keyword of a definition or the return type of a method.
_MODIFIERS: Final = (
    r"(?:(?:export|default|declare|public|private|protected|internal|static|abstract|sealed|final"
    r"|async|local|inline|virtual|override|partial|open|data|suspend|unsafe|const|extern|readonly"
    r"|get|set|enum|case|implicit|inner|annotation|indirect|fileprivate|mutating|mutable|typedef"
    r"|synchronized|native|operator|tailrec|infix|pub(?:\([^)]*\))?|@[\w.]+(?:\([^)]*\))?)\s+)"
)
# The text that must follow the name of a type, so that "class of objects" is not a definition.
_END: Final = (
    r"(?=\s*(?:[({<:=\[|]|$|(?:extends|implements|for|where|final|sealed|permits|with|is)\b))"
)
_NAME: Final = r"([A-Za-z_$][\w$]*)"
# A function that begins in the first column, with or without a type.
_FUNCTION: Final = (
    r"(?=[A-Za-z_~])[^=;()\"'#.]*?(?<![\w$])(~?[A-Za-z_$][\w$]*(?:::~?[A-Za-z_$]\w*)*)\s*\("
)
_MEMBER: Final = (
    rf"\s*{_MODIFIERS}{{1,8}}(?!function\b)[^=;({{]*?(?<![\w$]){_NAME}\s*"
    r"(?:<(?:[^<>()]|<[^<>()]{0,60}>){0,60}>\s*)?\("
)
# Methods without modifiers: first with a return type, then without one, as in JavaScript or for a
# constructor.
_TYPED_METHOD: Final = rf"\s+(?:[\w$<>,.?&*:\[\]]+\s+){{1,6}}[*&]*{_NAME}\s*\([^;{{}}]*\{{\s*$"
_METHOD: Final = rf"\s*(?!.*\bfunction\b)#?{_NAME}\s*(?:<[^>]*>)?\([^;=]*\)[^;=()]*\{{\s*$"
_ASSIGNED: Final = (
    rf"\s*{_MODIFIERS}{{0,8}}(?:(?:const|let|var)\s+)?(?:[\w$]+\.){{0,8}}{_NAME}\s*(?::[^=]*)?=\s*"
    r"(?:async\s*)?(?:function\b|[\w$]+\s*=>|\([^)]*\)[^=]*=>|\([^)]*$)"
)
_CLASSES: Final = "class|interface|enum|record|struct|union|@interface|namespace|object|trait"


def _keyword(words: str, end: str = "") -> str:
    """Return a pattern for a definition that begins with one of these words."""
    return rf"\s*{_MODIFIERS}{{0,8}}(?:{words})\s+((?:self\.)?[A-Za-z_][\w.:]*[?!]?){end}"


_SCRIPT: Final = (
    rf"\s*{_MODIFIERS}{{0,8}}function\b\s*\*?\s*{_NAME}\s*[(<]",
    _keyword("class|interface|enum|type|namespace|module", _END),
    _ASSIGNED,
    _MEMBER,
    _METHOD,
)
_C: Final = (
    r"(?:(?:typedef|static|const|extern)\s+){0,4}(?:struct|enum|union)\s+(\w+)(?=\s*(?:\{|$))",
    _FUNCTION,
)
_CPP: Final = (
    rf"\s*(?:template\s*<[^{{]*>\s*)?{_MODIFIERS}{{0,8}}(?:struct|enum|union|class|namespace)\s+"
    rf"(?:[A-Z][A-Z0-9_]+\s+)?([A-Za-z_][\w:]*)(?=\s*(?:final\s*)?(?:[{{:<]|$))",
    _FUNCTION,
    _MEMBER,
    _TYPED_METHOD,
)
_JAVA: Final = (_keyword(_CLASSES, _END), _MEMBER, _TYPED_METHOD, _METHOD, _FUNCTION)
_SHELL: Final = r"\s*(?:function\s+)?([A-Za-z_][\w:.-]*)\s*\(\)\s*[{(]?\s*(?:#.*)?$"
_PATTERNS: Final[dict[str, tuple[str, ...]]] = {
    "bash": (_SHELL, r"\s*function\s+([A-Za-z_][\w:.-]*)\s*\{?\s*$"),
    "c": _C,
    "cpp": _CPP,
    "csharp": _JAVA,
    "d": _JAVA,
    "dart": _JAVA,
    "elixir": (_keyword("def|defp|defmodule|defmacrop?|defprotocol|defimpl|defguardp?"),),
    "elm": (_keyword("type|module"),),
    "fsharp": (_keyword("type|module"),),
    "go": (
        rf"func\s*(?:\([^)]*\)\s*)?{_NAME}\s*[(\[]",
        rf"\s*type\s+{_NAME}(?:\s*\[[^\]]*\])?\s+[\w*\[(=]",
    ),
    "graphql": (_keyword("type|interface|enum|input|union", _END),),
    "groovy": (_keyword("def|class|interface|enum|trait", _END), *_JAVA[1:]),
    "haskell": (_keyword("data|newtype|class|type|module"),),
    "html": _SCRIPT,
    "java": _JAVA,
    "javascript": _SCRIPT,
    "julia": (_keyword("function|struct|macro|module"),),
    "kotlin": (
        rf"\s*{_MODIFIERS}{{0,8}}fun\s+(?:<[^>]*>\s*)?(?:[\w<>?]+\.)?{_NAME}\s*\(",
        _keyword("class|interface|object|typealias", _END),
    ),
    "lua": (_keyword("function"), r"\s*(?:[\w]+[.:]){0,8}(\w+)\s*=\s*function\b"),
    "nim": (_keyword("proc|func|method|iterator|template|macro|converter"),),
    "objc": (
        rf"[-+]\s*\([^)]*\)\s*{_NAME}",
        rf"@(?:interface|implementation|protocol)\s+{_NAME}",
        *_C,
    ),
    "ocaml": (_keyword("module|type|class|method"),),
    "perl": (_keyword("sub|package"),),
    "php": (
        rf"\s*{_MODIFIERS}{{0,8}}function\s+&?{_NAME}\s*\(",
        _keyword("class|interface|trait|enum", _END),
    ),
    "powershell": (r"\s*(?i:function|filter|class|enum)\s+([A-Za-z_][\w:-]*)\s*(?:[({]|$)",),
    "proto": (_keyword("message|service|enum|rpc", _END),),
    "python": (
        r"\s*(?:async\s+)?def\s+(\w+)\s*[(\[\\]",
        r"\s*class\s+(\w+)\s*[(:\[]",
        r"\s*cp?def\s+[^=;()]*?(?<!\w)(\w+)\s*[(:]",
    ),
    "r": (r"\s*([\w.]+)\s*(?:<-|=)\s*function\b",),
    "ruby": (_keyword("def|class|module"),),
    "rust": (
        rf"\s*{_MODIFIERS}{{0,8}}(?:extern\s+\"[^\"]*\"\s+)?(?:fn|struct|enum|union|trait|mod|type"
        rf"|macro_rules!)\s+{_NAME}",
        r"\s*(?:unsafe\s+)?impl\b\s*(?:<[^{>]{0,100}>)?\s*(?:[^{]{0,200}\sfor\s+)?&?"
        r"(?:\w+::){0,8}([A-Za-z_]\w*)",
    ),
    "scala": (_keyword("def|class|object|trait|type"),),
    "svelte": _SCRIPT,
    "swift": (_keyword("func|class|struct|enum|protocol|extension|actor|typealias", _END),),
    "tcl": (_keyword("proc"),),
    "tsx": _SCRIPT,
    "typescript": _SCRIPT,
    "vim": (r"\s*fu(?:nction)?!?\s+(?:[a-z]:)?([\w#]+)\s*\(", r"\s*(?:export\s+)?def\s+(\w+)\s*\("),
    "vue": _SCRIPT,
    "zig": (_keyword("fn", r"(?=\s*\()"),),
    # Any other file, such as a script without an extension. The punctuation after a name
    # distinguishes a definition from prose.
    UNKNOWN: (
        _keyword("def|function|func|fn|sub|proc|class|struct|interface", r"(?=\s*[({])"),
        r"([A-Za-z_][\w:.-]*)\s*\(\)\s*\{\s*(?:#.*)?$",
    ),
}
# The first words of statements that look like the definition of a function.
_CONTROL: Final = frozenset(
    "if else elif elseif for foreach while switch case return catch sizeof do throw await yield"
    " with assert new delete unless until when match select defer go goto using lock try super"
    " this".split()
)
_SEPARATOR: Final = re.compile(r"::|\.")
_MARKDOWN_HEADING: Final = re.compile(r" {0,3}#{1,6}[ \t]+(\S.*)")
_FENCE: Final = re.compile(r"[ \t]*(?:`{3,}|~{3,})(.*)")
_UNDERLINE: Final = re.compile(r"([-=~^\"'`#*+.:_<>])\1{2,}[ \t]*$")
_PARAGRAPH_UNDERLINE: Final = re.compile(r"={3,}[ \t]*$|-{3,}[ \t]*$")


# Patterns that also match statements, so that the first word and the name must be checked.
_WITHOUT_KEYWORD: Final = frozenset({_FUNCTION, _MEMBER, _TYPED_METHOD, _METHOD})
# For each pattern, a character that every match contains. Looking for this character first saves
# most of the time.
_CONTAINED: Final = {_FUNCTION: "(", _MEMBER: "(", _TYPED_METHOD: "{", _METHOD: "{", _ASSIGNED: "="}


class _Rule(NamedTuple):
    pattern: re.Pattern[str]
    has_keyword: bool
    contained: str


@cache
def _rules(language: str) -> tuple[_Rule, ...]:
    return tuple(
        _Rule(re.compile(one), one not in _WITHOUT_KEYWORD, _CONTAINED.get(one, ""))
        for one in _PATTERNS.get(language, ())
    )


def has_rules(path: str) -> bool:
    """Return whether definitions or headings in the language of a file are recognized."""
    return file_language(path) in _PATTERNS or file_language(path) in ("markdown", "rst")


def defined_name(line: str, path: str) -> str:
    """Return the name that a single line of a file defines; "" if there is none."""
    return defined_names([line], path)[0]


def defined_names(lines: Sequence[str], path: str) -> list[str]:
    """Return the names that consecutive lines of a file define, one per line; most are ""."""
    language = file_language(path)
    if language == "markdown":
        return _find_headings(lines)
    if language == "rst":
        return _find_underlined(lines, _UNDERLINE)
    # A header file may belong to a program in C++.
    rules = _rules("cpp" if path.endswith(".h") else language)
    return [_match(line, rules) for line in lines] if rules else [""] * len(lines)


def _match(line: str, rules: Sequence[_Rule]) -> str:
    """Return the name that a line of source code defines."""
    if not line.strip() or line.rstrip().endswith(";"):
        return ""
    for rule in rules:
        match = rule.pattern.match(line, 0, _MAX_LINE_CHARS) if rule.contained in line else None
        if match is None:
            continue
        name = _SEPARATOR.split(match[1].strip(".:"))[-1]
        if name and (rule.has_keyword or not _is_statement(line, name)):
            return name
    return ""


def _is_statement(line: str, name: str) -> bool:
    first = line[:_MAX_LINE_CHARS].split(None, 1)[0]
    return name in _CONTROL or first.partition("(")[0] in _CONTROL


def _find_headings(lines: Sequence[str]) -> list[str]:
    found = _find_underlined(lines, _PARAGRAPH_UNDERLINE)
    is_code = False
    for at, line in enumerate(lines):
        fence = _FENCE.match(line)
        if fence is not None:
            # The lines may begin inside a code block, so a fence without a language never begins
            # one.
            is_code = not is_code and bool(fence[1].strip())
        heading = None if is_code else _MARKDOWN_HEADING.match(line, 0, _MAX_LINE_CHARS)
        if is_code or heading is not None:
            found[at] = _strip_closing(heading[1]) if heading else ""
    return found


def _strip_closing(heading: str) -> str:
    """Return the text of a heading of Markdown without the number signs that may follow it."""
    text = heading.rstrip(" \t")
    return text.rstrip("#").rstrip(" \t") or text[:1]


def _find_underlined(lines: Sequence[str], underline: re.Pattern[str]) -> list[str]:
    """Return each line that the next line underlines with punctuation; "" for other lines."""
    found = [
        line.strip()
        if line[:1].strip()
        and underline.match(below)
        and len(below.rstrip()) >= len(line.strip())
        and not underline.match(line)
        and len(line) <= _MAX_LINE_CHARS
        else ""
        for line, below in pairwise(lines)
    ]
    return [*found, ""] if lines else []
