"""Full-text search in chunks and in whole files: BM25 over the segments of an inverted index.

Chunks and files have separate segments, because their document frequencies and lengths differ.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rootle.index.local.document_order import DocumentOrder
from rootle.index.local.inverted_index.commit_state import (
    FIELDS,
    LEVELS,
    read_state,
    segment_path,
)
from rootle.index.local.inverted_index.level_reader import LevelReader, LiveSegment, Only
from rootle.index.local.inverted_index.postings_codec import Postings
from rootle.index.local.inverted_index.segment import Flags, Segment, is_in_sorted
from rootle.index.reader import Level
from rootle.protocols import MAX_MATCH_TERMS, Ids, RankedIds, WeightedTerm
from rootle.text.stemmer import open_stemmer


class EmbeddedSparse:
    """The inverted index at one generation. Thread-safe.

    All methods raise IndexStorageError if they find damage.
    """

    def __init__(
        self,
        folder: Path,
        order: DocumentOrder | None = None,
        earlier: EmbeddedSparse | None = None,
    ) -> None:
        """Open the newest generation. Segments that `earlier` has opened are shared with it.

        Documents with equal scores are in the given order, by default by id.
        """
        state = read_state(folder)
        self.generation = state.generation
        self.segments: dict[str, Segment] = {}  # by name
        known = earlier.segments if earlier is not None else {}
        self._levels = {}
        for level in LEVELS:
            segments = []
            for entry in state.segments[level]:
                segment = known.get(entry.name) or Segment(
                    segment_path(folder, entry.name), FIELDS[level]
                )
                self.segments[entry.name] = segment
                segments.append(LiveSegment(segment, entry.live(segment.count)))
            self._levels[level] = LevelReader(segments, order or DocumentOrder())
        self._stem = open_stemmer()
        self._last_files: tuple[Collection[int], Ids] = ((), np.zeros(0, np.int64))

    def prepare(self) -> None:
        """Verify all segments at once, so that later searches are faster."""
        for segment in self.segments.values():
            segment.prepare()

    def stems(self, terms: str) -> list[str]:
        """Return the stems of space-separated terms, in order."""
        return self._stem(terms)

    def query(
        self, terms: Sequence[WeightedTerm], k: int, files: Collection[int] | None = None
    ) -> RankedIds:
        """Return at most k chunk ids by BM25 of their text, best first."""
        return self.field_scores("chunks", ["body"], terms, k, files=files)

    def field_scores(
        self,
        level: Level,
        fields: Sequence[str],
        terms: Sequence[WeightedTerm],
        k: int,
        *,
        files: Collection[int] | None = None,
    ) -> RankedIds:
        """Return chunk or file ids by BM25 over the given fields, best first.

        If `files` is given, only those files and their chunks are searched. Equal scores are in the
        order of paths and lines.
        """
        return self._levels[level].search(fields, terms, k, self._mark_files(files))

    def matches(
        self, terms: Sequence[str], k: int, *, among: Literal["chunk", "file"], ids: Sequence[int]
    ) -> tuple[Ids, NDArray[np.int64]]:
        """Return the chunks that contain any of at most 20 terms, and which terms each contains.

        `ids` are the ids of the chunks to search, or of the files whose chunks are searched,
        depending on `among`. The result consists of at most k chunk ids and a mask for each, in
        which bit i is set if the chunk contains term i. If more chunks match, chunks with the last
        terms are preferred.
        """
        if len(terms) > MAX_MATCH_TERMS:
            raise ValueError(f"{len(terms)} terms, at most {MAX_MATCH_TERMS} fit into one mask")
        wanted = np.sort(np.array(ids, np.int64))
        found = []
        for part in self._levels["chunks"].segments:
            if among == "file":
                at = part.segment.find_documents(wanted)
            else:
                at = np.flatnonzero(is_in_sorted(part.segment.ids, wanted))
            ordinals, masks = at.astype(np.uint16), np.zeros(len(at), np.int64)
            for bit, term in enumerate(terms if len(at) else ()):
                postings = part.postings("body", term)
                if postings is not None:
                    masks |= is_in_sorted(ordinals, postings.documents).astype(np.int64) << bit
            found.append((part.segment, at[masks > 0], masks[masks > 0].astype(np.float64)))
        # Masks have at most 20 bits, which a score represents exactly.
        best = self._levels["chunks"].best(found, k)
        return best.ids, best.scores.astype(np.int64)

    def file_frequencies(self, terms: Sequence[str]) -> tuple[int, list[int]]:
        """Return the number of files, and the document frequency of each term."""
        files = self._levels["files"]
        return files.count, files.frequencies("body", terms)

    def definers(self, names: Sequence[str], k: int = 1_000) -> dict[str, list[int]]:
        """Return for each normalized name at most k chunks that define it."""
        search = self._levels["chunks"].search
        return {
            name: search(["defines"], [WeightedTerm(name, 1.0)], k).ids.tolist() for name in names
        }

    def files_with(
        self, terms: Sequence[str], parts: Sequence[str], k: int, files: Collection[int] | None
    ) -> list[int]:
        """Return at most k files by BM25 of the terms, best first.

        A file must contain each of `terms`, and for each of `parts` a term that contains this part.
        """
        level, only = self._levels["files"], self._mark_files(files)
        chosen = {}
        for part in level.segments:
            is_chosen = np.ones(part.segment.count, bool)
            if only is not None:
                is_chosen &= only(part, np.arange(part.segment.count))
            for term in terms:
                is_chosen &= _mark_documents(part, part.postings("body", term))
            for text in parts:
                if is_chosen.any():
                    is_chosen &= part.documents_containing("body", text)
            chosen[part] = is_chosen if part.live is None else is_chosen & part.live
        if terms:
            weighted = [WeightedTerm(term, 1.0) for term in terms]
            ranked = level.search(["body"], weighted, k, lambda part, at: chosen[part][at])
            found: list[int] = ranked.ids.tolist()
            return found
        return _list_documents(level, chosen.values(), k)

    def near_definers(self, name: str, distance: int, k: int) -> list[int]:
        """Return at most k chunks that define a name at most `distance` edits from `name`."""
        level = self._levels["chunks"]
        found = [part.documents_near("defines", name, distance) for part in level.segments]
        return _list_documents(level, found, k)

    def is_known(self, name: str) -> bool:
        """Return whether a normalized name is defined or occurs in any chunk."""
        chunks = self._levels["chunks"]
        return any(chunks.frequencies("defines", [name])) or any(
            chunks.frequencies("body", self.stems(name))
        )

    def _mark_files(self, files: Collection[int] | None) -> Only | None:
        if files is None:
            return None
        known, wanted = self._last_files
        if known is not files:  # the searches for one question pass the same collection
            wanted = np.sort(np.fromiter(files, np.int64, len(files)))
            self._last_files = files, wanted
        return lambda part, at: is_in_sorted(part.segment.file_ids[at], wanted)


def _mark_documents(part: LiveSegment, postings: Postings | None) -> Flags:
    is_found = np.zeros(part.segment.count, bool)
    if postings is not None:
        is_found[postings.documents] = True
    return is_found


def _list_documents(level: LevelReader, chosen: Iterable[Flags], k: int) -> list[int]:
    """Return at most k of the chosen documents, in the order of paths and lines."""
    found = []
    for part, flags in zip(level.segments, chosen, strict=True):
        at = np.flatnonzero(flags)
        found.append((part.segment, at, np.zeros(len(at))))
    ids: list[int] = level.best(found, k).ids.tolist()
    return ids
