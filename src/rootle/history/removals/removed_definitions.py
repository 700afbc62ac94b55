"""Find definitions that commits removed, by their words and their meaning."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from rootle.errors import IndexStorageError
from rootle.history.commit_view import CommitView
from rootle.index.reader import ChunkRow, IndexReader
from rootle.protocols import NO_HITS, Embedder, RankedIds, WeightedTerm
from rootle.text.terms import WORD, file_stem, word_terms
from rootle.types import HIDDEN_CHANGE, REMOVED_SCOPE_SEPARATOR, DocumentSection

# The number of chunks that each search contributes, and the number of definitions in the answer.
_HITS: Final = 500
_MAX_FOUND: Final = 80
# The weight of the subject of the commit. The words and the vector of the code have the weight 1.
_SUBJECT_WEIGHT: Final = 0.3
_MAX_SUM: Final = 2 + _SUBJECT_WEIGHT
_MAX_NAMED: Final = 500  # commits that are read to find a name
_QUALIFIER: Final = re.compile(r"::|\.|#|->")


class RemovedIndex(Protocol):
    """Keeps the index of removed definitions current."""

    @property
    def prefix(self) -> str:
        """The path of the folder below its work tree, ending in "/"; "" for the work tree."""

    def exists(self) -> bool:
        """Return whether there may be indexed commits, without opening the index."""

    def open_visible(self) -> tuple[IndexReader, Collection[int] | None]:
        """Return the newest snapshot, and its commits that belong to the history of the folder.

        The second value is None if all of them do. Raise IndexStorageError if nothing is indexed
        yet.
        """

    def find_order(self) -> Mapping[int, int]:
        """Return the position of each indexed commit in the history of the folder, from 0.

        A commit follows all its descendants, whatever its date. The mapping is empty if git fails.
        """

    def update_in_background(self) -> None:
        """Start indexing new commits, unless this is already running."""

    def prepare(self, wait_s: float) -> str:
        """Index new commits for a limited time.

        Return "", or the reason why not all commits are indexed.
        """

    def explain_gap(self) -> tuple[str, int]:
        """Return why the newest snapshot lacks commits, and its generation.

        See `CommitUpdates.explain_gap`.
        """


@dataclass(frozen=True, slots=True)
class RemovedDefinition:
    """A definition that a commit removed."""

    uri: str  # the URI of the commit
    path: str  # the path before the commit, relative to the folder
    name: str
    scope: str  # the definition that enclosed it; "" if there was none
    start_line: int  # the first line before the commit, from 1
    lines: tuple[str, ...]
    similarity: float  # the similarity to the question, from 0 to 1


@dataclass(frozen=True, slots=True)
class RemovedDefinitions:
    """Searches the definitions that commits removed."""

    updates: RemovedIndex
    open_embedder: Callable[[], Embedder]

    def find(self, text: str, terms: Sequence[str]) -> list[RemovedDefinition]:
        """Return the definitions that are most similar to a text, best first.

        `terms` are the stems of words in the text. The result is empty if nothing is indexed yet.
        """
        view = self.view()
        if view is None:
            return []
        index, files = view.index, view.ids
        scores = self._score_chunks(index, files, text, terms)
        best = sorted(scores, key=lambda chunk: (-scores[chunk], chunk))
        return self._read(index, {chunk: scores[chunk] for chunk in best})

    def find_by_name(self, name: str) -> tuple[list[RemovedDefinition], bool]:
        """Return the definitions with a name, which may include its class or module.

        Also return whether commits that contain the name, but were not read, may have removed more.
        There are no definitions if nothing is indexed yet.
        """
        view = self.view()
        if view is None:
            return [], False
        *owners, word = _QUALIFIER.split(name)
        sparse = view.index.sparse
        stems = sparse.stems(" ".join(word_terms(word)))
        ids = sparse.files_with(stems, [], _MAX_NAMED + 1, view.ids) if stems else ()
        found = []
        for state in view.select(view.index.files(ids[:_MAX_NAMED]).values()):
            text = view.index.text(state.id).split("\n")
            made = (self._make(state.path, text, one, 0.0) for one in view.read_sections(state))
            found += [one for one in made if one.name == word and _is_owned(one, owners)]
        return found, len(ids) > _MAX_NAMED

    def view(self) -> CommitView | None:
        """Return the commits that removed definitions; None if nothing is indexed yet."""
        if not self.updates.exists():
            return None
        try:
            index, files = self.updates.open_visible()
        except IndexStorageError:
            return None
        return CommitView(index, files, self.updates.prefix, self.updates.find_order)

    def _score_chunks(
        self, index: IndexReader, files: Collection[int] | None, text: str, terms: Sequence[str]
    ) -> dict[int, float]:
        """Return the similarity of chunks, from 0 to 1."""
        vector = self.open_embedder().embed([text])[0]
        weighted = [WeightedTerm(term, 1.0) for term in terms]
        nearest = index.dense.nearest(vector, _HITS, files).hits if vector.any() else NO_HITS
        by_vector = _scale(nearest)
        by_words = _scale(index.sparse.query(weighted, _HITS, files))
        by_subject = _scale(
            index.sparse.field_scores("files", ("path",), weighted, _HITS, files=files)
        )
        lowest = min(by_vector.values(), default=0.0)
        rows = index.chunks(list(by_vector.keys() | by_words.keys()))
        return {
            at: (
                by_vector.get(at, lowest)
                + by_words.get(at, 0.0)
                + _SUBJECT_WEIGHT * by_subject.get(row.file_id, 0.0)
            )
            / _MAX_SUM
            for at, row in rows.items()
        }

    def _read(self, index: IndexReader, scores: Mapping[int, float]) -> list[RemovedDefinition]:
        """Return the definitions that contain the chunks, in the order of the chunks."""
        rows = index.chunks(list(scores))
        places: dict[tuple[int, DocumentSection], float] = {}
        for chunk, similarity in scores.items():
            section = _section_at(index, rows[chunk])
            if section is None or section.label == HIDDEN_CHANGE:
                continue
            if section.label.startswith(self.updates.prefix):
                places.setdefault((rows[chunk].file_id, section), similarity)
            if len(places) == _MAX_FOUND:
                break
        states = index.files({commit for commit, _ in places})
        texts = {commit: index.text(commit).split("\n") for commit in states}
        return [
            self._make(states[commit].path, texts[commit], section, similarity)
            for (commit, section), similarity in places.items()
        ]

    def _make(
        self, uri: str, text: Sequence[str], section: DocumentSection, similarity: float
    ) -> RemovedDefinition:
        path, _, line = section.label.rpartition(":")
        scope, _, name = section.title.partition(REMOVED_SCOPE_SEPARATOR)
        # The first line of a section contains the path, the scope and the name, so it is left out.
        lines = tuple(text[section.start_line : section.end_line])
        path = path.removeprefix(self.updates.prefix)
        return RemovedDefinition(uri, path, name, scope, int(line), lines, similarity)


def _is_owned(code: RemovedDefinition, owners: Sequence[str]) -> bool:
    """Return whether code is in the class or module that qualifies its name, if there is one."""
    return (
        not owners or owners[-1] in WORD.findall(code.scope) or owners[-1] == file_stem(code.path)
    )


def _section_at(index: IndexReader, chunk: ChunkRow) -> DocumentSection | None:
    """Return the section that contains a chunk."""
    sections = index.read_sections(chunk.file_id)
    at = bisect_right([one.start_line for one in sections], chunk.start_line) - 1
    return sections[at] if at >= 0 else None


def _scale(hits: RankedIds) -> dict[int, float]:
    """Return the scores divided by the best score."""
    best = float(hits.scores.max(initial=0.0))
    if best <= 0:
        return {}
    return {
        at: max(0.0, score) / best
        for at, score in zip(hits.ids.tolist(), hits.scores.tolist(), strict=True)
    }
