"""The features of candidate files, as columns of numbers from the evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from rootle.rank.path_features import HEAD_CHARS, KINDS, PathParts, path_parts
from rootle.rank.question.parsed import Question
from rootle.rank.ranking_inputs import ChunkInputs, Flags, Floats, Ints, RankingInputs

# The second and third best chunk of a file say something too, each less than the one before; those
# after them nothing.
_BY_PLACE: Final = np.array([1.0, 1 / 2, 1 / 3, 0.0])
# Beyond this rank a cosine is noise: what counts is how far a chunk stands out above it.
_DENSE_FLOOR_RANK: Final = 60
_SHARE_OF: Final = 20
_DEFINITION_IN_CHUNK: Final = 0.3
_ASKED_FOR_IN_CHUNK: Final = 2.0

NAMES: Final = (
    "bm25_best",
    "bm25_three",
    "bm25_file",
    "symbols_chunk",
    "symbols_file",
    "path_bm25",
    "dense_best",
    "dense_three",
    "dense_mean",
    "question_in_stem",
    "stem_in_question",
    "folders",
    "stem_written_out",
    "defines_symbol",
    "symbol_is_stem",
    "defines_name",
    "coverage_file",
    "share_of_best",
    "chunk_best",
    "notes",
    "set_aside",
    "longer_stem",
    "depth",
    "one_passage",
    "mentions",
)


def chunk_scores(evidence: RankingInputs) -> Floats:
    """How well each candidate chunk answers by itself: both legs and the names it defines."""
    chunks = evidence.chunks
    asked = _ASKED_FOR_IN_CHUNK if evidence.question.is_symbol else _DEFINITION_IN_CHUNK
    return (
        share_of_max(chunks.bm25)
        + share_of_max(chunks.dense)
        + _DEFINITION_IN_CHUNK * share_of_max(chunks.symbols)
        + asked * chunks.defines
    )


def file_features(evidence: RankingInputs) -> Floats:
    """One row a candidate file, one column a name in NAMES, each from 0 to 1 within a question."""
    chunks, files = evidence.chunks, evidence.files
    count = len(files.ids)
    combined = chunk_scores(evidence)
    names = _name_features(evidence)
    bm25_three, dense_three = threes_of_file(
        [chunks.bm25, _above_floor(chunks.dense)], chunks.files, count
    )
    is_usage = evidence.question.intent == "usage"
    columns = {
        "bm25_best": best_of_file(chunks.bm25, chunks.files, count),
        "bm25_three": bm25_three,
        "bm25_file": files.bm25,
        "symbols_chunk": best_of_file(chunks.symbols, chunks.files, count),
        "symbols_file": files.symbols,
        "path_bm25": files.path_bm25,
        "dense_best": files.dense_best,
        "dense_three": dense_three,
        "dense_mean": files.dense_mean,
        "coverage_file": files.coverage,
        "share_of_best": _share_of_best(combined, chunks, count),
        "chunk_best": best_of_file(combined, chunks.files, count),
        "notes": best_of_file(chunks.notes, chunks.files, count),
        "one_passage": files.passage,
        "mentions": _mentions(evidence) if is_usage else np.zeros(count),
        **names,
    }
    found = np.array([columns[name] for name in NAMES], dtype=np.float64)
    table: Floats = np.maximum(found.T, 0.0, order="C")
    peaks = table.max(axis=0, initial=0.0)
    table = table / np.where(peaks > 0, peaks, 1.0)
    table[:, NAMES.index("one_passage")] *= evidence.question.detail
    return table


def _mentions(evidence: RankingInputs) -> Floats:
    """The words of files that neither define the names asked for nor are documents."""
    told: Floats = evidence.files.bm25 * ~(defining_files(evidence) | prose_files(evidence))
    return told


@dataclass(frozen=True, slots=True)
class PathTable:
    """What the paths of some files tell, one row a file; not to be written into."""

    parts: tuple[PathParts, ...]
    kinds: Mapping[str, Flags]  # by the names in KINDS
    depth: Floats  # folders above it
    longer_stem: Floats  # 1 where another file's whole name is a part of its name


@lru_cache(maxsize=128)  # one question asks the same of its candidates again and again
def path_table(paths: tuple[str, ...]) -> PathTable:
    """That of some files, which are looked at together."""
    parts = tuple(path_parts(path) for path in paths)
    bits = np.array([part.kinds for part in parts], dtype=np.int64)
    kinds = (bits >> np.arange(len(KINDS))[:, None]) & 1 == 1
    depth = np.array([part.depth for part in parts], dtype=np.float64)
    longer_stem = _longer_stems(parts)
    for array in (kinds, depth, longer_stem):
        array.flags.writeable = False
    return PathTable(parts, dict(zip(KINDS, kinds, strict=True)), depth, longer_stem)


def kinds_of(evidence: RankingInputs) -> Mapping[str, Flags]:
    """Which candidate files are of which kind, by the names in KINDS; not to be written into."""
    return path_table(evidence.files.paths).kinds


def test_files(evidence: RankingInputs) -> Flags:
    """Which candidate files hold tests."""
    return kinds_of(evidence)["is_test"]


def record_files(evidence: RankingInputs) -> Flags:
    """Which candidate files are lists of changes, licences and the like."""
    return kinds_of(evidence)["is_record"]


def prose_files(evidence: RankingInputs) -> Flags:
    """Which candidate files are documents for people."""
    return kinds_of(evidence)["is_prose"]


def defining_files(evidence: RankingInputs) -> Flags:
    """Which candidate files define a name of the question."""
    defining = np.zeros(len(evidence.files.ids), dtype=bool)
    defining[evidence.chunks.files[evidence.chunks.defines]] = True
    return defining


def best_of_file(scores: Floats, files: Ints, count: int) -> Floats:
    """The best score among the chunks of each file; 0 for a file without any."""
    best = np.zeros(count)
    np.maximum.at(best, files, scores)
    return best


def threes_of_file(columns: Sequence[Floats], files: Ints, count: int) -> list[Floats]:
    """For each column the sum of each file's three best scores, with weights 1, 1/2, 1/3."""
    by_file = np.sort(files)
    counts = np.bincount(by_file, minlength=count)
    # Position of each chunk among those of its own file, best first.
    place = np.arange(len(files)) - (counts.cumsum() - counts)[by_file]
    weights = _BY_PLACE[np.minimum(place, len(_BY_PLACE) - 1)]
    ordered = (scores[np.lexsort((-scores, files))] for scores in columns)
    # Of no chunks the sums would be integers.
    return [
        np.bincount(by_file, weights * scores, minlength=count).astype(np.float64, copy=False)
        for scores in ordered
    ]


