"""Find the names of the functions and sections that a patch changes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from rootle.sources.git.commits.definition_lines import defined_name, defined_names, has_rules
from rootle.sources.git.commits.patch_parsing import Hunk
from rootle.text.languages import CODE_EXTENSIONS, file_language
from rootle.types import UNNAMED_CHANGES

MAX_NAMES: Final = 12  # per file; the names of further definitions are left out
MAX_REMOVED_NAMES: Final = 150  # per file
# Languages for which git shows the heading of a hunk without its indentation.
_UNKNOWN_INDENT: Final = frozenset("csharp dart elixir java kotlin php ruby rust scala".split())
# Languages for which the heading of a hunk always starts in the first column, so that it is never a
# method of a class.
_FIRST_COLUMN: Final = frozenset("c cpp d groovy julia nim objc svelte vue zig".split())
_CONTAINER: Final = re.compile(r"(?:export\s+)?(?:class|namespace|template|extern|trait)\b")
_STRUCT: Final = re.compile(r"struct\b")
_DECORATED: Final = frozenset(
    "dart elixir groovy java javascript kotlin python scala swift tsx typescript".split()
)
# Lines that belong to a definition even if they are indented no more than its first line.
_CLOSING: Final = re.compile(
    r"\s*(?:[)\]}>|{]|end\b|else\b|[A-Za-z_]\w*:\s*$|#|//|/\*|\*|--|;|%)|[`\"']"
)
_PYTHON_CLOSING: Final = re.compile(r"\s*(?:[)\]}]|#|\"{3}|'{3})")
_COMMENT: Final = re.compile(r"\s*(?:#|//|/\*|\*|--|;;|%)")
_DECORATOR: Final = re.compile(r"\s*@[A-Za-z_]")
# A line that starts in the first column and is a statement, not part of a multi-line string.
_STATEMENT: Final = re.compile(
    r"[@#]|(?:import|from|using|use|package|if|for|while|with|try|var|let|const|export|extern)\b"
    r"|[A-Za-z_$][\w$.:<>*&, ]{0,120}[=({;:\[]"
)
# A top-level statement in Python that git shows as a heading.
_TOP_LEVEL: Final = re.compile(r"[A-Za-z_][\w.]*\s*(?::[^=]*)?(?:=|\($)")


def find_changed_names(hunks: Sequence[Hunk], path: str) -> tuple[str, ...]:
    """Return the names of the definitions in which lines changed, without duplicates.

    The last name is UNNAMED_CHANGES if other definitions may have changed too. UNNAMED_CHANGES is
    never returned for prose, because most paragraphs have no name.
    """
    is_code = file_language(path) in CODE_EXTENSIONS
    if not has_rules(path):
        return (UNNAMED_CHANGES,) if is_code and hunks else ()
    found = dict.fromkeys(name for hunk in hunks for name in _list_names(hunk, path) if name)
    names = [name for name in found if name != UNNAMED_CHANGES]
    is_incomplete = len(names) > MAX_NAMES or len(names) < len(found)
    if is_code and is_incomplete:
        return (*names[:MAX_NAMES], UNNAMED_CHANGES)
    return tuple(names[:MAX_NAMES])


def find_removed_names(hunks: Sequence[Hunk], path: str) -> tuple[str, ...]:
    """Return the names whose definitions were removed and not added again in the same file."""
    removed, added = (
        dict.fromkeys(name for hunk in hunks for name in _find_with_sign(hunk, path, sign))
        for sign in "-+"
    )
    return tuple(name for name in removed if name not in added)[:MAX_REMOVED_NAMES]


def _find_with_sign(hunk: Hunk, path: str, sign: str) -> Iterator[str]:
    names = _find_names_in(hunk, path)
    return (
        name for line, name in zip(hunk.lines, names, strict=True) if name and line.startswith(sign)
    )


def _find_names_in(hunk: Hunk, path: str) -> list[str]:
    """Return the name that each line of a hunk defines; "" for most lines."""
    names = [""] * len(hunk.lines)
    for other in "-+":  # first the lines of the new file, then those of the old one
        places = [at for at, line in enumerate(hunk.lines) if not line.startswith(other)]
        found = defined_names([hunk.lines[at][1:] for at in places], path)
        for at, name in zip(places, found, strict=True):
            names[at] = name or names[at]
    return names


def _list_names(hunk: Hunk, path: str) -> Iterator[str]:
    """Yield the definitions that enclose the changed lines of a hunk; "" outside definitions."""
    walk = _HunkWalk(hunk, path)
    is_blank = not any(line[1:].strip() for line in hunk.lines if not line.startswith(" "))
    for line, name in zip(hunk.lines, _find_names_in(hunk, path), strict=True):
        text = line[1:]
        if text.strip():
            yield from walk.enter(text, name)
        else:
            yield from walk.end_comment()
        if not line.startswith(" ") and (text.strip() or is_blank):
            yield from walk.change(text, name)
    yield from walk.end()


class _HunkWalk:
    """Follows the definitions that enclose the lines of a hunk, judged by their indentation.

    In the heading of a hunk, git shows the last definition that begins before the hunk, but this
    definition may have ended before the hunk. If the enclosing definition is unknown,
    UNNAMED_CHANGES is yielded instead of its name.
    """

    def __init__(self, hunk: Hunk, path: str) -> None:
        language, heading = file_language(path), hunk.heading
        self._is_prose = language not in CODE_EXTENSIONS
        self._is_python = language == "python"
        self._has_decorators = language in _DECORATED
        # The indentations and names of enclosing definitions, from the outermost one. The name is
        # None between a decorator and the definition to which it belongs.
        self._open: list[tuple[int, str | None]] = []
        self._outside = UNNAMED_CHANGES if heading else ""
        # The definition that encloses a changed comment. The comment belongs to this definition
        # unless a definition with the indentation of the comment follows.
        self._comment: str | None = None
        self._comment_indent = 0
        self._is_decorator_changed = False
        name = defined_name(heading, path)
        if name or (self._has_decorators and _DECORATOR.match(heading)):
            self._open.append((hunk.heading_indent, name or None))
        elif self._is_python and _TOP_LEVEL.match(heading):
            self._outside = ""
        self._has_unknown_indent = bool(name) and language in _UNKNOWN_INDENT
        is_container = _CONTAINER.match(heading) or (language == "cpp" and _STRUCT.match(heading))
        self._is_in_container = bool(name and is_container) and language in _FIRST_COLUMN

    def enter(self, text: str, name: str) -> Iterator[str]:
        """Go to a line; yield the definitions to which earlier changed lines belong."""
        indent = len(text) - len(text.lstrip())
        is_decorator = not name and self._has_decorators and _DECORATOR.match(text) is not None
        if not name and _COMMENT.match(text):
            return
        # The other lines of a block comment may be indented one column more than its first line.
        if self._comment is not None and self._comment_indent - indent in (0, 1):
            if name:
                self._comment = None
                yield name
            elif is_decorator:
                self._comment = None
                self._is_decorator_changed = True
        yield from self.end_comment()
        closing = _PYTHON_CLOSING if self._is_python else _CLOSING
        if name or is_decorator or not closing.match(text):
            yield from self._leave(indent, name, text, is_decorator=is_decorator)
        if name or is_decorator:
            self._open.append((indent, name or None))

    def _leave(self, indent: int, name: str, text: str, *, is_decorator: bool) -> Iterator[str]:
        """Leave the definitions that end before a line with this indentation."""
        if self._is_prose:
            if name:
                self._open.clear()
            return
        if name and self._has_unknown_indent and self._open:
            # The definition in the heading may enclose this definition or precede it.
            self._open[0] = 0, UNNAMED_CHANGES
            self._has_unknown_indent = False
        while self._open and self._open[-1][0] >= indent:
            _, left = self._open.pop()
            if left is None and self._is_decorator_changed and not is_decorator:
                self._is_decorator_changed = False
                yield name or UNNAMED_CHANGES
            if not self._open:
                self._outside = UNNAMED_CHANGES
                self._is_in_container = False
        if indent == 0 and not self._open:
            self._outside = "" if _STATEMENT.match(text) else UNNAMED_CHANGES

    def change(self, text: str, name: str) -> Iterator[str]:
        """Yield the definitions to which a change of the current line belongs."""
        enclosing = self._open[-1][1] if self._open else self._outside
        if enclosing is None:
            self._is_decorator_changed = True
        elif not name and not self._is_prose and _COMMENT.match(text):
            indent = self._comment_indent = len(text) - len(text.lstrip())
            is_inside = bool(self._open) and self._open[-1][0] < indent
            self._comment = enclosing if is_inside or not self._open else UNNAMED_CHANGES
        else:
            yield enclosing
            if self._is_in_container and len(self._open) == 1:
                yield UNNAMED_CHANGES  # the line may be in a method that begins before the hunk

    def end_comment(self) -> Iterator[str]:
        """Yield the definition to which a changed comment belongs if no definition follows."""
        if self._comment is not None:
            yield self._comment
        self._comment = None

    def end(self) -> Iterator[str]:
        """Yield the definitions to which the last comments and decorators of the hunk belong."""
        yield from self.end_comment()
        if self._is_decorator_changed:
            yield UNNAMED_CHANGES
