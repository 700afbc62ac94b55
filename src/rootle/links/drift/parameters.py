"""Find parameters that a doc comment describes, but its function does not have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rootle.links.drift.comments import DividedText
from rootle.syntax.source_tree import read_source_tree
from rootle.syntax.symbol_outline import Unit

# The maximum number of characters that are parsed for one answer. Parsing them takes two seconds.
MAX_PARSED_CHARS: Final = 4_000_000
_MAX_FILE_CHARS: Final = 500_000
_QUICK: Final = re.compile(r"[@\\]param\b|:param ")
_RUBY_PARAMETER: Final = re.compile(r"^@param\s+(?:\[[^\]]*\]\s+)?\*{0,2}(?P<tag>\w+)(?P<field>)")
_PHP_PARAMETER: Final = re.compile(r"^@param\b[^$]{0,200}\$(?P<tag>\w+)(?P<field>)")
_NO_NAMES: Final = frozenset("true false nil null none the this that and".split())
_PARAMETER: Final = re.compile(
    r"^(?:[@\\]param(?:\[\w+(?:, *\w+)*\])?\s+(?:\{[^}]*\}\s+)?(?:[\w\\|?<>,\[\]]+\s+(?=[&.]*\$))?"
    r"[&.]*\[?\$?(?P<tag>[A-Za-z_]\w*)|:param\s+(?:[\w.\[\]|,][\w.\[\],|\s]*\s)?\*{0,2}(?P<field>\w+):)"
)
_PATTERNS: Final = {"ruby": _RUBY_PARAMETER, "php": _PHP_PARAMETER}
# Functions whose signatures do not list all parameters.
_ANY_PARAMETERS: Final = re.compile(r"\*\s*\w|\.\.\.")
_READS_ARGUMENTS: Final = re.compile(r"\barguments\b|func_get_args|\boverload\b|@\w+\(")
_FUNCTION: Final = re.compile(r"\bfunction\s+([\w$]+)")
_DESTRUCTURED: Final = re.compile(r"\((?:[^()]*,)?\s*[{\[]")
_POINTERS: Final = frozenset({"c", "cpp"})
_DESTRUCTURING: Final = frozenset({"javascript", "typescript", "tsx"})
# Languages whose doc comments refer to parameters by name.
_LANGUAGES: Final = frozenset(
    "python javascript typescript tsx php java kotlin csharp c cpp ruby lua swift scala".split()
)


@dataclass(frozen=True, slots=True)
class UnknownParameter:
    """A parameter that is in the doc comment of a function, but not in the function itself."""

    line: int  # from 1
    name: str
    function: str
    head: str  # the name of the function and its parameters, on one line


def may_have_parameters(text: str, language: str) -> bool:
    """Return whether a text contains doc comments with parameters."""
    is_short = len(text) <= _MAX_FILE_CHARS
    return language in _LANGUAGES and is_short and _QUICK.search(text) is not None


def find_unknown_parameters(
    text: str, language: str, divided: DividedText
) -> Iterator[UnknownParameter]:
    """Yield the parameters in doc comments whose names do not occur in their functions."""
    tree = read_source_tree(text, language)
    if tree is None or tree.root.has_error:
        return
    lines = text.split("\n")
    functions = list(_functions(tree.outline.root))
    # A comment may describe the parameters of all overloads. These are members of the same class.
    counts = Counter((id(box), unit.symbol) for box, unit in functions)
    heads = Counter(_FUNCTION.findall(text))
    for box, unit in functions:
        if counts[id(box), unit.symbol] == 1 and heads[unit.symbol] <= 1:
            yield from _check(unit, lines, language, divided)


def _functions(unit: Unit) -> Iterator[tuple[Unit, Unit]]:
    """Yield the functions in a class or file, each after the class or file that contains it."""
    for member in unit.members:
        if member.is_box or member.members:
            yield from _functions(member)
        elif member.symbol:
            yield unit, member


def _check(
    unit: Unit, lines: list[str], language: str, divided: DividedText
) -> Iterator[UnknownParameter]:
    rows = range(unit.first, unit.end)
    named = {}
    pattern = _PATTERNS.get(language, _PARAMETER)
    for row in rows:
        match = pattern.match(divided.comments.get(row + 1, ""))
        if match is not None:
            named[match["tag"] or match["field"]] = row + 1
    if not named:
        return
    code = "\n".join(lines[row] for row in rows if row + 1 not in divided.comments)
    at = code.find(unit.symbol)
    head = code[at : _end_of_parameters(code, at)]
    if at < 0 or "(" not in head or _READS_ARGUMENTS.search(code):
        return
    if language not in _POINTERS and _ANY_PARAMETERS.search(head):
        return
    if language in _DESTRUCTURING and (_DESTRUCTURED.search(head) or "=>" in head):
        return
    words = set(re.findall(r"\w+", code))
    for name, line in named.items():
        if name not in words and len(name) > 1 and name.lower() not in _NO_NAMES:
            yield UnknownParameter(line, name, unit.symbol, " ".join(head.split()))


def _end_of_parameters(code: str, start: int) -> int:
    depth = 0
    for at in range(max(start, 0), len(code)):
        if code[at] == "(":
            depth += 1
        elif code[at] == ")":
            depth -= 1
            if depth == 0:
                return at + 1
    return start