def _above_floor(dense: Floats) -> Floats:
    if len(dense) <= _DENSE_FLOOR_RANK:
        return dense
    above: Floats = np.maximum(dense - noise_level(dense), 0)
    return above


def noise_level(dense: Floats) -> float:
    """The cosine at which chunks do not stand out any more; the lowest where there are few."""
    if len(dense) <= _DENSE_FLOOR_RANK:
        return float(dense.min(initial=0.0))
    return float(np.partition(dense, -_DENSE_FLOOR_RANK)[-_DENSE_FLOOR_RANK])


def _share_of_best(combined: Floats, chunks: ChunkInputs, count: int) -> Floats:
    top = (-combined).argsort(kind="stable")[:_SHARE_OF]
    return np.bincount(chunks.files[top], minlength=count).astype(np.float64)


def share_of_max(values: Floats) -> Floats:
    """Values above zero as shares of the largest; zeros where there is none."""
    values = np.maximum(values, 0)
    peak = values.max(initial=0.0)
    return values / peak if peak > 0 else values


def _name_features(evidence: RankingInputs) -> dict[str, Floats]:
    question, files = evidence.question, evidence.files
    paths = path_table(files.paths)
    table = _path_features(question, paths.parts)
    defines = np.zeros(len(files.ids))
    np.maximum.at(defines, evidence.chunks.files, evidence.chunks.defines.astype(np.float64))
    is_symbol = float(question.is_symbol)
    return {
        "set_aside": paths.kinds["is_set_aside"].astype(np.float64),
        # A test is named after what it tests: no reason against it where tests are asked for.
        "longer_stem": paths.longer_stem * ~(question.is_about_tests & paths.kinds["is_test"]),
        "depth": paths.depth,
        "question_in_stem": table[:, 0],
        "stem_in_question": table[:, 1],
        "folders": table[:, 2],
        "stem_written_out": table[:, 3],
        "defines_symbol": defines * is_symbol,
        "symbol_is_stem": defines * table[:, 3] * is_symbol,
        "defines_name": files.definers * (1 - is_symbol),
    }


def _longer_stems(parts: Sequence[PathParts]) -> Floats:
    """1 where another candidate's whole name is a part of the name: BatchInsert beside Insert."""
    known = {part.stem for part in parts if part.stem_chars > HEAD_CHARS}
    return np.array([not known.isdisjoint(part.inner) for part in parts], dtype=np.float64)


def _path_features(question: Question, parts: Sequence[PathParts]) -> Floats:
    """Four columns: question in stem, stem in question, folders, stem written out."""
    likeness, written_out = _Likeness(question.words), question.written_out
    table = np.zeros((len(parts), 4))
    for row, part in enumerate(parts):
        if not likeness.heads.isdisjoint(part.heads):
            table[row, :2] = likeness.both_ways(part.stem)
            table[row, 2] = likeness.in_folders(part.folders)
        if len(part.whole) > 2 and part.whole in written_out:
            table[row, 3] = 1
    return table


class _Likeness:
    """How alike the words of a question are to those of paths."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        # Words that do not begin alike do not match: most paths need not be looked at.
        self.heads = frozenset(word[:HEAD_CHARS] for word in words)
        # The same names, and the same folders, stand in many paths.
        self._found: dict[str, list[float]] = {}
        self._of_folders: dict[tuple[str, ...], float] = {}

    def in_folders(self, names: tuple[str, ...]) -> float:
        """How much of the question is in the names of some folders."""
        if names not in self._of_folders:
            self._of_folders[names] = self.both_ways(names)[0]
        return self._of_folders[names]

    def both_ways(self, names: Sequence[str]) -> tuple[float, float]:
        """How much of the question is in some names, and how much of the names in the question."""
        found = [self._with(name) for name in names if name[:HEAD_CHARS] in self.heads]
        if not found:
            return 0.0, 0.0
        in_names = sum(max(alike) for alike in zip(*found, strict=True)) / len(self._words)
        return in_names, sum(max(alike) for alike in found) / len(names)

    def _with(self, name: str) -> list[float]:
        if name not in self._found:
            self._found[name] = [word_match(word, name) for word in self._words]
        return self._found[name]


def word_match(left: str, right: str) -> float:
    """How alike two words are: 1 the same, .8 one begins the other, .6 five letters in common."""
    if left == right:
        return 1.0
    shorter, longer = (left, right) if len(left) <= len(right) else (right, left)
    if len(shorter) >= HEAD_CHARS and longer.startswith(shorter):
        return 0.8
    if len(shorter) >= 5 and left[:5] == right[:5]:
        return 0.6
    return 0.0
