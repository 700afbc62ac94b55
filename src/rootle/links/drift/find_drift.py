"""Find documents, comments and memories that mention code that no longer exists."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final

from rootle.errors import QueryError
from rootle.history.commit_request import elapsed_ms, prepare_indexes
from rootle.history.commit_search import CommitSearch
from rootle.history.commit_view import CommitView
from rootle.history.removals.removed_definitions import RemovedDefinitions
from rootle.index.reader import FileState, IndexReader
from rootle.links.drift.checks import DriftChecks, Finding, make_report
from rootle.links.drift.comments import DividedText
from rootle.links.drift.parameters import (
    MAX_PARSED_CHARS,
    UnknownParameter,
    find_unknown_parameters,
    may_have_parameters,
)
from rootle.links.drift.past_files import PastFiles
from rootle.links.drift.past_names import MAX_COMMITS, PastNames
from rootle.links.drift.past_texts import is_foreign
from rootle.links.drift.project_names import ProjectReader
from rootle.links.drift.signatures import Signatures
from rootle.links.drift.texts import (
    MAX_NAMES,
    NamedText,
    read_comments,
    read_documents,
    read_memory,
)
from rootle.search.symbols.finder import SymbolFinder
from rootle.serialization.path_text import did_you_mean
from rootle.text.similarity.similar_paths import nearest_paths
from rootle.types import DriftAnswer, DriftReport, Memory, ProgressCallback, ignore_progress

_NOT_YET: Final = "no commits can be searched yet"
_WITHOUT_COMMITS: Final = "a name is reported only if it is qualified by something that exists"
_TOO_MUCH_TEXT: Final = "the folder contains more text than can be read, so nothing is reported"
_FEWER: Final = "check fewer files at a time"
_TOO_MANY_NAMES: Final = f"not all names were looked up in the commits; {_FEWER}"
_TOO_MANY_COMMITS: Final = (
    f"more than {MAX_COMMITS} commits contain some of the names, and only {MAX_COMMITS} were read "
    "for each name, so outdated names may be missing"
)
_TOO_MANY_PARAMETERS: Final = (
    f"the parameters in the comments of some files were not checked; {_FEWER}"
)
_TOO_MANY_SIGNATURES: Final = f"not all names were compared with their definitions; {_FEWER}"
_TOO_LONG: Final = f"only the first {MAX_NAMES:,} names of a text were checked"


def find_drift(
    paths: Sequence[str],
    index: IndexReader,
    finder: SymbolFinder,
    reader: ProjectReader,
    commits: CommitSearch | str,
    removed: RemovedDefinitions | None,
    list_memories: Callable[[], Sequence[Memory]],
    is_on_disk: Callable[[str], bool],
    on_progress: ProgressCallback = ignore_progress,
) -> DriftAnswer:
    """Return the names in texts that no longer match the code, ordered by path and line.

    `paths` are files or folders; if there are none, all documents, comments and memories are
    checked. If there are no commits to search, `commits` is the reason. `is_on_disk` returns
    whether a path in the folder exists; it is needed for ignored files, which the index does not
    list. `on_progress` receives the number of files and texts that were read and checked, and the
    total number, which grows once the texts are known. Raise QueryError if one of `paths` is not
    indexed.
    """
    started_s = time.perf_counter()
    wanted = [path.strip("/").removeprefix("./") for path in paths]
    notes: list[str] = []
    degraded: tuple[str, ...] = ()
    past: PastNames | None = None
    on_progress(0, len(index.all_files()))  # new commits are indexed before the first file is read
    if not isinstance(commits, str):
        prepared = prepare_indexes(commits, removed)
        degraded, view = prepared.degraded, prepared.view
        notes += prepared.suggestions
        if view is not None:
            past_definitions = None if removed is None else removed.view()
            past = _open_past(commits, view, past_definitions)
            notes += commits.describe_unread(view, past_definitions)
    search = _DriftSearch(index, finder, reader, past, wanted, is_on_disk, on_progress)
    memories = list_memories() if not wanted else ()
    texts, reports = search.run(memories)
    if past is None:
        reason = commits if isinstance(commits, str) else _NOT_YET
        notes.append(f"{reason}, so {_WITHOUT_COMMITS}")
    limits = {
        _TOO_MUCH_TEXT: not search.is_complete,
        _TOO_MANY_NAMES: past is not None and past.is_exhausted,
        _TOO_MANY_COMMITS: past is not None and past.has_unread_commits,
        _TOO_MANY_PARAMETERS: not search.has_all_parameters,
        _TOO_MANY_SIGNATURES: not search.has_all_signatures,
        _TOO_LONG: not all(text.has_all_names for text in texts),
    }
    notes += [limit for limit, is_reached in limits.items() if is_reached]
    names = {mention.text for text in texts for mention in text.mentions}
    ordered = tuple(sorted(reports, key=lambda one: (one.path == "", one.path, one.line, one.name)))
    return DriftAnswer(
        ordered,
        len(texts),
        len(names),
        degraded,
        tuple(notes),
        elapsed_ms(started_s),
        is_complete=not notes,  # each note names something that was not read
    )


def _open_past(commits: CommitSearch, view: CommitView, removed: CommitView | None) -> PastNames:
    updates = commits.updates
    return PastNames(view, removed, updates.read_patch, PastFiles(updates.read_before))


class _DriftSearch:
    """Answers one request for drift reports."""

    def __init__(
        self,
        index: IndexReader,
        finder: SymbolFinder,
        reader: ProjectReader,
        past: PastNames | None,
        wanted: Collection[str],
        is_on_disk: Callable[[str], bool],
        on_progress: ProgressCallback,
    ) -> None:
        self._index = index
        self._on_progress = on_progress
        self._is_on_disk = is_on_disk
        self._reader = reader
        self._past = past
        self._signatures = Signatures(index, finder)
        self._wanted = wanted
        self._comments: list[NamedText] = []
        self._parameters: list[tuple[NamedText, UnknownParameter]] = []
        self._parse_budget = MAX_PARSED_CHARS
        self.is_complete = True
        self.has_all_parameters = True

    @property
    def has_all_signatures(self) -> bool:
        """Whether all definitions that the checks needed were read."""
        return not self._signatures.is_exhausted

    def run(self, memories: Sequence[Memory]) -> tuple[list[NamedText], list[DriftReport]]:
        """Return the texts that were read, and the reports about them."""
        self._check_paths()
        project = self._reader.read(
            self._index, self._is_wanted, self._read_comments, self._on_progress
        )
        self.is_complete = project.is_complete
        documents = [text for text in read_documents(self._index) if self._is_wanted(text.path)]
        texts = [*documents, *self._comments, *map(read_memory, memories)]
        if not project.is_complete:
            return texts, []
        checks = DriftChecks(project, self._past, self._signatures, self._is_on_disk)
        reports: list[DriftReport] = []
        files = len(self._index.all_files())
        for count, text in enumerate(texts, start=1):
            found = [checks.check(text, mention) for mention in text.mentions]
            reports += [report for report in found if report is not None]
            self._on_progress(files + count, files + len(texts))
        for text in texts:
            reports += checks.check_memory(text)
        return texts, _merge([*reports, *self._report_parameters()])

    def _check_paths(self) -> None:
        known = [state.path for state in self._index.all_files()]
        for path in self._wanted:
            if not any(_is_below(one, path) for one in known):
                similar = nearest_paths(path, [*known, *_list_folders(known)])
                hint = did_you_mean(similar) or "name a file or folder of this project"
                raise QueryError(f"{path} is not indexed; {hint}")

    def _is_wanted(self, path: str) -> bool:
        return not self._wanted or any(_is_below(path, one) for one in self._wanted)

    def _read_comments(self, state: FileState, divided: DividedText) -> None:
        if not divided.comments:
            return
        text = read_comments(state, divided)
        if text is not None:
            self._comments.append(text)
        if is_foreign(state.path):
            return
        content = self._index.text(state.id)
        if not may_have_parameters(content, state.language):
            return
        if self._parse_budget < state.chars:
            self.has_all_parameters = False
            return
        self._parse_budget -= state.chars
        owner = NamedText(state.path, "comment", (), divided.comments)
        for unknown in find_unknown_parameters(content, state.language, divided):
            self._parameters.append((owner, unknown))

    def _report_parameters(self) -> Iterator[DriftReport]:
        for text, unknown in self._parameters:
            past = self._past
            found = past and past.find_word(text.path, unknown.function, unknown.name)
            if past is not None and found is None:
                continue
            evidence = f"{unknown.function} has no parameter {unknown.name}"
            commit = found.commit if found else None
            finding = Finding("parameter", evidence, True, unknown.head, commit)
            yield make_report(text, unknown.line, unknown.name, finding)


def _merge(reports: Sequence[DriftReport]) -> list[DriftReport]:
    """Return at most one report for each combination of text, kind and name.

    A name that is reported as a parameter is not reported a second time.
    """
    found: dict[tuple[str, str, str, str], DriftReport] = {}
    for report in reports:
        key = (report.path, report.memory, report.kind, report.name.removesuffix("()"))
        known = found.get(key)
        if known is None or report.line < known.line:
            found[key] = report
    parameters = {(one.path, one.name) for one in found.values() if one.kind == "parameter"}
    return [
        one
        for one in found.values()
        if one.kind != "name" or (one.path, one.name) not in parameters
    ]


def _list_folders(paths: Collection[str]) -> list[str]:
    """Return the folders that contain at least one of the paths, each once."""
    folders: dict[str, None] = {}
    for path in paths:
        while path := path.rpartition("/")[0]:
            if path in folders:
                break
            folders[path] = None
    return list(folders)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/") or folder in ("", ".")
