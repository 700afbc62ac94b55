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
_MAX_CHANGES: Final = 100
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


def add_last_commits(response: SearchResponse, index: IndexReader) -> SearchResponse:
    """Return a response whose files name the last commit that changed what they show."""
    results = tuple(
        result if result.commit else replace(result, last_commit=_find_last(index, result))
        for result in response.results
    )
    return replace(response, results=results)


def _find_last(index: IndexReader, result: SearchResult) -> CommitFacts | None:
    """Return the last commit that changed the function of the best span, else the file."""
    changes = index.sections_with(result.file_path, _MAX_CHANGES)
    name = _WORDS.findall(result.scope)[-1:]
    found = next((at for at, section in changes if name and name[0] in section.title), None)
    if found is None and changes:
        found = changes[0][0]
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
