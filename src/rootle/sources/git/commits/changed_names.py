"""Find the names of the functions and sections that a patch changes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from rootle.sources.git.commits.patch_parsing import Hunk
from rootle.text.languages import CODE_EXTENSIONS, language_of
from rootle.types import UNNAMED_CHANGES

MAX_NAMES: Final = 12  # per file; a larger change is described by its path
MAX_REMOVED_NAMES: Final = 150  # per file
_KEYWORD: Final = re.compile(
    r"""^\s*(?:(?:export|default|public|private|protected|internal|static|abstract|sealed|final
        |async|local|inline|virtual|override|partial|pub(?:\([^)]*\))?|open|data|suspend|unsafe
        |const|extern|@\w+)\s+)*
        (?:def|defp|defmodule|defmacro|fn|func|function\*?|fun|sub|proc|method|macro|class|struct
        |enum|union|trait|interface|module|namespace|type|protocol|extension|object|record|impl
        |test|describe|it)\b
        \s*(?:\([^)]*\)\s*)?["']?([A-Za-z_][\w.:$!?]*)""",
    re.VERBOSE,
)
_TYPED: Final = re.compile(r"^[A-Za-z_][^=;()\"']*?([A-Za-z_~$][\w$]*(?:::~?\w+)*)\s*\(")
_MEMBER: Final = re.compile(
    r"^\s+(?:(?:public|private|protected|static|final|async|override|virtual|readonly|get|set)\s+)+"
    r"[^=;(]*?([A-Za-z_$][\w$]*)\s*[(<]"
)
_ASSIGNED: Final = re.compile(
    r"^\s*(?:export\s+)?(?:const|let|var)\s+([\w$]+)[^=]*=\s*(?:async\s*)?(?:function|\(|\w+\s*=>)"
)
# A method without modifiers, in languages in which no call looks like this.
_METHOD: Final = re.compile(
    r"^\s*(?!.*\bfunction\b)#?([A-Za-z_$][\w$]*)\s*(?:<[^>]*>)?\([^;=]*\)[^;=()]*\{\s*$"
)
_METHOD_FILES: Final = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".java")
_HEADING: Final = re.compile(r"^#{1,6}\s+(.+?)\s*#*$")
_CONTROL: Final = frozenset(
    "if else for foreach while switch case return catch sizeof do throw await yield with assert"
    " new delete elif unless until when match select defer go".split()
)
_PATTERNS: Final = (_KEYWORD, _ASSIGNED, _MEMBER, _TYPED)
_SEPARATOR: Final = re.compile(r"::|\.")


def find_changed_names(hunks: Sequence[Hunk], path: str) -> tuple[str, ...]:
    """Return the names of the definitions in which lines changed, without repetitions.

    The last one is UNNAMED_CHANGES if other definitions may have changed too. In prose, it is left
    out, because most paragraphs have no name.
    """
    patterns = (_METHOD, *_PATTERNS) if path.endswith(_METHOD_FILES) else _PATTERNS
    found = dict.fromkeys(name for hunk in hunks for name in _names_of(hunk, patterns) if name)
    names = [name for name in found if name != UNNAMED_CHANGES]
    is_incomplete = len(names) > MAX_NAMES or len(names) < len(found)
    if is_incomplete and language_of(path) in CODE_EXTENSIONS:
        return (*names[:MAX_NAMES], UNNAMED_CHANGES)
    return tuple(names[:MAX_NAMES])


def find_removed_names(hunks: Sequence[Hunk]) -> tuple[str, ...]:
    """Return the names whose definitions were removed, and not added again in the same file."""
    removed, added = (
        dict.fromkeys(name for hunk in hunks for name in _definitions_with(hunk, sign))
        for sign in "-+"
    )
    return tuple(name for name in removed if name not in added)[:MAX_REMOVED_NAMES]


def _definitions_with(hunk: Hunk, sign: str) -> Iterator[str]:
    for line in hunk.lines:
        if line.startswith(sign) and not line.rstrip().endswith(";"):
            name = defined_name(line[1:])
            if name:
                yield name


def defined_name(line: str, patterns: Sequence[re.Pattern[str]] = _PATTERNS) -> str:
    """Return the name that a line of source code defines, or the text of a Markdown heading.

    The result is empty if the line does not look like the start of a definition.
    """
    heading = _HEADING.match(line)
    if heading is not None:
        return heading[1]
    for pattern in patterns:
        match = pattern.match(line)
        if match is not None:
            name = _SEPARATOR.split(match[1].strip(".:"))[-1]
            if name not in _CONTROL and line.split(None, 1)[0].rstrip("(") not in _CONTROL:
                return name
    return ""


def _names_of(hunk: Hunk, patterns: Sequence[re.Pattern[str]]) -> Iterator[str]:
    """Yield the definitions around the changed lines of a hunk; "" outside of definitions.

    git shows the definition that begins before the hunk. It does not enclose a change if another
    definition begins between them. UNNAMED_CHANGES is the name if it is unknown.
    """
    enclosing = defined_name(hunk.heading, patterns) or (UNNAMED_CHANGES if hunk.heading else "")
    for line in hunk.lines:
        name = "" if line[1:].rstrip().endswith(";") else defined_name(line[1:], patterns)
        enclosing = name or enclosing
        if not line.startswith(" "):
            yield enclosing
