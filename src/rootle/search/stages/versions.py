"""Pipeline stage: put the section about a version first.

The index splits a version into its numbers, and these occur in many texts. Therefore the texts of
the files that contain the numbers are read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from rootle.index.reader import IndexReader
from rootle.rank.question.version_question import version_pattern
from rootle.search.query.scope import ScopedQuery
from rootle.search.request import SearchRequest
from rootle.search.stages.ranked_answer import (
    FindAnswer,
    RankedAnswer,
    chunks_with_lines,
    put_first,
)
from rootle.text.file_kinds import is_document
from rootle.text.terms import WORD
from rootle.types import COMMIT_URI

# The names of files with release notes. A long file has a low rank in full-text search.
_NOTES: Final = re.compile(r"(?:change|release|what-?s-?new|news|history)[^/]*$", re.IGNORECASE)
# Limits on what is read. Reading this much takes about 20 ms.
_MAX_FILES: Final = 200
_MAX_CHARS: Final = 20_000_000
_MAX_FIRST: Final = 3  # files that are put first
_MAX_LINES: Final = 3  # headings of a file that are shown
# A heading: marked in Markdown or AsciiDoc, or underlined as in reStructuredText.
_MARK: Final = re.compile(r"\s*(?:#{1,6}\s|={1,4}\s)")
_UNDERLINE: Final = re.compile(r"([=\-~^*+#])\1{2,}\s*")


def show_version(find: FindAnswer, request: SearchRequest, scoped: ScopedQuery) -> RankedAnswer:
    """Return the answer. Files with a heading that contains the version come first.

    If no indexed text contains the version, the answer is marked as wrong.
    """
    if scoped.lines or scoped.is_exact:
        return find(request, scoped)
    version = scoped.question.question.version
    index = request.session.index
    ids, is_all = _list_files(version, index, scoped)
    headings, is_absent = _read_headings(version, ids, index)
    if not headings:
        answer = find(request, scoped)
        proof = _describe(version, answer) if is_absent and is_all else ""
        return replace(answer, undefined=answer.undefined or proof)
    chunk_ids = np.concatenate([scoped.chunk_ids, chunks_with_lines(index, headings)])
    answer = find(request, replace(scoped, chunk_ids=chunk_ids, lines=headings))
    return replace(put_first(answer, list(headings)), has_source=True)


def _read_headings(
    version: str, ids: Sequence[int], index: IndexReader
) -> tuple[dict[int, list[int]], bool]:
    """Map files to lines to show. Also return whether all texts were read and lack the version.

    If release notes have a heading with the version, other files are not read.
    """
    pattern = version_pattern(version)
    headings: dict[int, list[int]] = {}
    is_absent, left = True, _MAX_CHARS
    for state in index.files(ids).values():
        is_done = headings and not _NOTES.search(state.path)
        if is_done or left <= 0 or len(headings) == _MAX_FIRST:
            return headings, False
        text = index.text(state.id)
        left -= len(text)
        if pattern.search(text) is None:
            continue
        is_absent = False
        is_commit = state.path.startswith(COMMIT_URI)
        if is_commit or is_document(state.path, state.language):
            lines = _find_headings(pattern, text, is_commit=is_commit)
            headings |= {state.id: lines} if lines else {}
    return headings, is_absent


def _list_files(version: str, index: IndexReader, scoped: ScopedQuery) -> tuple[list[int], bool]:
    """Return files that may have a version, release notes first, and whether none is missing."""
    stems = index.sparse.stems(" ".join(WORD.findall(version)))
    found = list(index.sparse.files_with(stems, [], _MAX_FILES, scoped.files))
    notes = [
        state.id
        for state in index.all_files()
        if state.skip is None
        and _NOTES.search(state.path)
        and is_document(state.path, state.language)
        and (scoped.files is None or state.id in scoped.files)
    ]
    return list(dict.fromkeys([*notes, *found])), len(found) < _MAX_FILES


def _find_headings(pattern: re.Pattern[str], text: str, *, is_commit: bool) -> list[int]:
    """Return the first line below each heading with a version, then the lines of these headings.

    The heading of a commit is its title, which is the first line of its text.
    """
    lines = text.split("\n")
    below, found = [], []
    for number, line in enumerate(lines, 1):
        if pattern.search(line) is None:
            continue
        rest = lines[number:]
        is_underlined = bool(rest) and _UNDERLINE.fullmatch(rest[0]) is not None
        if is_underlined or _MARK.match(line) or (is_commit and number == 1):
            found.append(number)
            first = int(is_underlined)
            shift = next((at for at, one in enumerate(rest[first:], first) if one.strip()), 0)
            below.append(number + 1 + shift if rest else number)
    return [*below[:_MAX_LINES], *found[:_MAX_LINES]]


def _describe(version: str, answer: RankedAnswer) -> str:
    paths = answer.candidates.inputs.files.paths  # of files, or of commits
    noun = "commit" if paths and paths[0].startswith(COMMIT_URI) else "text"
    return f"no indexed {noun} has the version {version}"
