"""Find the lines that do not begin or end a block: comments, directives and the inside of texts."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from rootle.syntax.lines import Lines

# The beginnings of comments, and of annotations, which belong to the definition below them.
_COMMENTS: Final[dict[str, tuple[str, ...]]] = {
    language: signs
    for languages, signs in (
        ("cmake dockerfile graphql julia kconfig nim perl powershell r tcl toml", ("#",)),
        ("yaml", ("#", "{#", "{{/*", "{{- /*")),
        ("make", ("#", ".PHONY")),
        ("gdscript", ("#", "@")),
        ("ini godot", ("#", ";")),
        ("terraform nix", ("#", "//", "/*", "*")),
        ("devicetree objc proto scss shader", ("//", "/*", "*")),
        ("d dart fsharp groovy", ("//", "/*", "*", "@")),
        ("assembly", (";", "//", "/*", "*", "@", "#")),
        ("clojure scheme", (";",)),
        ("elm", ("--", "{-")),
        ("bibtex", ("%",)),
        ("vim", ('"',)),
        ("ocaml", ("(*",)),
        ("gotemplate", ("{{/*", "{{- /*")),
    )
    for language in languages.split()
}
# The beginning of a comment of several lines at the start of a line, and its end.
_LONG_COMMENTS: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    **dict.fromkeys(
        "assembly d dart devicetree fsharp groovy nix objc proto scss shader terraform".split(),
        (("/*",), "*/"),
    ),
    "elm": (("{-",), "-}"),
    "ocaml": (("(*",), "*)"),
    "perl": (("=pod", "=head", "=over", "=item", "=begin", "=for", "=encoding"), "=cut"),
    "powershell": (("<#",), "#>"),
}
# Lines of the preprocessor, which begin at the left margin inside functions, too.
_DIRECTIVE: Final = re.compile(r"[ \t]*#")
_WITH_DIRECTIVES: Final = frozenset({"d", "devicetree", "objc", "shader"})
_HEREDOC: Final = re.compile(r"<<[-~]?[\"']?([A-Za-z_]\w{0,80})")
_WITH_HEREDOCS: Final = frozenset({"dockerfile", "perl", "terraform"})
_LONG_QUOTES: Final = re.compile(r"\"{3}|'{3}")
# The quotation marks of texts of several lines. In Nix, a third character escapes the mark.
_QUOTES: Final[dict[str, re.Pattern[str]]] = {
    **dict.fromkeys("dart elm fsharp gdscript graphql groovy julia nim toml".split(), _LONG_QUOTES),
    "nix": re.compile(r"(?<!')''(?![$\\'])"),
}
_HERE_STRING: Final = re.compile(r"@([\"'])$")  # of PowerShell
_IF: Final = re.compile(r"ifn?(?:eq|def)\b")
_CONDITION: Final = re.compile(r"(?:ifn?(?:eq|def)|else|endif)\b(?![ \t]*:)")  # of make


class PassiveLines:
    """The lines of a text that do not begin or end a block."""

    def __init__(self, lines: Lines, language: str) -> None:
        self._lines = lines
        self._comments = _COMMENTS.get(language, ())
        self._has_directives = language in _WITH_DIRECTIVES
        self._long_comments = frozenset(_find_long_comments(lines, language))
        # The lines of long comments, and those inside a text of several lines with its last line.
        texts = _find_texts(lines, language, self._comments)
        self.inside_text = self._long_comments.union(texts)
        self._conditions = frozenset(_find_conditions(lines) if language == "make" else ())

    def __contains__(self, row: object) -> bool:
        is_inside = row in self.inside_text or row in self._conditions
        return is_inside or (isinstance(row, int) and self.is_note(row))

    def is_comment(self, row: int) -> bool:
        """Return whether a line is a comment or an annotation."""
        if row in self.inside_text:
            return row in self._long_comments
        return self._lines.rows[row].lstrip().startswith(self._comments)

    def is_note(self, row: int) -> bool:
        """Return whether a line is a comment, an annotation or a directive of a preprocessor."""
        if self.is_comment(row):
            return True
        return self._has_directives and _DIRECTIVE.match(self._lines.rows[row]) is not None


def _find_texts(lines: Lines, language: str, comments: tuple[str, ...]) -> Iterator[int]:
    if language in _WITH_HEREDOCS:
        yield from _find_heredocs(lines, comments)
    elif language == "powershell":
        yield from _find_here_strings(lines)
    elif (quotes := _QUOTES.get(language)) is not None:
        yield from _find_quoted(lines, quotes, comments)


def _find_heredocs(lines: Lines, comments: tuple[str, ...]) -> Iterator[int]:
    ends: defaultdict[str, list[int]] = defaultdict(list)  # rows that contain only a word
    for row, line in enumerate(lines.rows):
        if (word := line.strip()).isidentifier():
            ends[word].append(row)
    last = -1
    for row, line in enumerate(lines.rows):
        if row <= last or line.lstrip().startswith(comments):
            continue
        if (found := _HEREDOC.search(line)) is None:
            continue
        rows = ends.get(found[1], [])
        if (at := bisect_right(rows, row)) < len(rows):
            last = rows[at]
            yield from range(row + 1, last + 1)


def _find_long_comments(lines: Lines, language: str) -> Iterator[int]:
    """Yield the lines of comments that begin at the start of a line."""
    if language not in _LONG_COMMENTS:
        return
    starts, end = _LONG_COMMENTS[language]
    is_inside = False
    for row, line in enumerate(lines.rows):
        is_first = not is_inside and line.lstrip().startswith(starts)
        if is_inside or is_first:
            yield row
            is_inside = end not in line


def _find_here_strings(lines: Lines) -> Iterator[int]:
    inside: list[int] = []
    mark = ""
    for row, line in enumerate(lines.rows):
        if not mark:
            found = _HERE_STRING.search(line.rstrip()[-2:])
            mark = f"{found[1]}@" if found is not None else ""
            continue
        inside.append(row)
        if line.startswith(mark):
            yield from inside
            inside, mark = [], ""


def _find_quoted(lines: Lines, quotes: re.Pattern[str], comments: tuple[str, ...]) -> Iterator[int]:
    inside: list[int] = []
    mark = ""
    for row, line in enumerate(lines.rows):
        if mark:
            inside.append(row)
        elif line.lstrip().startswith(comments):
            continue
        for found in quotes.findall(line):
            if not mark:
                mark = found
            elif found == mark:
                mark = ""
        if not mark:
            yield from inside
            inside = []


def _find_conditions(lines: Lines) -> Iterator[int]:
    """Yield the lines of the conditionals inside recipes of make, which are not indented."""
    before_recipe: set[int] = set()
    is_recipe = False
    for row in range(len(lines) - 1, -1, -1):
        line = lines.rows[row]
        if lines.is_blank(row) or line.startswith("#"):
            continue
        if _CONDITION.match(line) is None:
            is_recipe = line.startswith("\t")
        elif is_recipe:
            before_recipe.add(row)
    in_recipe: list[bool] = []
    for row, line in enumerate(lines.rows):
        if _CONDITION.match(line) is None:
            continue
        if _IF.match(line):
            in_recipe.append(row in before_recipe)
        if in_recipe and in_recipe[-1]:
            yield row
        if line.startswith("endif") and in_recipe:
            in_recipe.pop()
