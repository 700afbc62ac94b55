"""Training pairs as subword counts in flat arrays: the output of extraction, read by training."""

from __future__ import annotations

import zlib
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rootle.text.terms import MAX_WORD_CHARS, WORD, split_identifier
from training.pairs.text_pair import KINDS, TextPair

Integers = NDArray[Any]  # of any integer type
MAX_COUNT = 255
_MAX_CACHED_WORDS = 1_000_000
_LISTS = ("vocabulary", "language_names", "project_names")


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Subword counts of pairs.

    The query of pair i is words[starts[2i]:starts[2i+1]]; its answer is
    words[starts[2i+1]:starts[2i+2]].
    """

    starts: Integers  # int64, two per pair, plus one
    words: Integers  # int32, row numbers in the vocabulary
    counts: Integers  # uint8, occurrences of each word
    kinds: Integers  # uint8, index into KINDS
    languages: Integers  # uint8, index into language_names
    projects: Integers  # int32, index into project_names
    answer_ids: Integers  # int64, within the project
    digests: Integers  # int64, computed from both texts to recognize duplicates

    def __len__(self) -> int:
        return len(self.kinds)


@dataclass(frozen=True, slots=True)
class ExtractedPairs:
    """All pairs with their vocabulary and names."""

    counts: PairCounts
    vocabulary: list[str]
    project_counts: Integers  # number of projects that contain each word
    language_names: list[str]
    project_names: list[str]


class PairWriter:
    """Collects pairs in memory and numbers their subwords."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}  # subword -> number
        self._rows: dict[str, tuple[int, ...]] = {}  # word -> numbers of its subwords, a cache
        self._starts, self._words, self._counts = array("q", [0]), array("i"), array("B")
        self._kinds, self._languages, self._projects = array("B"), array("B"), array("i")
        self._answer_ids, self._digests = array("q"), array("q")
        self._language_names: dict[str, int] = {}
        self._project_names: list[str] = []

    def __len__(self) -> int:
        return len(self._kinds)

    def start_project(self, name: str) -> None:
        """Assign the following pairs to a project."""
        self._project_names.append(name)

    def add(self, pair: TextPair, language: str) -> None:
        """Add a pair to the current project."""
        for text in (pair.query, pair.answer):
            found = Counter(chain.from_iterable(map(self._word_rows, WORD.findall(text))))
            self._words.extend(found.keys())
            self._counts.extend(min(count, MAX_COUNT) for count in found.values())
            self._starts.append(len(self._words))
        self._kinds.append(KINDS.index(pair.kind))
        names = self._language_names
        self._languages.append(names.setdefault(language, len(names)))
        self._projects.append(len(self._project_names) - 1)
        self._answer_ids.append(pair.answer_id)
        query, answer = (
            zlib.crc32(text.encode("utf-8", "replace")) for text in (pair.query, pair.answer)
        )
        self._digests.append(query << 31 | answer >> 1)

    def finish(self) -> ExtractedPairs:
        """Return all pairs that were added."""
        counts = PairCounts(
            np.array(self._starts), np.array(self._words), np.array(self._counts),
            np.array(self._kinds), np.array(self._languages), np.array(self._projects),
            np.array(self._answer_ids), np.array(self._digests),
        )  # fmt: skip
        project_counts = _count_projects(counts, len(self._numbers))
        languages = list(self._language_names)
        return ExtractedPairs(
            counts, list(self._numbers), project_counts, languages, self._project_names
        )

    def _word_rows(self, word: str) -> tuple[int, ...]:
        rows = self._rows.get(word)
        if rows is None:
            numbers = self._numbers
            parts = split_identifier(word) if len(word) <= MAX_WORD_CHARS else []
            rows = tuple(numbers.setdefault(part, len(numbers)) for part in parts)
            if len(self._rows) > _MAX_CACHED_WORDS:
                self._rows.clear()
            self._rows[word] = rows
        return rows


