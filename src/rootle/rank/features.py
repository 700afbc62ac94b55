"""Compute the features of candidate files from the ranking inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from rootle.rank.path_features import HEAD_CHARS, KINDS, PathParts, path_parts
from rootle.rank.question.parsed import Question
from rootle.rank.ranking_inputs import ChunkInputs, Flags, Floats, Ints, RankingInputs

# Weights of the best, second and third best chunk of a file. Further chunks do not count.
_RANK_WEIGHTS: Final = np.array([1.0, 1 / 2, 1 / 3, 0.0])
# The cosine at this rank is the noise level. Some features use the distance above this level.
_NOISE_RANK: Final = 60
_BEST_CHUNKS: Final = 20
_DEFINITION_WEIGHT: Final = 0.3
_SYMBOL_DEFINITION_WEIGHT: Final = 2.0

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
    "adjacent_pairs",
    "adjacent_triples",
)


# The last features of NAMES, which compare the order of words.
WORD_ORDER: Final = ("adjacent_pairs", "adjacent_triples")


def chunk_scores(inputs: RankingInputs) -> Floats:
    """Return the score of each chunk, computed from both legs and the names that it defines."""
    chunks = inputs.chunks
    is_symbol = inputs.question.is_symbol
    weight = _SYMBOL_DEFINITION_WEIGHT if is_symbol else _DEFINITION_WEIGHT
    return (
        share_of_max(chunks.bm25)
        + share_of_max(chunks.dense)
        + _DEFINITION_WEIGHT * share_of_max(chunks.symbols)
        + weight * chunks.defines
    )


def file_features(inputs: RankingInputs) -> Floats:
    """Return the features, shape (files, NAMES), each scaled to 0–1 within the question."""
    chunks, files = inputs.chunks, inputs.files
    count = len(files.ids)
    combined = chunk_scores(inputs)
    names = _name_features(inputs)
    bm25_three, dense_three = top_three_per_file(
        [chunks.bm25, _subtract_noise(chunks.dense)], chunks.files, count
    )
    is_usage = inputs.question.intent == "usage"
    columns = {
        "bm25_best": max_per_file(chunks.bm25, chunks.files, count),
        "bm25_three": bm25_three,
        "bm25_file": files.bm25,
        "symbols_chunk": max_per_file(chunks.symbols, chunks.files, count),
        "symbols_file": files.symbols,
        "path_bm25": files.path_bm25,
        "dense_best": files.dense_best,
        "dense_three": dense_three,
        "dense_mean": files.dense_mean,
        "coverage_file": files.coverage,
        "share_of_best": _share_of_best(combined, chunks, count),
        "chunk_best": max_per_file(combined, chunks.files, count),
        "notes": max_per_file(chunks.notes, chunks.files, count),
        "one_passage": files.passage,
        "mentions": _mentions(inputs) if is_usage else np.zeros(count),
        "adjacent_pairs": files.pairs,
        "adjacent_triples": files.triples,
        **names,
    }
    found = np.array([columns[name] for name in NAMES], dtype=np.float64)
    table: Floats = np.maximum(found.T, 0.0, order="C")
    peaks = table.max(axis=0, initial=0.0)
    # A share of adjacent words is evidence only if it is large, so it is not scaled.
    peaks[[NAMES.index(name) for name in WORD_ORDER]] = 1.0
    table = table / np.where(peaks > 0, peaks, 1.0)
    detailed = [NAMES.index(name) for name in ("one_passage", *WORD_ORDER)]
    table[:, detailed] *= inputs.question.detail
    return table


def _mentions(inputs: RankingInputs) -> Floats:
    """Return the BM25 of each file; 0 for documents and for files that define a requested name."""
    scores: Floats = inputs.files.bm25 * ~(defining_files(inputs) | prose_files(inputs))
    return scores


@dataclass(frozen=True, slots=True)
class PathTable:
    """Facts from the paths of several files, one row per file. The arrays are read-only."""

    parts: tuple[PathParts, ...]
    kinds: Mapping[str, Flags]  # keyed by the names in KINDS
    depth: Floats  # number of folders above the file
    longer_stem: Floats  # 1 if the file name contains the whole name of another file


@lru_cache(maxsize=128)  # called repeatedly with the same candidates for one question
def path_table(paths: tuple[str, ...]) -> PathTable:
    """Return the table of the given files. `longer_stem` depends on all paths."""
    parts = tuple(path_parts(path) for path in paths)
    bits = np.array([part.kinds for part in parts], dtype=np.int64)
    kinds = (bits >> np.arange(len(KINDS))[:, None]) & 1 == 1
    depth = np.array([part.depth for part in parts], dtype=np.float64)
    longer_stem = _longer_stems(parts)
    for array in (kinds, depth, longer_stem):
        array.flags.writeable = False
    return PathTable(parts, dict(zip(KINDS, kinds, strict=True)), depth, longer_stem)


def flag_kinds(inputs: RankingInputs) -> Mapping[str, Flags]:
    """Return, for each name in KINDS, read-only flags for the candidate files."""
    return path_table(inputs.files.paths).kinds


def test_files(inputs: RankingInputs) -> Flags:
    """Return which candidate files contain tests."""
    return flag_kinds(inputs)["is_test"]


def record_files(inputs: RankingInputs) -> Flags:
    """Return which candidate files are changelogs, licenses and the like."""
    return flag_kinds(inputs)["is_record"]


def prose_files(inputs: RankingInputs) -> Flags:
    """Return which candidate files are prose documents."""
    return flag_kinds(inputs)["is_prose"]


def copied_files(inputs: RankingInputs) -> Flags:
    """Return which candidate files are copies of other projects or were written by a program.

    If the question contains the whole name of a file, the file does not count as a copy.
    """
    kinds, written_out = flag_kinds(inputs), inputs.question.written_out
    flags = kinds["is_copied"] | kinds["is_generated"]
    if flags.any():
        parts = path_table(inputs.files.paths).parts
        for at in flags.nonzero()[0].tolist():
            flags[at] = len(parts[at].whole) <= 2 or parts[at].whole not in written_out
    return flags


def defining_files(inputs: RankingInputs) -> Flags:
    """Return which candidate files define a name of the question."""
    defining = np.zeros(len(inputs.files.ids), dtype=bool)
    defining[inputs.chunks.files[inputs.chunks.defines]] = True
    return defining


def only_definers(inputs: RankingInputs) -> Flags:
    """Return which candidate files contain the only definition of a name of the question.

    A name that is a single word does not count, because it may be meant as an ordinary word.
    """
    question = inputs.question
    if all(name in question.words for name in question.names):
        return np.zeros(len(inputs.files.ids), dtype=bool)
    flags: Flags = inputs.files.definers >= 1
    return flags


def max_per_file(scores: Floats, files: Ints, count: int) -> Floats:
    """Return the maximum chunk score of each file; 0 for a file without chunks."""
    best = np.zeros(count)
    np.maximum.at(best, files, scores)
    return best


def top_three_per_file(columns: Sequence[Floats], files: Ints, count: int) -> list[Floats]:
    """Return the weighted sums of each file's three best scores, one array per column.

    The weights are 1, 1/2 and 1/3.
    """
    by_file = np.sort(files)
    counts = np.bincount(by_file, minlength=count)
    # Rank of each chunk within its file, best first.
    rank = np.arange(len(files)) - (counts.cumsum() - counts)[by_file]
    weights = _RANK_WEIGHTS[np.minimum(rank, len(_RANK_WEIGHTS) - 1)]
    ordered = (scores[np.lexsort((-scores, files))] for scores in columns)
    # Without chunks, bincount returns integers.
    return [
        np.bincount(by_file, weights * scores, minlength=count).astype(np.float64, copy=False)
        for scores in ordered
    ]


def _subtract_noise(dense: Floats) -> Floats:
    if len(dense) <= _NOISE_RANK:
        return dense
    above: Floats = np.maximum(dense - noise_level(dense), 0)
    return above


def noise_level(dense: Floats) -> float:
    """Return the cosine at rank 60.

    For 60 or fewer chunks, return the lowest cosine if it is negative, and otherwise 0.
    """
    if len(dense) <= _NOISE_RANK:
        return float(dense.min(initial=0.0))
    return float(np.partition(dense, -_NOISE_RANK)[-_NOISE_RANK])


def _share_of_best(combined: Floats, chunks: ChunkInputs, count: int) -> Floats:
    top = (-combined).argsort(kind="stable")[:_BEST_CHUNKS]
    return np.bincount(chunks.files[top], minlength=count).astype(np.float64)


def share_of_max(values: Floats) -> Floats:
    """Return the positive values divided by the maximum; zeros if there is no positive value."""
    values = np.maximum(values, 0)
    peak = values.max(initial=0.0)
    return values / peak if peak > 0 else values


def _name_features(inputs: RankingInputs) -> dict[str, Floats]:
    question, files = inputs.question, inputs.files
    paths = path_table(files.paths)
    table = _path_features(question, paths.parts)
    defines = np.zeros(len(files.ids))
    np.maximum.at(defines, inputs.chunks.files, inputs.chunks.defines.astype(np.float64))
    is_symbol = float(question.is_symbol)
    return {
        "set_aside": paths.kinds["is_set_aside"].astype(np.float64),
        # Tests are named after the tested file. This must not lower the score of a test if the
        # question is about tests.
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
    """Return 1 for each name that contains the whole name of another candidate, else 0.

    For example, BatchInsert contains Insert.
    """
    known = {part.stem for part in parts if part.stem_chars > HEAD_CHARS}
    return np.array([not known.isdisjoint(part.inner) for part in parts], dtype=np.float64)


def _path_features(question: Question, parts: Sequence[PathParts]) -> Floats:
    """Return one row for each path.

    The columns are the share of the question in the stem, the share of the stem in the question,
    the share of the question in the folder names, and 1 if the question contains the whole stem.
    """
    similarity, written_out = _WordSimilarity(question.words), question.written_out
    table = np.zeros((len(parts), 4))
    for row, part in enumerate(parts):
        if not similarity.heads.isdisjoint(part.heads):
            table[row, :2] = similarity.both_directions(part.stem)
            table[row, 2] = similarity.folder_similarity(part.folders)
        if len(part.whole) > 2 and part.whole in written_out:
            table[row, 3] = 1
    return table


class _WordSimilarity:
    """Similarity of the words of a question to the words of paths, with a cache."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        # Words match only if they share a prefix, so most paths need not be compared.
        self.heads = frozenset(word[:HEAD_CHARS] for word in words)
        # The same names and folders occur in many paths.
        self._by_name: dict[str, list[float]] = {}
        self._by_folders: dict[tuple[str, ...], float] = {}

    def folder_similarity(self, names: tuple[str, ...]) -> float:
        """Return the share of the question that the folder names cover."""
        if names not in self._by_folders:
            self._by_folders[names] = self.both_directions(names)[0]
        return self._by_folders[names]

    def both_directions(self, names: Sequence[str]) -> tuple[float, float]:
        """Return the share of the question in the names, and of the names in the question."""
        found = [self._match(name) for name in names if name[:HEAD_CHARS] in self.heads]
        if not found:
            return 0.0, 0.0
        in_names = sum(max(values) for values in zip(*found, strict=True)) / len(self._words)
        return in_names, sum(max(values) for values in found) / len(names)

    def _match(self, name: str) -> list[float]:
        if name not in self._by_name:
            self._by_name[name] = [word_similarity(word, name) for word in self._words]
        return self._by_name[name]


def word_similarity(left: str, right: str) -> float:
    """Return the similarity of two words, from 0 to 1.

    It is 1 for equal words, 0.8 if one word is a prefix of the other, 0.6 if their first five
    letters are equal, and otherwise 0.
    """
    if left == right:
        return 1.0
    shorter, longer = (left, right) if len(left) <= len(right) else (right, left)
    if len(shorter) >= HEAD_CHARS and longer.startswith(shorter):
        return 0.8
    if len(shorter) >= 5 and left[:5] == right[:5]:
        return 0.6
    return 0.0
