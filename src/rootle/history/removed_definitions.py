"""Find definitions that commits removed, by their words and their meaning."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from rootle.errors import IndexStorageError
from rootle.index.reader import IndexReader
from rootle.protocols import NO_HITS, Embedder, Ranked, WeightedTerm
from rootle.types import REMOVED_SCOPE_SEPARATOR, DocumentSection

# Chunks that each search contributes, and definitions that are returned.
_HITS: Final = 500
_MAX_FOUND: Final = 80
# The subject of the removing commit, relative to the words of the code and to its vector.
_SUBJECT_WEIGHT: Final = 0.3


class RemovedIndex(Protocol):
    """Keeps an index of the definitions that commits removed current."""

    @property
    def prefix(self) -> str:
        """The path of the folder below its work tree, ending in "/"; "" for the work tree."""

    def exists(self) -> bool:
        """Return whether there may be indexed commits, without opening the index."""

    def snapshot(self) -> IndexReader:
        """Return the newest snapshot; raise IndexStorageError if nothing is indexed yet."""

    def find_visible(self) -> Collection[int] | None:
        """Return the indexed commits that belong to the history of the folder; None for all."""

    def update_in_background(self) -> None:
        """Start indexing new commits, unless that is already happening."""

    def prepare(self, wait_s: float) -> str:
        """Index new commits for a limited time.

        Return "", or a note that not all commits are searched.
        """


@dataclass(frozen=True, slots=True)
class RemovedDefinition:
    """A definition that a commit removed."""

    uri: str  # of the commit
    path: str  # before the commit, relative to the folder
    name: str
    scope: str  # the definition that enclosed it; "" if there was none
    start_line: int  # before the commit, from 1
    lines: tuple[str, ...]
    similarity: float  # to the question, from 0 to 1


@dataclass(frozen=True, slots=True)
class RemovedDefinitions:
    """Searches the definitions that commits removed."""

    updates: RemovedIndex
    open_embedder: Callable[[], Embedder]

    def find(self, text: str, terms: Sequence[str]) -> list[RemovedDefinition]:
        """Return the definitions that are most similar to a text, best first.

        `terms` are the stems of its words. The result is empty if nothing is indexed yet.
        """
        if not self.updates.exists():
            return []
        try:
            index, files = self.updates.snapshot(), self.updates.find_visible()
        except IndexStorageError:
            return []
        scores = self._score_chunks(index, files, text, terms)
        best = sorted(scores, key=lambda chunk: (-scores[chunk], chunk))
        return self._read(index, {chunk: scores[chunk] for chunk in best})

    def _score_chunks(
        self, index: IndexReader, files: Collection[int] | None, text: str, terms: Sequence[str]
    ) -> dict[int, float]:
        """Return the similarity of chunks, from 0 to 1."""
        vector = self.open_embedder().embed([text])[0]
        dense = index.dense.nearest(vector, _HITS, files).hits if vector.any() else NO_HITS
        weighted = [WeightedTerm(term, 1.0) for term in terms]
        words = index.sparse.query(weighted, _HITS, files) if terms else NO_HITS
        by_meaning, by_words = _scale(dense), _scale(words)
        floor = min(by_meaning.values(), default=0.0)
        chunks = list(by_meaning.keys() | by_words.keys())
        rows = index.chunks(chunks)
        subjects = _scale(
            index.sparse.field_scores("files", ("path",), weighted, _HITS, files=files)
            if terms
            else NO_HITS
        )
        total = 2 + _SUBJECT_WEIGHT
        return {
            at: (
                by_meaning.get(at, floor)
                + by_words.get(at, 0.0)
                + _SUBJECT_WEIGHT * subjects.get(rows[at].file_id, 0.0)
            )
            / total
            for at in chunks
            if at in rows
        }

    def _read(self, index: IndexReader, scores: dict[int, float]) -> list[RemovedDefinition]:
        """Return the definitions in which the chunks are, in the same order."""
        rows = index.chunks(list(scores))
        sections: dict[int, Sequence[DocumentSection]] = {}
        found: dict[tuple[int, int], RemovedDefinition] = {}
        for chunk, similarity in scores.items():
            row = rows[chunk]
            own = sections.setdefault(row.file_id, index.sections_of(row.file_id))
            at = bisect_right([one.start_line for one in own], row.start_line) - 1
            key = row.file_id, at
            if at < 0 or key in found or not own[at].label.startswith(self.updates.prefix):
                continue
            found[key] = self._make(index, row.file_id, own[at], similarity)
            if len(found) == _MAX_FOUND:
                break
        return list(found.values())

    def _make(
        self, index: IndexReader, commit: int, section: DocumentSection, similarity: float
    ) -> RemovedDefinition:
        path, _, line = section.label.rpartition(":")
        scope, _, name = section.title.partition(REMOVED_SCOPE_SEPARATOR)
        lines = index.text(commit).split("\n")[section.start_line : section.end_line]
        return RemovedDefinition(
            index.files([commit])[commit].path,
            path.removeprefix(self.updates.prefix),
            name,
            scope,
            int(line),
            tuple(lines),
            similarity,
        )


def _scale(hits: Ranked) -> dict[int, float]:
    """Return the scores divided by the best one."""
    best = float(hits.scores.max(initial=0.0))
    if best <= 0:
        return {}
    return {
        at: max(0.0, score) / best
        for at, score in zip(hits.ids.tolist(), hits.scores.tolist(), strict=True)
    }