def save_pairs(pairs: ExtractedPairs, folder: Path) -> None:
    """Write the arrays and lists of pairs to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for field in fields(PairCounts):
        np.save(folder / f"{field.name}.npy", getattr(pairs.counts, field.name))
    for name in _LISTS:
        (folder / f"{name}.txt").write_text("\n".join(getattr(pairs, name)), encoding="utf-8")
    np.save(folder / "project_counts.npy", pairs.project_counts)  # last: marks a complete set


def has_pairs(folder: Path) -> bool:
    """Return whether a folder contains a complete set of pairs."""
    return (folder / "project_counts.npy").exists()


def load_pairs(folder: Path) -> ExtractedPairs:
    """Read pairs that `save_pairs` wrote."""
    counts = PairCounts(*(np.load(folder / f"{field.name}.npy") for field in fields(PairCounts)))
    vocabulary, languages, projects = (
        (folder / f"{name}.txt").read_text(encoding="utf-8").split("\n") for name in _LISTS
    )
    project_counts = np.load(folder / "project_counts.npy")
    return ExtractedPairs(counts, vocabulary, project_counts, languages, projects)


def merge_pairs(shards: Sequence[ExtractedPairs]) -> ExtractedPairs:
    """Return the pairs of several shards without duplicates, renumbered consistently."""
    words: dict[str, int] = {}
    languages: dict[str, int] = {}
    projects: dict[str, int] = {}
    renumbered: list[PairCounts] = []
    end = 0
    for shard in shards:
        word_map = _number_names(shard.vocabulary, words)
        language_map = _number_names(shard.language_names, languages).astype(np.uint8)
        project_map = _number_names(shard.project_names, projects).astype(np.int32)
        counts = shard.counts
        renumbered.append(
            PairCounts(
                counts.starts[bool(end) :] + end,
                word_map[counts.words].astype(np.int32),
                counts.counts,
                counts.kinds,
                language_map[counts.languages],
                project_map[counts.projects],
                counts.answer_ids,
                counts.digests,
            )
        )
        end += len(counts.words)
    merged = PairCounts(
        *(
            np.concatenate([getattr(one, field.name) for one in renumbered])
            for field in fields(PairCounts)
        )
    )
    merged = select_pairs(merged, np.sort(np.unique(merged.digests, return_index=True)[1]))
    project_counts = _count_projects(merged, len(words))
    return ExtractedPairs(merged, list(words), project_counts, list(languages), list(projects))


def select_pairs(pairs: PairCounts, chosen: Integers) -> PairCounts:
    """Return the pairs with these numbers, in this order."""
    ends = pairs.starts[2 * chosen + 2]
    begins = pairs.starts[2 * chosen]
    middles = pairs.starts[2 * chosen + 1]
    sizes = np.stack([middles - begins, ends - middles], 1)
    starts = np.concatenate([[0], np.cumsum(sizes.ravel())])
    entries = np.repeat(begins - starts[:-1:2], ends - begins) + np.arange(starts[-1])
    return PairCounts(
        starts, pairs.words[entries], pairs.counts[entries], pairs.kinds[chosen],
        pairs.languages[chosen], pairs.projects[chosen], pairs.answer_ids[chosen],
        pairs.digests[chosen],
    )  # fmt: skip


def _number_names(names: Sequence[str], numbers: dict[str, int]) -> Integers:
    """Return the number of each name, adding new names to `numbers`."""
    return np.array([numbers.setdefault(name, len(numbers)) for name in names])


def _count_projects(pairs: PairCounts, words: int) -> Integers:
    """Return the number of projects that contain each word."""
    projects = np.repeat(pairs.projects.astype(np.int64), np.diff(pairs.starts[::2]))
    distinct = np.unique(projects << 32 | pairs.words)
    return np.bincount(distinct & 0xFFFFFFFF, minlength=words).astype(np.int32)
