"""The texts that are checked for outdated names: documents, comments and memories."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Final

from rootle.index.reader import FileState, IndexReader
from rootle.links.drift.comments import DividedText
from rootle.links.drift.mentions import (
    DOCUMENT_LANGUAGES,
    MAX_LINE_CHARS,
    Mention,
    ProseLine,
    find_mentions,
    last_part,
    read_lines,
)
from rootle.links.drift.past_texts import (
    describes_past,
    is_foreign,
    is_past_heading,
    speaks_of_past,
)
from rootle.text.file_kinds import NOTEBOOK_OUTPUT
from rootle.types import DriftOrigin, Memory

MAX_NAMES: Final = 5_000  # names per text
# Comments that contain disabled code.
_DISABLED_CODE: Final = re.compile(
    r"[;{}(]\s*$|^\s*[\w.]+(?:\(.*\))?,?\s*$|\s=\s"
    r"|^\s*#\s*(?:define|undef|include|if|ifn?def|elif|else|endif|pragma)\b"
    r"|\s::\s|^[\s>]*(?:if|for|return|import|from|fun|func|function|fn|def|class|using|package|include|try"
    r"|await|let|var|const|val|public|private|static|local)\s+(?:function\s+)?[\w.({*?!]+(?:\s*[({:;=,]|\s*$)"
    # the head of a method with a type: "protected override List<int> Convert(int id)"
    r"|^(?:(?:public|private|protected|internal|static|final|override|virtual|abstract)\s+)++"
    r"[\w<>\[\], ?.]++\("
)
# A plain text with more than this share of lines of code is code or data, such as the input of a
# test. Manuals have a share below 0.15, and code has more than 0.6.
_MAX_CODE_SHARE: Final = 0.4
# The head of a file in a plain text that contains several files, such as the input of a test.
_ARCHIVED_FILE: Final = re.compile(r"-- [\w./-]{1,200} --$")
_TABLE_BORDER: Final = re.compile(r"\s*(?:[=-]{3,}\s+){1,20}[=-]{3,}\s*$|\s*\+[-=+]{3,}\+\s*$")
_MAX_TABLE_LINES: Final = 300  # above a line, to find the head of its table
_WORD: Final = re.compile(r"\w+")
_LONG_QUOTES: Final = ('"""', "'''")
_INDENTED: Final = re.compile(r" {3}|\t")  # the indentation of a block of code without a fence


@dataclass(frozen=True)
class NamedText:
    """A text with its names.

    Each name is included once, if possible at an occurrence that does not speak of the past and is
    not in an example.
    """

    path: str  # "" for a memory
    origin: DriftOrigin
    mentions: tuple[Mention, ...]
    # The lines by number, from 1. Long lines are truncated. A memory is one line with the number 0.
    lines: Mapping[int, str] = field(repr=False)
    memory: Memory | None = None
    # The lines that may be code: in a document, the indented lines and those in examples; in a
    # source file, all lines of comments.
    code_lines: tuple[str, ...] = field(default=(), repr=False)
    # The numbers of the lines in examples that are inside a multi-line string.
    quoted: frozenset[int] = field(default=frozenset(), repr=False)

    @property
    def has_all_names(self) -> bool:
        """Whether the text has fewer names than the limit. Further names are left out."""
        return len(self.mentions) < MAX_NAMES

    def line(self, number: int) -> str:
        """Return a line, or the whole memory."""
        return self.lines.get(number, "").strip()

    def links_to_project(self, name: str) -> bool:
        """Return whether the text links to a project of this name on a website such as GitHub."""
        url = re.compile(rf"https?://[^/\s]+/[^/\s]+/{re.escape(name)}(?![\w.-])")
        return any(map(url.search, self.lines.values()))

    def speaks_of_past(self, number: int) -> bool:
        """Return whether a line or an adjacent line mentions an earlier state."""
        return _speaks_of_past(self.lines, number)


def read_documents(index: IndexReader) -> Iterator[NamedText]:
    """Yield the documents about the current code, each with the code names that it mentions."""
    for state in index.all_files():
        is_document = state.skip is None and state.language in DOCUMENT_LANGUAGES
        if is_document and not describes_past(state.path):
            lines = index.text(state.id).split("\n")
            shown = _present_lines(lines, state.language)
            if state.language != "text" or not _is_code(shown):
                yield _make(state.path, "document", lines, shown)


