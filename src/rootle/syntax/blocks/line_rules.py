"""Patterns of the lines that begin a block or define a name, by language."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from rootle.syntax.blocks.starts import Extent, Start
from rootle.syntax.keyword_names import find_c_functions, find_names
from rootle.syntax.lines import Lines

_NAME, _INDENTED, _SECTION = Extent.NAME, Extent.INDENTED, Extent.SECTION


@dataclass(frozen=True, slots=True)
class LineRule:
    """A pattern for the first line of a block.

    The group `name` is the name of the block, `label` the keyword before the name and `kind`
    another name that precedes it, as in `resource "aws_sqs_queue" "this"`. A name is a symbol
    unless `is_symbol` is false. `end` matches the last line of the block. If `inside` is given, the
    rule applies only inside an outermost block with this title.
    """

    pattern: str
    extent: Extent = _INDENTED
    level: int = 0
    end: str = ""
    is_symbol: bool = True
    inside: str = ""


_WORD: Final = r"[A-Za-z_][\w-]*"
_RULES: Final[dict[str, tuple[LineRule, ...]]] = {
    "assembly": (
        LineRule(
            r"[ \t]*\.?(?P<label>macro)[ \t]+(?P<name>[\w.$]+)", end=r"[ \t]*\.?end(?:m|macro)\b"
        ),
        LineRule(
            r"[ \t]*\.?(?P<label>func|proc|function|ENTRY|FUNC|LEAF|PROC|SYM_\w*START\w*|WEAK_FUNC)"
            r"[ \t(]+(?P<name>[A-Za-z_.$][\w.$]*)",
            _SECTION,
            1,
        ),
        LineRule(r"(?P<name>[A-Za-z_][\w.$]*):", _SECTION, 2),
        LineRule(r"[ \t]*(?:\.(?:equ|set)[ \t]+|#[ \t]*define[ \t]+)(?P<name>\w+)", _NAME),
    ),
    "bibtex": (LineRule(r"@(?P<label>\w+)[ \t]*[{(][ \t]*(?P<name>[^\s,{}]+),"),),
    "cmake": (
        LineRule(
            r"[ \t]*(?i:(?P<label>function)[ \t]*\([ \t]*(?P<name>\w+))",
            end=r"(?i)[ \t]*endfunction\b",
        ),
        LineRule(
            r"[ \t]*(?i:(?P<label>macro)[ \t]*\([ \t]*(?P<name>\w+))", end=r"(?i)[ \t]*endmacro\b"
        ),
        LineRule(
            r"[ \t]*(?i:(?P<label>add_library|add_executable|add_custom_target|add_test|project"
            r"|option|set)[ \t]*\([ \t]*(?P<name>[\w.:-]+))"
        ),
    ),
    "devicetree": (
        LineRule(r"[ \t]*(?P<name>\w+):[ \t]*(?P<label>[\w,.@/-]+)[ \t]*\{"),
        LineRule(r"[ \t]*(?P<name>&?[\w,.@/-]+)[ \t]*\{", is_symbol=False),
    ),
    "dockerfile": (
        LineRule(r"(?i:FROM)[ \t]+\S+[ \t]+(?i:as)[ \t]+(?P<name>\S+)", _SECTION, 1),
        LineRule(
            r"(?P<label>FROM)[ \t]+(?:--\S+[ \t]+)?(?P<name>\S+)", _SECTION, 1, is_symbol=False
        ),
        LineRule(r"(?:ARG|ENV)[ \t]+(?P<name>\w+)", _NAME),
    ),
    "gdscript": (
        LineRule(
            r"[ \t]*(?:@\w+[ \t]+|static[ \t]+)*(?P<label>func|class|enum)[ \t]+(?P<name>\w+)"
        ),
        LineRule(
            r"(?:@\w+(?:\([^()\n]{0,200}\))?[ \t]+|static[ \t]+)*"
            r"(?:var|const|signal|class_name)[ \t]+(?P<name>\w+)",
            _NAME,
        ),
    ),
    "gotemplate": (
        LineRule(r"[ \t]*\{\{-?[ \t]*(?P<label>define)[ \t]+\"(?P<name>[^\"\n]+)\"", _SECTION, 1),
    ),
    "godot": (
        LineRule(
            r"\[(?P<label>\w+)[ \t]+(?:[^\]\n]{0,200}[ \t])?name=\"(?P<name>[^\"\n]+)\"[^\n]*\]",
            _SECTION,
            1,
        ),
        LineRule(r"\[(?P<name>[^\[\]\n]+)\]", _SECTION, 1, is_symbol=False),
    ),
    "ini": (
        LineRule(r"[ \t]*\[(?P<name>[^\[\]\n]+)\]", _SECTION, 1, is_symbol=False),
        LineRule(r"(?P<name>[A-Za-z]\w*[_.-]\w[\w.-]*)[ \t]*=", _NAME),
    ),
    "graphql": (
        LineRule(
            r"(?:extend[ \t]+)?(?P<label>type|interface|input|enum|union|scalar|directive|query"
            r"|mutation|subscription|fragment)[ \t]+@?(?P<name>\w+)"
        ),
        LineRule(r"[ \t]+(?P<name>\w+)[ \t]*(?:\([^()\n]{0,400}\))?[ \t]*:[ \t]*[\[\w]", _NAME),
        LineRule(r"[ \t]+(?P<name>\w+)\([ \t]*$", _NAME),
        LineRule(r"[ \t]+(?P<name>[A-Z][A-Z0-9_]*)[ \t]*(?:@[^\n]{0,200})?$", _NAME),
    ),
    "kconfig": (
        LineRule(r"[ \t]*(?P<label>config|menuconfig)[ \t]+(?P<name>\w+)"),
        LineRule(
            r"[ \t]*(?P<label>menu|comment|choice)[ \t]+\"(?P<name>[^\"\n]+)\"", is_symbol=False
        ),
    ),
    "latex": (
        LineRule(r".{0,500}?\\label\{(?P<name>[^{}\n]+)\}", _NAME),
        LineRule(
            r"[ \t]*\\(?:(?:re)?newcommand|providecommand|DeclareMathOperator)\*?"
            r"\{?\\(?P<name>\w+)",
            _NAME,
        ),
        LineRule(r"[ \t]*\\def\\(?P<name>\w+)", _NAME),
    ),
    "make": (
        LineRule(r"(?P<label>define)[ \t]+(?P<name>[\w.-]+)", end=r"endef\b"),
        LineRule(
            r"(?:export[ \t]+|override[ \t]+)?(?P<name>[A-Za-z_][\w.-]*)[ \t]*(?:[:+?!]{1,3}=|=)",
            _NAME,
        ),
        LineRule(r"(?P<name>[A-Za-z_][\w.-]*)(?:[ \t]+[\w.-]+)*[ \t]*::?(?![=:])"),
        LineRule(r"(?!\.[A-Z_]+:)(?P<name>[\w./$(){}%*-]+)[ \t]*::?(?![=:])", is_symbol=False),
    ),
    "nix": (
        LineRule(
            rf"[ \t]*(?P<name>{_WORD}(?:\.{_WORD})*)[ \t]*="
            r"[ \t]*(?:[^;\n]*[{(\[:]|rec|with[^;]*;|''|let)?[ \t]*$"
        ),
    ),
    "proto": (
        LineRule(
            r"[ \t]*(?P<label>message|enum|service|oneof|rpc|extend)[ \t]+(?P<name>[A-Za-z_]\w*)"
            r"(?=[ \t]*[({]|[ \t]*$)"
        ),
        LineRule(
            r"[ \t]+(?!option\b|reserved\b|return\b)(?:(?:repeated|optional|required)[ \t]+)?"
            r"(?:map[ \t]*<[^<>\n]{1,200}>|[.\w]+)[ \t]+(?P<name>\w+)[ \t]*=[ \t]*\d",
            _NAME,
        ),
        LineRule(r"[ \t]+(?P<name>[A-Z]\w*)[ \t]*=[ \t]*-?\d", _NAME),
    ),
    "scss": (
        LineRule(r"[ \t]*@(?P<label>mixin|function)[ \t]+(?P<name>[\w-]+)"),
        LineRule(r"[ \t]*(?P<name>[$][\w-]+)[ \t]*:", _NAME),
        LineRule(r"[ \t]*(?P<name>[.#%&:>~+*A-Za-z\[][^{};/\n]*?)[ \t]*\{[ \t]*$"),
    ),
    "terraform": (
        LineRule(
            r"(?P<label>resource|data|ephemeral|source|build)[ \t]+\"?(?P<kind>[\w-]+)\"?[ \t]+"
            r"\"?(?P<name>[\w-]+)\"?[ \t]*\{"
        ),
        LineRule(r"(?P<label>[a-z_]+)[ \t]+\"(?P<name>[^\"\n]+)\"[ \t]*\{"),
        LineRule(r"(?P<name>[a-z_]+)[ \t]*\{", is_symbol=False),
        LineRule(rf"(?P<name>{_WORD})[ \t]*=(?![=>])"),
        LineRule(rf"  (?P<name>{_WORD})[ \t]*=(?![=>])", inside="locals"),
    ),
    "toml": (
        LineRule(r"[ \t]*\[\[?(?P<name>[^\[\]\n]+)\]\]?", _SECTION, 1, is_symbol=False),
        LineRule(r"(?P<name>[A-Za-z]\w*[_-]\w[\w-]*)[ \t]*=", _NAME),
    ),
}
# Languages in which a keyword precedes most definitions.
_WITH_KEYWORDS: Final = frozenset(
    """clojure d dart elm erlang fsharp groovy julia nim objc ocaml perl powershell r scheme
    shader tcl vim""".split()
)
# Languages whose functions look like those of C.
_LIKE_C: Final = frozenset({"d", "objc", "shader"})
_CSS_NAME: Final = re.compile(r"[.#%]([A-Za-z_-][\w-]*)")


def has_rules(language: str) -> bool:
    """Return whether the lines that begin a block are known for a language."""
    return language in _RULES or language in _WITH_KEYWORDS


def list_matches(lines: Lines, language: str) -> list[Start]:
    """Return the lines that begin a block or define a name, in order."""
    if language in _WITH_KEYWORDS:
        return _list_keywords(lines, language)
    read = _READERS.get(language, _read_start)
    starts = []
    outermost = ""
    for row, line in enumerate(lines.rows):
        for rule, pattern, end in _list_patterns(language):
            if rule.inside in ("", outermost) and (found := pattern.match(line)) is not None:
                starts.append(read(row, found, rule, end))
                outermost = outermost if line[:1].isspace() else starts[-1].title
                break
    return starts


@cache
def _list_patterns(
    language: str,
) -> Sequence[tuple[LineRule, re.Pattern[str], re.Pattern[str] | None]]:
    return tuple(
        (rule, re.compile(rule.pattern), re.compile(rule.end) if rule.end else None)
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
    return [
        Start(row, _keyword_title(lines.rows[row], name), (name,), _INDENTED)
        for row, name in sorted(found.items())
    ]


def _keyword_title(line: str, name: str) -> str:
    """Return the name of a definition with the word before it, as in "function total"."""
    before = re.search(r"(\w[\w-]*)[ \t]+\S{0,80}$", line.partition(name)[0] + name)
    return f"{before[1]} {name}" if before is not None else name
