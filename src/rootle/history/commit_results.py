"""Add the facts about commits to search results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rootle.history.commit_view import CommitView, ViewCache
from rootle.index.reader import FileState
from rootle.serialization.timestamps import format_commit_time
from rootle.text.hunk_range import extend_range
from rootle.text.languages import CODE_EXTENSIONS
from rootle.types import (
    CHANGED_NAMES_SEPARATOR,
    COMMIT_MESSAGE,
    COMMIT_URI,
    HIDDEN_CHANGE,
    RENAMED_TO,
    UNNAMED_CHANGES,
    ChangedFile,
    CommitFacts,
    DocumentSection,
    FileMetadata,
    SearchResponse,
    SearchResult,
    Span,
)

_MAX_KNOWN: Final = 10_000
# The number of the newest changes of a file that are read first. They usually include the last
# change of the function that is shown.
_FEW_CHANGES: Final = 8
_WORDS: Final = re.compile(r"[\w$!?]+")


def describe_commit(view: CommitView, state: FileState) -> CommitFacts:
    """Return the facts about an indexed commit."""
    return replace(
        _brief_commit(state),
        files=_changed_files(view, state),
        may_lack_files=view.may_lack_files(state) or None,
    )


def add_commits(response: SearchResponse, view: CommitView) -> SearchResponse:
    """Add the facts about the commit to each result of a search for commits."""
    results = tuple(_add_commit(view, result) for result in response.results)
    return replace(response, results=results)


def _add_commit(view: CommitView, result: SearchResult) -> SearchResult:
    state = view.commit_at(result.file_path)
    if state is None:
        return result
    result = _extend_first(view, state, result)
    shown = (result.place, *(span.place for span in result.more_spans))
    if view.folder or HIDDEN_CHANGE in shown:
        result = _limit_to_folder(view, state, result)
    return replace(result, commit=describe_commit(view, state), kind="history")


def _extend_first(view: CommitView, state: FileState, result: SearchResult) -> SearchResult:
    """Extend the first lines of a result so that they do not begin or end inside a change."""
    found = (
        section
        for section in view.index.read_sections(state.id)
        if section.label == result.place
        and section.start_line <= result.start_line <= result.end_line <= section.end_line
    )
    section = next(found, None)
    if section is None or section.label == COMMIT_MESSAGE:
        return result
    offset = section.start_line
    lines = view.index.text(state.id).split("\n")[offset - 1 : section.end_line]
    first, last = extend_range(lines, result.start_line - offset, result.end_line - offset)
    start, end = first + offset, last + offset
    others = [span for span in result.more_spans if span.end_line < start or span.start_line > end]
    return replace(
        result,
        start_line=start,
        end_line=end,
        snippet="\n".join(lines[first : last + 1]),
        more_spans=tuple(others),
    )


def _limit_to_folder(view: CommitView, state: FileState, result: SearchResult) -> SearchResult:
    """Return a result without the changes of hidden files and of files outside the folder.

    If nothing else remains, the result shows the message of the commit.
    """
    best = Span(
        result.start_line, result.end_line, result.snippet, result.scope, place=result.place
    )
    spans = []
    for span in (best, *result.more_spans):
        label = view.relative_label(span.place or COMMIT_MESSAGE)
        if label is not None:
            text = span.snippet.replace(span.place, label, 1) if span.place else span.snippet
            spans.append(replace(span, snippet=text, place=label))
    if not spans:
        message = single_result(view, state)
        return replace(message, score=result.score, source=result.source)
    first, *rest = spans
    return replace(
        result,
        start_line=first.start_line,
        end_line=first.end_line,
        snippet=first.snippet,
        scope=first.scope,
        place=first.place,
        more_spans=tuple(rest),
    )


def _changed_files(view: CommitView, state: FileState) -> tuple[ChangedFile, ...]:
    sections = [one for one in view.read_sections(state) if one.label != COMMIT_MESSAGE]
    old_paths = view.old_paths(state)
    return tuple(
        ChangedFile(section.label, tuple(_names(section)), old_paths.get(section.label))
        for section in sections
        if not section.title.startswith(RENAMED_TO)
    )


def _names(section: DocumentSection) -> list[str]:
    return [name for name in _titles(section) if name not in ("", UNNAMED_CHANGES)]


class LastCommits:
    """Finds and caches the last commit that changed the code in a result. Thread-safe."""

    def __init__(self) -> None:
        self._known: ViewCache[dict[tuple[str | None, ...], CommitFacts | None]] = ViewCache(
            lambda _: {}
        )

    def add(self, response: SearchResponse, view: CommitView) -> SearchResponse:
        """Return the response with the last commit that changed the code in each result.

        For code in a function, it is the newest commit that changed the function, or that changed
        lines of the file for which no function is known. For other code, it is the newest commit
        that changed the file. If the dates of these commits contradict the order of the history,
        the order counts. The last commit is None if the newest indexed commit may not be the last
        one, or if the file has uncommitted changes.
        """
        known = self._known.get(view)
        if len(known) > _MAX_KNOWN:
            known.clear()
        results = []
        for result in response.results:
            is_code = result.metadata.language in CODE_EXTENSIONS
            name = _last_word(result.scope) if is_code else ""
            place = result.file_path, name, result.metadata.last_modified
            try:
                last = known[place]
            except KeyError:
                last = known[place] = _find_last(view, *place)
            results.append(result if last is None else replace(result, last_commit=last))
        return replace(response, results=tuple(results))


def _find_last(
    view: CommitView, path: str, name: str, last_modified: str | None
) -> CommitFacts | None:
    changes = view.list_changes(path, _FEW_CHANGES if name else 1)
    if changes and _brief(view, changes[0][0]).date == last_modified:
        found = _find_change(changes, name)
        if found is not None:
            return _brief(view, found)
    changes = view.list_changes(path)
    if changes and _brief(view, changes[0][0]).date != last_modified:
        changes = _order_by_history(view, changes, last_modified)
    if not changes or _brief(view, changes[0][0]).date != last_modified:
        return None
    found = _find_change(changes, name)
    return None if found is None else _brief(view, found)


def _find_change(changes: Sequence[tuple[int, DocumentSection]], name: str) -> int | None:
    """Return the first commit that may have changed a function; any commit if `name` is ""."""
    found = (at for at, section in changes if not name or _may_change(section, name))
    return next(found, None)


def _order_by_history(
    view: CommitView, changes: Sequence[tuple[int, DocumentSection]], last_modified: str | None
) -> Sequence[tuple[int, DocumentSection]]:
    """Return the changes of a file in the order of the history, newest first.

    `changes` are ordered by date. Asking git for the order of the history takes longer than the
    rest, so this is done only if the dates are known to be wrong: if the last commit of the file is
    in `changes`, but does not have the newest date. Otherwise, return an empty list.
    """
    states = view.index.files([at for at, _ in changes])
    if all(_brief_commit(state).date != last_modified for state in states.values()):
        return []
    places = {state.id: at for at, state in enumerate(view.newest_first(states.values()))}
    return sorted(changes, key=lambda change: places[change[0]])


def _may_change(section: DocumentSection, name: str) -> bool:
    return any(one == UNNAMED_CHANGES or _last_word(one) == name for one in _titles(section))


def _last_word(text: str) -> str:
    return "".join(_WORDS.findall(text)[-1:])


def _titles(section: DocumentSection) -> list[str]:
    return section.title.split(CHANGED_NAMES_SEPARATOR)


def _brief(view: CommitView, commit: int) -> CommitFacts:
    return _brief_commit(view.index.files([commit])[commit])


def _brief_commit(state: FileState) -> CommitFacts:
    return CommitFacts(
        state.path.removeprefix(COMMIT_URI),
        format_commit_time(state.committed_s or 0),
        state.author,
        state.title,
    )


def single_result(view: CommitView, state: FileState) -> SearchResult:
    """Return the result for a commit that was requested by its hash, with its message."""
    lines = view.index.text(state.id).split("\n")
    end = view.count_message_lines(state)
    facts = describe_commit(view, state)
    return SearchResult(
        file_path=state.path,
        start_line=1,
        end_line=end,
        snippet="\n".join(lines[:end]),
        score=1.0,
        source="sparse",
        metadata=FileMetadata(facts.date or None, state.language, len(lines)),
        place=COMMIT_MESSAGE,
        commit=facts,
        kind="history",
    )
