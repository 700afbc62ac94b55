"""Convert a commit to a document that contains the definitions that it removed."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import Final

from rootle.sources.git.commits.commit_document import commit_document, read_subject
from rootle.sources.git.commits.patch_parsing import CommitPatch
from rootle.sources.git.commits.removed_code import (
    MAX_BLOCKS,
    RemovedCode,
    find_removed_code,
)
from rootle.sources.source import Document
from rootle.types import REMOVED_SCOPE_SEPARATOR, DocumentSection

# Maximum number of characters for one commit. A commit beyond this limit usually deletes a whole
# component. To keep all of its definitions searchable, only the first lines of each are indexed.
# The number of lines is the largest value in _FIRST_LINES with which all definitions fit.
_MAX_CHARS: Final = 200_000
_FIRST_LINES: Final = (60, 20, 8, 3, 1)
_MAX_LINE_CHARS: Final = 240


def make_removed_document(commit: CommitPatch) -> Document:
    """Return a document with the definitions that a commit removed; empty if there are none.

    Each definition is a section. The label of a section is the path and the line number before the
    commit, such as "src/net.py:12". The title of a section consists of the scope and the name. The
    first line of a section contains the path, the scope and the name, and the removed lines follow.
    The title of the document is the subject of the commit, so that each definition can also be
    found by the words of the subject.
    """
    lines: list[str] = []
    sections: list[DocumentSection] = []
    selected, is_whole = _select(commit)
    for code in selected:
        start = len(lines) + 1
        lines.append(" ".join(filter(None, (code.path, code.scope, code.name))))
        lines += [line[:_MAX_LINE_CHARS].replace("\n", " ") for line in code.lines]
        label = f"{code.path}:{code.start_line}"
        name = f"{code.scope}{REMOVED_SCOPE_SEPARATOR}{code.name}"
        sections.append(DocumentSection(label, start, len(lines), name))
    title = read_subject(commit.message) if sections else ""
    is_partial = not (is_whole and commit.is_complete)
    return commit_document(commit, title, lines, sections, is_partial=is_partial)


def _select(commit: CommitPatch) -> tuple[list[RemovedCode], bool]:
    """Return the removed definitions in the order of the patch, and whether none is left out.

    Long definitions may be cut.
    """
    blocks = find_removed_code(commit)
    found: dict[tuple[str, int], RemovedCode] = {}
    for code in blocks:
        if code.name:
            found.setdefault((code.path, code.start_line), code)
    chosen = list(found.values())
    for count in _FIRST_LINES:
        if sum(map(_count_chars, chosen)) <= _MAX_CHARS:
            break
        chosen = [replace(code, lines=code.lines[:count]) for code in chosen]
    sizes = accumulate(map(_count_chars, chosen))
    kept = [code for code, size in zip(chosen, sizes, strict=True) if size <= _MAX_CHARS]
    return kept, len(kept) == len(chosen) and len(blocks) < MAX_BLOCKS


def _count_chars(code: RemovedCode) -> int:
    return sum(min(len(line), _MAX_LINE_CHARS) for line in code.lines)
