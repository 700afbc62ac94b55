"""Patterns of the lines that begin a block or define a name, by language."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from rootle.syntax.blocks.passive_lines import PassiveLines
from rootle.syntax.blocks.starts import Extent, Start
from rootle.syntax.keyword_names import find_c_functions, find_names
from rootle.syntax.lines import Lines
from rootle.text.patterns.lazy_pattern import LazyPattern

_NAME, _INDENTED, _SECTION = Extent.NAME, Extent.INDENTED, Extent.SECTION


@dataclass(frozen=True, slots=True)
class LineRule:
    """A pattern for the first line of a block, without the spaces at its end.

    The group `name` is the name of the block, `label` the keyword before the name and `kind`
    another name that precedes it, as in `resource "aws_sqs_queue" "this"`. A name is a symbol
    unless `is_symbol` is false. `end` matches the last line of the block. If `inside` is given, the
    rule applies only inside an outermost block with this title.
    """

    pattern: LazyPattern
    extent: Extent
    level: int
    end: LazyPattern | None
    is_symbol: bool
    inside: str


def _rule(
    pattern: str,
    extent: Extent = _INDENTED,
    level: int = 0,
    *,
    end: str = "",
    is_symbol: bool = True,
    inside: str = "",
) -> LineRule:
    last = LazyPattern(end, flags=re.NOFLAG) if end else None
    first = LazyPattern(pattern, flags=re.NOFLAG)
    return LineRule(first, extent, level, last, is_symbol, inside)


_WORD: Final = r"[A-Za-z_][\w-]*"
_RULES: Final[dict[str, tuple[LineRule, ...]]] = {
    "assembly": (
        _rule(
            r"[ \t]*\.?(?P<label>macro)[ \t]+(?P<name>[\w.$]+)", end=r"[ \t]*\.?end(?:m|macro)\b"
        ),
        _rule(
            r"[ \t]*\.?(?P<label>func|proc|function|ENTRY|FUNC|LEAF|PROC|SYM_\w*START\w*|WEAK_FUNC)"
            r"[ \t(]+(?P<name>[A-Za-z_.$][\w.$]*)",
            _SECTION,
            1,
        ),
        _rule(r"(?P<name>[A-Za-z_][\w.$]*):", _SECTION, 2),
        _rule(r"[ \t]*(?:\.(?:equ|set)[ \t]+|#[ \t]*define[ \t]+)(?P<name>\w+)", _NAME),
    ),
    "bibtex": (_rule(r"@(?P<label>\w+)[ \t]*[{(][ \t]*(?P<name>[^\s,{}]+),"),),
    "cmake": (
        _rule(
            r"[ \t]*(?i:(?P<label>function)[ \t]*\([ \t]*(?P<name>\w+))",
            end=r"(?i)[ \t]*endfunction\b",
        ),
        _rule(
            r"[ \t]*(?i:(?P<label>macro)[ \t]*\([ \t]*(?P<name>\w+))", end=r"(?i)[ \t]*endmacro\b"
        ),
        _rule(
            r"[ \t]*(?i:(?P<label>add_library|add_executable|add_custom_target|add_test|project"
            r"|option|set)[ \t]*\([ \t]*(?P<name>[\w.:-]+))"
        ),
    ),
    "devicetree": (
        _rule(r"[ \t]*(?P<name>\w+):[ \t]*(?P<label>[\w,.@/-]+)[ \t]*\{"),
        _rule(r"[ \t]*(?P<name>&?[\w,.@/-]+)[ \t]*\{", is_symbol=False),
    ),
    "dockerfile": (
        _rule(r"(?i:FROM)[ \t]+(?:--\S+[ \t]+)*\S+[ \t]+(?i:as)[ \t]+(?P<name>\S+)", _SECTION, 1),
        _rule(
            r"(?P<label>(?i:FROM))[ \t]+(?:--\S+[ \t]+)*(?P<name>\S+)", _SECTION, 1, is_symbol=False
        ),
        _rule(r"(?i:ARG|ENV)[ \t]+(?P<name>\w+)", _NAME),
    ),
    "fsharp": (
        _rule(
            r"(?P<label>let|and)[ \t]+(?:(?:rec|inline|mutable|private|internal)[ \t]+)*"
            r"(?P<name>[A-Za-z_][\w']*)"
        ),
        _rule(
            r"[ \t]*(?:(?:static|override|abstract|default)[ \t]+)*(?P<label>member)[ \t]+"
            r"(?:inline[ \t]+)?(?:\w+\.)?(?P<name>[A-Za-z_][\w']*)"
        ),
        _rule(
            r"[ \t]*(?P<label>type|module|exception)[ \t]+"
            r"(?:(?:rec|private|internal|public)[ \t]+)*(?P<name>[A-Za-z_][\w'.]*)"
        ),
    ),
    "gdscript": (
        _rule(r"[ \t]*(?:@\w+[ \t]+|static[ \t]+)*(?P<label>func|class|enum)[ \t]+(?P<name>\w+)"),
        _rule(
            r"(?:@\w+(?:\([^()\n]{0,200}\))?[ \t]+|static[ \t]+)*"
            r"(?:var|const|signal|class_name)[ \t]+(?P<name>\w+)",
            _NAME,
        ),
    ),
    "gotemplate": (
        _rule(r"[ \t]*\{\{-?[ \t]*(?P<label>define)[ \t]+\"(?P<name>[^\"\n]+)\"", _SECTION, 1),
    ),
    "godot": (
        _rule(
            r"\[(?P<label>\w+)[ \t]+(?:[^\]\n]{0,200}[ \t])?name=\"(?P<name>[^\"\n]+)\"[^\n]*\]",
            _SECTION,
            1,
        ),
        _rule(r"\[(?P<name>[^\[\]\n]+)\]", _SECTION, 1, is_symbol=False),
    ),
    "ini": (
        _rule(r"\[(?P<name>[^\[\]\n]+)\][ \t]*(?:[#;].*)?$", _SECTION, 1, is_symbol=False),
        _rule(r"(?P<name>[A-Za-z][^\W_]*+[_.-]++\w[\w.-]*+)[ \t]*=", _NAME),
    ),
    "graphql": (
        _rule(
            r"(?:extend[ \t]+)?(?P<label>type|interface|input|enum|union|scalar|directive|query"
            r"|mutation|subscription|fragment)[ \t]+@?(?P<name>\w+)"
        ),
        _rule(r"[ \t]++(?P<name>\w++)[ \t]*+(?:\([^()\n]{0,400}\))?[ \t]*:[ \t]*[\[\w]", _NAME),
        _rule(r"[ \t]++(?P<name>\w++)\([ \t]*+$", _NAME),
        _rule(r"[ \t]++(?P<name>[A-Z][A-Z0-9_]*+)[ \t]*+(?:@[^\n]{0,200})?$", _NAME),
    ),
    "kconfig": (
        _rule(r"[ \t]*(?P<label>config|menuconfig)[ \t]+(?P<name>\w+)[ \t]*(?:#.*)?$"),
        _rule(r"[ \t]*(?P<label>menu|comment|choice)[ \t]+\"(?P<name>[^\"\n]+)\"", is_symbol=False),
    ),
    "latex": (
        _rule(r".{0,500}?\\label\{(?P<name>[^{}\n]+)\}", _NAME),
        _rule(
            r"[ \t]*\\(?:(?:re)?newcommand|providecommand|DeclareMathOperator)\*?"
            r"\{?\\(?P<name>\w+)",
            _NAME,
        ),
        _rule(r"[ \t]*\\def\\(?P<name>\w+)", _NAME),
    ),
    "make": (
        _rule(r"(?P<label>define)[ \t]+(?P<name>[\w.-]+)", end=r"endef\b"),
        _rule(
            r"(?:export[ \t]+|override[ \t]+)?(?P<name>[A-Za-z_][\w.-]*)[ \t]*(?:[:+?!]{1,3}=|=)",
            _NAME,
        ),
        _rule(r"(?P<name>[A-Za-z_][\w.-]*)(?:[ \t]+[\w.-]+)*[ \t]*::?(?![=:])"),
        _rule(r"(?!\.[A-Z_]+:)(?P<name>[\w./$(){}%*-]+)[ \t]*::?(?![=:])", is_symbol=False),
    ),
    "nix": (
        _rule(
            rf"[ \t]*(?P<name>{_WORD}(?:\.{_WORD})*)[ \t]*=[ \t]*+"
            r"(?:[^;\n]*+(?<=[{(\[:'])|rec|let|with[^;\n]*+;)?$"
        ),
    ),
    "ocaml": (
        # A line that ends with "in" defines a local name.
        _rule(
            r"[ \t]*(?P<label>let|and)[ \t]+(?:rec[ \t]+)?"
            r"(?P<name>(?!_\b)[A-Za-z_][\w']*)(?!.*\bin$)"
        ),
        _rule(
            r"[ \t]*(?P<label>module|type|val|external|exception|class|method)[ \t]+"
            r"(?:(?:type|rec|nonrec|private|virtual)[ \t]+)*"
            r"(?:(?:'\w+|\([^()\n]{0,80}\))[ \t]+)?(?P<name>[A-Za-z_][\w']*)"
        ),
    ),
    "proto": (
        _rule(
            r"[ \t]*(?P<label>message|enum|service|oneof|rpc|extend)[ \t]+(?P<name>[A-Za-z_]\w*)"
            r"(?=[ \t]*[({]|[ \t]*$)"
        ),
        _rule(
            r"[ \t]++(?!option\b|reserved\b|return\b)(?:(?:repeated|optional|required)[ \t]++)?"
            r"(?:map[ \t]*<[^<>\n]{1,200}>|[.\w]++)[ \t]++(?P<name>\w++)[ \t]*+=[ \t]*+\d",
            _NAME,
        ),
        _rule(r"[ \t]++(?P<name>[A-Z]\w*+)[ \t]*+=[ \t]*-?\d", _NAME),
    ),
    "scss": (
        _rule(r"[ \t]*@(?P<label>mixin|function)[ \t]+(?P<name>[\w-]+)"),
        _rule(r"[ \t]*(?P<name>[$][\w-]+)[ \t]*:", _NAME),
        _rule(r"[ \t]*(?P<name>[.#%&:>~+*A-Za-z\[][^{};/\n]*)\{[ \t]*(?:/[/*].*)?$"),
    ),
    "terraform": (
        _rule(
            r"(?P<label>resource|data|ephemeral|source|build)[ \t]+\"?(?P<kind>[\w-]+)\"?[ \t]+"
            r"\"?(?P<name>[\w-]+)\"?[ \t]*\{"
        ),
        _rule(r"(?P<label>[a-z_]+)[ \t]+\"(?P<name>[^\"\n]+)\"[ \t]*\{"),
        _rule(r"(?P<name>[a-z_]+)[ \t]*\{", is_symbol=False),
        _rule(rf"(?P<name>{_WORD})[ \t]*=(?![=>])"),
        _rule(rf"  (?P<name>{_WORD})[ \t]*=(?![=>])", inside="locals"),
    ),
    "toml": (
        # A line with quotes that is indented is an item of an array.
        _rule(
            r"(?:[ \t]+(?=\[\[?[A-Za-z_]))?\[\[?(?P<name>[^\[\],#\n]++)\]\]?[ \t]*(?:#.*)?$",
            _SECTION,
            1,
            is_symbol=False,
        ),
        _rule(r"(?P<name>[A-Za-z][^\W_]*+[_-]++\w[\w-]*+)[ \t]*=", _NAME),
    ),
}
# Languages in which a keyword precedes most definitions.
_WITH_KEYWORDS: Final = frozenset(
    """clojure d dart elm groovy julia nim objc perl powershell r scheme shader tcl vim""".split()
)
# Languages whose functions look like those of C.
_LIKE_C: Final = frozenset({"d", "objc", "shader"})
# Names in these languages can contain hyphens.
_WITH_HYPHENS: Final = frozenset({"clojure", "powershell", "scheme"})
_HYPHENS: Final = re.compile(r"(?:-[\w?!*]++){1,20}")
_MAX_BEFORE: Final = 160  # characters before a name in which its keyword is
_MAX_WORD: Final = 40
_NO_WORD: Final = re.compile(r"[^\w-]")
_CSS_NAME: Final = re.compile(r"[.#%]([A-Za-z_-][\w-]*)")


def has_rules(language: str) -> bool:
    """Return whether the lines that begin a block are known for a language."""
    return language in _RULES or language in _WITH_KEYWORDS


def list_matches(lines: Lines, language: str, passive: PassiveLines) -> list[Start]:
    """Return the lines that begin a block or define a name, in order."""
    if language in _WITH_KEYWORDS:
        return [
            start
            for start in _list_keywords(lines, language)
            if start.row not in passive.inside_text
        ]
    read = _READERS.get(language, _read_start)
    patterns = _list_patterns(language)
    starts = []
    outermost = ""
    for row, line in enumerate(lines.rows):
        if row in passive.inside_text:
            continue
        text = line.rstrip()
        for rule, pattern, end in patterns:
            if rule.inside in ("", outermost) and (found := pattern.match(text)) is not None:
                starts.append(read(row, found, rule, end))
                outermost = outermost if line[:1].isspace() else starts[-1].title
                break
    return starts


@cache
def _list_patterns(
    language: str,
) -> Sequence[tuple[LineRule, re.Pattern[str], re.Pattern[str] | None]]:
    return tuple(
        (rule, rule.pattern.compiled, rule.end.compiled if rule.end is not None else None)
        for rule in _RULES[language]
    )


def _read_start(
    row: int, found: re.Match[str], rule: LineRule, end: re.Pattern[str] | None
) -> Start:
    groups = found.groupdict()
    name = found["name"].strip()
    kind, label = groups.get("kind") or "", groups.get("label") or ""
    full = f"{kind}.{name}" if kind else name
    symbols = tuple(one for one in (name, kind) if one) if rule.is_symbol else ()
    return Start(row, f"{label} {full}".strip(), symbols, rule.extent, rule.level, end)


def _read_selector(
    row: int, found: re.Match[str], rule: LineRule, end: re.Pattern[str] | None
) -> Start:
    """Return the start of a rule of CSS. Its symbols are the classes and ids of its selector."""
    start = _read_start(row, found, rule, end)
    if rule.extent is _NAME or found.groupdict().get("label"):
        return start
    names = dict.fromkeys(_CSS_NAME.findall(start.title))
    return Start(row, start.title, tuple(names), rule.extent)


_READERS: Final[dict[str, Callable[..., Start]]] = {"scss": _read_selector}


def _list_keywords(lines: Lines, language: str) -> list[Start]:
    """Return the definitions that a keyword precedes; each of several lines is a block."""
    found = {name.row: name.text for name in find_names(lines, 0, len(lines))}
    if language in _LIKE_C:
        found = {name.row: name.text for name in find_c_functions(lines)} | found
    if language in _WITH_HYPHENS:
        found = {row: _add_hyphens(lines.rows[row], name) for row, name in found.items()}
    return [
        Start(row, _keyword_title(lines.rows[row], name), (name,), _INDENTED)
        for row, name in sorted(found.items())
    ]


def _add_hyphens(line: str, name: str) -> str:
    """Return the whole name in a line, such as `Get-Item`, of which `name` is the first word."""
    found = _HYPHENS.match(line, _find_word(line, name) + len(name))
    return f"{name}{found[0]}" if found is not None else name


def _find_word(line: str, name: str) -> int:
    """Return the position of a name that does not follow another letter; -1 if there is none."""
    at = line.find(name)
    while at > 0 and (line[at - 1].isalnum() or line[at - 1] == "_"):
        at = line.find(name, at + 1)
    return at


def _keyword_title(line: str, name: str) -> str:
    """Return the name of a definition with the word before it, as in "function total"."""
    at = _find_word(line, name)
    # Between the word and the name, there can be a qualifier or a sign, as in `int *total`.
    words = line[max(0, at - _MAX_BEFORE) : at + 1].split()[:-1] if at > 0 else []
    label = _NO_WORD.split(words[-1][-_MAX_WORD:])[-1].strip("-") if words else ""
    return f"{label} {name}".lstrip()