def read_comments(state: FileState, divided: DividedText) -> NamedText | None:
    """Return the comments of a source file with their names, or None if there are none."""
    if not divided.comments or is_foreign(state.path):
        return None
    outputs = set(_find_outputs(divided)) if state.path.endswith(".ipynb") else ()
    lines = [
        ProseLine(number, text, "", is_example=False)
        for number, text in divided.comments.items()
        if number not in outputs and not _DISABLED_CODE.search(text)
    ]
    found = _find(lines, divided.comments)
    if not found:
        return None
    code = tuple(divided.comments.values())
    return NamedText(state.path, "comment", found, divided.comments, code_lines=code)


def _find_outputs(divided: DividedText) -> Iterator[int]:
    """Yield the numbers of the comment lines that contain the output of a notebook cell."""
    last = -1
    for number, text in divided.comments.items():
        if text == NOTEBOOK_OUTPUT or number == last + 1:
            last = number
            yield number


def read_memory(memory: Memory) -> NamedText:
    """Return a memory with its names."""
    lines = memory.text.split("\n")
    found = _find(list(read_lines(lines, "markdown")), {0: memory.text})
    return NamedText("", "memory", found, {0: memory.text}, memory)


def _make(
    path: str, origin: DriftOrigin, lines: Sequence[str], shown: Sequence[ProseLine]
) -> NamedText:
    starts = {number: line[:MAX_LINE_CHARS] for number, line in enumerate(lines, start=1)}
    code = tuple(line.text for line in shown if line.is_example or _INDENTED.match(line.text))
    quoted = frozenset(_find_quoted(shown))
    return NamedText(path, origin, _find(shown, starts), starts, code_lines=code, quoted=quoted)


def _is_code(lines: Sequence[ProseLine]) -> bool:
    """Return whether a plain text contains whole files, or mostly code apart from its examples."""
    if any(_ARCHIVED_FILE.match(line.text) for line in lines):
        return True
    texts = [line.text for line in lines if not line.is_example and line.text.strip()]
    return sum(map(bool, map(_DISABLED_CODE.search, texts))) > _MAX_CODE_SHARE * len(texts)


def _find_quoted(lines: Sequence[ProseLine]) -> Iterator[int]:
    """Yield the numbers of the lines in examples that are inside a multi-line string."""
    mark = ""
    for line in lines:
        if not line.is_example:
            mark = ""
        elif mark:
            yield line.number
            mark = "" if mark in line.text else mark
        else:
            mark = next((one for one in _LONG_QUOTES if line.text.count(one) % 2), "")


def _present_lines(lines: Sequence[str], language: str) -> list[ProseLine]:
    return [line for line in read_lines(lines, language) if not is_past_heading(line.heading)]


def _speaks_of_past(lines: Mapping[int, str], number: int) -> bool:
    is_title = lines.get(number, "").startswith("#") and not lines.get(number + 1, "").strip()
    offsets = (-1, 0, 1, 2) if is_title else (-1, 0, 1)  # the text below a title
    near = (lines.get(number + at, "") for at in offsets)
    return speaks_of_past(" ".join((*near, _find_table_head(lines, number))))


def _find_table_head(lines: Mapping[int, str], number: int) -> str:
    """Return the head of the table that contains a line; "" if there is none."""
    above = [lines.get(number, "")]
    while len(above) <= _MAX_TABLE_LINES and above[-1].strip():
        above.append(lines.get(number - len(above), ""))
    rows = above[:-1] if not above[-1].strip() else above
    if rows and all(row.lstrip().startswith("|") for row in rows):
        return rows[-1]
    borders = [at for at, row in enumerate(rows) if _TABLE_BORDER.match(row)]
    return " ".join(rows[borders[-2] : borders[-1]]) if len(borders) > 1 else ""


def _find(lines: Sequence[ProseLine], text: Mapping[int, str]) -> tuple[Mention, ...]:
    """Return the names in lines, except names that are nodes of a diagram in these lines.

    `text` contains all lines by number, so that the words around a name can be read.
    """
    is_past = cache(partial(_speaks_of_past, text))
    nodes = {word for line in lines if line.is_diagram for word in _WORD.findall(line.text)}
    found: dict[tuple[str, str], Mention] = {}
    for line in lines:
        if line.is_diagram:
            continue
        for mention in find_mentions(line):
            known = found.get((mention.kind, mention.text))
            if known is None or (
                (known.is_example or is_past(known.line))
                and (is_past(mention.line), mention.is_example)
                < (is_past(known.line), known.is_example)
            ):
                found[mention.kind, mention.text] = mention
        if len(found) >= MAX_NAMES:
            break
    mentions = found.values()
    return tuple(one for one in mentions if one.kind != "name" or last_part(one.text) not in nodes)
