"""The texts that are checked for outdated names: documents, comments and memories."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rootle.index.reader import FileState, IndexReader
from rootle.links.drift.comments import DividedText
from rootle.links.drift.mentions import (
    DOCUMENT_LANGUAGES,
    MAX_LINE_CHARS,
    Mention,
    ProseLine,
    find_mentions,
    read_lines,
)
from rootle.links.drift.past_texts import (
    describes_past,
    is_foreign,
    is_past_heading,
    speaks_of_past,
)
from rootle.types import DriftOrigin, Memory

_MAX_NAMES: Final = 5_000  # names per text
# Comments that contain disabled code.
_DISABLED_CODE: Final = re.compile(
    r"[;{}(]\s*$|^\s*[\w.]+(?:\(.*\))?,?\s*$|\s=\s"
    r"|^\s*(?:if|for|return|import|from|fun|func|fn|def|class|using|package|include|try|await|let"
    r"|var|const|val|public|private|static)\s+[\w.({*?!]+(?:\s*[({:;=,]|\s*$)"
)
_INDENTED: Final = re.compile(r" {3}|\t")  # as in blocks of code without a fence


@dataclass(frozen=True)
class NamedText:
    """A text with its names; each name once, at its first occurrence."""

    path: str  # "" for a memory
    origin: DriftOrigin
    mentions: tuple[Mention, ...]
    lines: Mapping[int, str] = field(repr=False)  # by number, from 1; long lines are truncated
    memory: Memory | None = None
    # The lines that may be code: in examples, and all lines of texts without marked examples.
    code_lines: tuple[str, ...] = field(default=(), repr=False)

    def line(self, number: int) -> str:
        """Return a line, or the whole memory."""
        return self.lines.get(number, "").strip()

    def speaks_of_past(self, number: int) -> bool:
        """Return whether the sentence around a line is about something that existed earlier."""
        return speaks_of_past(" ".join(self.lines.get(number + at, "") for at in (-1, 0, 1)))


def read_documents(index: IndexReader) -> Iterator[NamedText]:
    """Yield the documents that describe the present, with their names."""
    for state in index.all_files():
        is_document = state.skip is None and state.language in DOCUMENT_LANGUAGES
        if is_document and not describes_past(state.path):
            lines = index.text(state.id).split("\n")
            yield _make(state.path, "document", lines, _present_lines(lines, state.language))


def read_comments(state: FileState, divided: DividedText) -> NamedText | None:
    """Return the comments of a source file with their names, or None if there are none."""
    if not divided.comments or is_foreign(state.path):
        return None
    lines = [
        ProseLine(number, text, "", is_example=False)
        for number, text in divided.comments.items()
        if not _DISABLED_CODE.search(text)
    ]
    found = _find(lines)
    if not found:
        return None
    code = tuple(divided.comments.values())
    return NamedText(state.path, "comment", found, divided.comments, code_lines=code)


def read_memory(memory: Memory) -> NamedText:
    """Return a memory with its names."""
    lines = memory.text.split("\n")
    found = _find(list(read_lines(lines, "markdown")))
    return NamedText("", "memory", found, {0: memory.text}, memory)


def _make(
    path: str, origin: DriftOrigin, lines: Sequence[str], shown: Sequence[ProseLine]
) -> NamedText:
    starts = {number: line[:MAX_LINE_CHARS] for number, line in enumerate(lines, start=1)}
    code = tuple(line.text for line in shown if line.is_example or _INDENTED.match(line.text))
    return NamedText(path, origin, _find(shown), starts, code_lines=code)


def _present_lines(lines: Sequence[str], language: str) -> list[ProseLine]:
    return [line for line in read_lines(lines, language) if not is_past_heading(line.heading)]


def _find(lines: Sequence[ProseLine]) -> tuple[Mention, ...]:
    found: dict[tuple[str, str], Mention] = {}
    for line in lines:
        for mention in find_mentions(line):
            known = found.get((mention.kind, mention.text))
            if known is None or (known.is_example and not mention.is_example):
                found[mention.kind, mention.text] = mention
        if len(found) >= _MAX_NAMES:
            break
    return tuple(found.values())
