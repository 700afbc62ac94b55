"""Pairs as bags of subwords in flat arrays: what mining writes and training reads."""

from __future__ import annotations

import zlib
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rootle.text.terms import MAX_WORD_CHARS, WORD, split_identifier
from training.pairs.training_pair import KINDS, Pair

Integers = NDArray[np.integer]
MAX_COUNT = 255


@dataclass(frozen=True, slots=True)
class Bags:
    """Pair i asks words[starts[2i] : starts[2i+1]] and is answered by [... : starts[2i+2]]."""

    starts: Integers  # int64, two a pair and one more
    words: Integers  # int32, rows of the vocabulary
    counts: Integers  # uint8, beside words
    kinds: Integers  # uint8, index into KINDS
    languages: Integers  # uint8, index into language_names
    projects: Integers  # int32, index into project_names
    places: Integers  # int64; equal numbers of one project are one answer
    digests: Integers  # int64, of both texts: what tells a pair that was mined twice

    def __len__(self) -> int:
        return len(self.kinds)


@dataclass(frozen=True, slots=True)
class Mined:
    """All pairs, and the words that they are made of."""

    bags: Bags
    vocabulary: list[str]
    spread: Integers  # in how many projects each word stands
    language_names: list[str]
    project_names: list[str]


class BagWriter:
    """Gathers pairs in memory, every subword numbered as it comes."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._table: dict[str, tuple[int, ...]] = {}
        self._starts, self._words, self._counts = array("q", [0]), array("i"), array("B")
        self._kinds, self._languages, self._projects = array("B"), array("B"), array("i")
        self._places, self._digests = array("q"), array("q")
        self._language_names: dict[str, int] = {}
        self._project_names: list[str] = []

    def __len__(self) -> int:
        return len(self._kinds)

    def open_project(self, name: str) -> None:
        """Begin a project: the pairs that follow are its own."""
        self._project_names.append(name)

    def add(self, pair: Pair, language: str) -> None:
        for text in (pair.question, pair.answer):
            bag = Counter(chain.from_iterable(map(self._rows, WORD.findall(text))))
            self._words.extend(bag.keys())
            self._counts.extend(min(count, MAX_COUNT) for count in bag.values())
            self._starts.append(len(self._words))
        self._kinds.append(KINDS.index(pair.kind))
        names = self._language_names
        self._languages.append(names.setdefault(language, len(names)))
        self._projects.append(len(self._project_names) - 1)
        self._places.append(pair.place)
        asked, told = (
            zlib.crc32(text.encode("utf-8", "replace")) for text in (pair.question, pair.answer)
        )
        self._digests.append(asked << 31 | told >> 1)

    def finish(self) -> Mined:
        bags = Bags(
            np.array(self._starts), np.array(self._words), np.array(self._counts),
            np.array(self._kinds), np.array(self._languages), np.array(self._projects),
            np.array(self._places), np.array(self._digests),
        )  # fmt: skip
        names = list(self._language_names)
        spread = _spread(bags, len(self._numbers))
        return Mined(bags, list(self._numbers), spread, names, self._project_names)

    def _rows(self, word: str) -> tuple[int, ...]:
        rows = self._table.get(word)
        if rows is None:
            numbers = self._numbers
            parts = split_identifier(word) if len(word) <= MAX_WORD_CHARS else []
            rows = tuple(numbers.setdefault(part, len(numbers)) for part in parts)
            if len(self._table) > 1_000_000:
                self._table.clear()
            self._table[word] = rows
        return rows


def save_mined(mined: Mined, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for field in fields(mined.bags):
        np.save(folder / f"{field.name}.npy", getattr(mined.bags, field.name))
    np.save(folder / "spread.npy", mined.spread)
    for name in ("vocabulary", "language_names", "project_names"):
        (folder / f"{name}.txt").write_text("\n".join(getattr(mined, name)), encoding="utf-8")


def load_mined(folder: Path) -> Mined:
    bags = Bags(*(np.load(folder / f"{field.name}.npy") for field in fields(Bags)))
    lists = [
        (folder / f"{name}.txt").read_text(encoding="utf-8").split("\n")
        for name in ("vocabulary", "language_names", "project_names")
    ]
    return Mined(bags, lists[0], np.load(folder / "spread.npy"), lists[1], lists[2])


def merge_mined(shards: Sequence[Mined]) -> Mined:
    """One out of several that were mined side by side: words, languages and projects renumbered."""
    words: dict[str, int] = {}
    languages: dict[str, int] = {}
    projects: dict[str, int] = {}
    renumbered: list[Bags] = []
    end = 0
    for shard in shards:
        word_map = np.array([words.setdefault(word, len(words)) for word in shard.vocabulary])
        language_map = np.array(
            [languages.setdefault(name, len(languages)) for name in shard.language_names], np.uint8
        )
        project_map = np.array(
            [projects.setdefault(name, len(projects)) for name in shard.project_names], np.int32
        )
        bags = shard.bags
        renumbered.append(
            Bags(
                bags.starts[bool(end) :] + end,
                word_map[bags.words].astype(np.int32),
                bags.counts,
                bags.kinds,
                language_map[bags.languages],
                project_map[bags.projects],
                bags.places,
                bags.digests,
            )
        )
        end += len(bags.words)
    merged = Bags(
        *(np.concatenate([getattr(b, field.name) for b in renumbered]) for field in fields(Bags))
    )
    merged = take(merged, np.sort(np.unique(merged.digests, return_index=True)[1]))
    spread = _spread(merged, len(words))
    return Mined(merged, list(words), spread, list(languages), list(projects))


def take(bags: Bags, chosen: Integers) -> Bags:
    """The chosen pairs alone, in the order given."""
    ends = bags.starts[2 * chosen + 2]
    begins = bags.starts[2 * chosen]
    sizes = np.stack([bags.starts[2 * chosen + 1] - begins, ends - bags.starts[2 * chosen + 1]], 1)
    starts = np.concatenate([[0], np.cumsum(sizes.ravel())])
    entries = np.repeat(begins - starts[:-1:2], ends - begins) + np.arange(starts[-1])
    return Bags(
        starts, bags.words[entries], bags.counts[entries], bags.kinds[chosen],
        bags.languages[chosen], bags.projects[chosen], bags.places[chosen], bags.digests[chosen],
    )  # fmt: skip


def _spread(bags: Bags, words: int) -> Integers:
    """In how many projects each word stands."""
    owners = np.repeat(bags.projects.astype(np.int64), np.diff(bags.starts[::2]))
    found = np.unique(owners << 32 | bags.words)
    return np.bincount(found & 0xFFFFFFFF, minlength=words).astype(np.int32)
