"""Describe commits that were found as results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rootle.index.reader import FileState, IndexReader
from rootle.serialization.timestamps import format_timestamp
from rootle.types import (
    ChangedFile,
    CommitFacts,
    DocumentSection,
    FileMetadata,
    SearchResponse,
    SearchResult,
)

COMMIT_URI: Final = "git:"
# Changes of a file that are compared with the function; older ones are rarely its last change.
_MAX_CHANGES: Final = 40
_MAX_KNOWN: Final = 10_000
_WORDS: Final = re.compile(r"[\w$!?]+")
_MESSAGE: Final = "message"  # the section with the message; the others are changed files


def describe_commit(index: IndexReader, state: FileState) -> CommitFacts:
    """Return the facts about an indexed commit."""
    return replace(_brief_commit(state), files=_changed_files(index.sections_of(state.id)))


def add_commits(response: SearchResponse, index: IndexReader) -> SearchResponse:
    """Return a response of the commit index whose results describe their commits."""
    results = tuple(_add_commit(index, result) for result in response.results)
    return replace(response, results=results)


def _add_commit(index: IndexReader, result: SearchResult) -> SearchResult:
    state = index.file_at(result.file_path)
    return result if state is None else replace(result, commit=describe_commit(index, state))


def _changed_files(sections: Sequence[DocumentSection]) -> tuple[ChangedFile, ...]:
    return tuple(
        ChangedFile(section.label, tuple(filter(None, section.title.split(", "))))
        for section in sections
        if section.label != _MESSAGE
    )


class LastCommits:
    """Finds the last commits that changed what results show, and remembers them. Thread-safe."""

    def __init__(self) -> None:
        self._index: IndexReader | None = None
        self._known: dict[tuple[str, str], CommitFacts | None] = {}

    def add(self, response: SearchResponse, index: IndexReader) -> SearchResponse:
        """Return the response whose files name the last commit that changed what they show."""
        if index is not self._index or len(self._known) > _MAX_KNOWN:
            self._index, self._known = index, {}
        known = self._known
        results = []
        for result in response.results:
            place = result.file_path, "".join(_WORDS.findall(result.scope)[-1:])
            if place not in known:
                known[place] = _find_last(index, *place)
            results.append(replace(result, last_commit=known[place]))
        return replace(response, results=tuple(results))


def _find_last(index: IndexReader, path: str, name: str) -> CommitFacts | None:
    """Return the last commit that changed a function, or else the file; None if there is none."""
    changes = index.sections_with(path, _MAX_CHANGES)
    named = (at for at, section in changes if name and name in section.title)
    found = next(named, changes[0][0] if changes else None)
    return None if found is None else _brief_commit(index.files([found])[found])


def _brief_commit(state: FileState) -> CommitFacts:
    return CommitFacts(
        state.path.removeprefix(COMMIT_URI),
        format_timestamp(float(state.committed_s or 0)),
        state.author,
        state.title,
    )


def single_result(index: IndexReader, state: FileState) -> SearchResult:
    """Return a commit that was asked for by its hash, with its message."""
    lines = index.text(state.id).split("\n")
    sections = index.sections_of(state.id)
    end = sections[0].end_line if sections else len(lines)
    date = format_timestamp(float(state.committed_s or 0))
    return SearchResult(
        file_path=state.path,
        start_line=1,
        end_line=end,
        snippet="\n".join(lines[:end]),
        score=1.0,
        source="sparse",
        metadata=FileMetadata(date, state.language, len(lines)),
        place=_MESSAGE,
        commit=describe_commit(index, state),
    )
