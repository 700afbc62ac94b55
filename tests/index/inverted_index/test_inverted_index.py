"""Writing, searching and merging the inverted index."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Final

import numpy as np
import pytest

from rootle.errors import IndexStorageError
from rootle.index.local.document_order import DocumentOrder, top_positions
from rootle.index.local.inverted_index.bm25 import round_lengths
from rootle.index.local.inverted_index.commit_state import create_index
from rootle.index.local.inverted_index.merging import SegmentSize, choose_merge
from rootle.index.local.inverted_index.postings_codec import decode_postings, encode_postings
from rootle.index.local.inverted_index.reader import EmbeddedSparse
from rootle.index.local.inverted_index.term_scan import TermList
from rootle.index.local.inverted_index.writer import ChunkTerms, FileTerms, SparseWriter
from rootle.index.reader import Level
from rootle.protocols import WeightedTerm
from rootle.text.similarity.edit_distance import edit_distance

_SEARCHED: Final[tuple[tuple[Level, str], ...]] = (
    *(("chunks", "body"), ("chunks", "defines"), ("files", "body")),
)
_WORDS = tuple(f"w{number}" for number in range(60))


def _add(writer: SparseWriter, file_id: int, *bodies: str, defines: str = "") -> None:
    writer.add_file(
        FileTerms(file_id, "", "path"),
        [
            ChunkTerms(file_id * 100 + number, body, defines, defines, "", "")
            for number, body in enumerate(bodies)
        ],
    )


def _ids(reader: EmbeddedSparse, word: str, **only: set[int]) -> list[int]:
    found = reader.query([WeightedTerm(word, 1.0)], 10, only.get("files"))
    ids: list[int] = found.ids.tolist()
    return ids


def _write(folder: Path, generation: int, files: Mapping[int, Sequence[str]]) -> None:
    """Replace files, given by their chunks; a file without chunks is deleted."""
    writer = SparseWriter(folder)
    for file_id, bodies in files.items():
        writer.remove_file(file_id)
        if bodies:
            _add(writer, file_id, *bodies, defines=bodies[0].split()[0])
    writer.commit(generation)


def test_terms_match_chunks_files_and_definitions(tmp_path: Path) -> None:
    create_index(tmp_path)
    writer = SparseWriter(tmp_path)
    _add(writer, 1, "zebra stripes zebra", "giraffe neck", defines="zebracrossing")
    _add(writer, 2, "zebra only")
    writer.commit(4)
    reader = EmbeddedSparse(tmp_path)
    assert reader.generation == 4
    assert _ids(reader, "zebra") == [100, 200]
    assert _ids(reader, "zebra", files={2}) == [200]
    assert reader.definers(["zebracrossing", "nothing"]) == {
        "zebracrossing": [100, 101],
        "nothing": [],
    }
    assert reader.stems("computed stripes") == ["comput", "stripe"]
    ids, masks = reader.matches(["zebra", "neck"], 10, among="chunk", ids=[101, 100, 200])
    assert dict(zip(ids.tolist(), masks.tolist(), strict=True)) == {101: 2, 100: 1, 200: 1}
    ids, masks = reader.matches(["zebra", "neck"], 1, among="file", ids=[1])
    # The chunk that matches the last term comes first.
    assert (ids.tolist(), masks.tolist()) == ([101], [2])
    assert reader.file_frequencies(["zebra", "neck", "lion"]) == (2, [2, 1, 0])
    assert (reader.is_known("zebracrossing"), reader.is_known("neck")) == (True, True)
    assert not reader.is_known("lion")


def test_files_are_found_by_words_and_parts_of_words(tmp_path: Path) -> None:
    create_index(tmp_path)
    _write(tmp_path, 1, {1: ["retrybackoff alpha"], 2: ["retry alpha alpha"], 3: ["backoff beta"]})
    reader = EmbeddedSparse(tmp_path)
    assert reader.files_with([], ["back"], 10, None) == [1, 3]
    assert reader.files_with([], ["back", "retry"], 10, None) == [1]
    assert reader.files_with(["alpha"], [], 10, None) == [2, 1]
    assert reader.files_with(["alpha"], ["back"], 10, None) == [1]
    assert reader.files_with([], ["back"], 10, {3}) == [3]
    assert reader.files_with([], ["ff\nbeta", "backoff beta"], 10, None) == []


def test_names_are_found_within_a_number_of_edits(tmp_path: Path) -> None:
    create_index(tmp_path)
    names = ["sentineltimer", "sentineltimers", "sentnieltimer", "sentimer", "größe"]
    _write(tmp_path, 1, {at: [name] for at, name in enumerate(names, start=1)})
    reader = EmbeddedSparse(tmp_path)
    assert reader.near_definers("sentineltimer", 0, 10) == [100]
    # One edit, or two swapped letters.
    assert reader.near_definers("sentineltimer", 1, 10) == [100, 200, 300]
    assert reader.near_definers("sentineltimer", 1, 2) == [100, 200]
    assert reader.near_definers("größe", 1, 10) == [500]
    assert reader.near_definers("x", 2, 10) == []


def test_terms_near_a_word_are_the_same_as_in_a_plain_comparison() -> None:
    rng = Random(3)
    terms = sorted({"".join(rng.choices("abc", k=rng.randrange(1, 7))) for _ in range(300)})
    terms_of_field = TermList(
        np.frombuffer("".join(f"{term}\n" for term in terms).encode(), np.uint8)
    )
    assert len(terms) > 100
    for word in ("abcab", "a", "ccccc", "bca"):
        for distance in (0, 1, 2):
            expected = [
                at
                for at, term in enumerate(terms)
                if edit_distance(word, term, distance) <= distance
            ]
            assert terms_of_field.find_near(word, distance) == expected


def test_long_lengths_are_rounded_to_four_bits() -> None:
    lengths = np.array([0, 23, 24, 25, 39, 40, 41, 43, 56, 59, 60, 1_000, 70_000], np.uint32)
    expected = [0, 23, 24, 25, 39, 40, 40, 42, 56, 56, 60, 984, 65_560]
    assert round_lengths(lengths).tolist() == expected


def test_an_open_index_does_not_contain_later_commits(tmp_path: Path) -> None:
    create_index(tmp_path)
    _write(tmp_path, 1, {1: ["zebra"]})
    reader = EmbeddedSparse(tmp_path)
    writer = SparseWriter(tmp_path)
    writer.remove_file(1)
    _add(writer, 1, "lion")
    assert _ids(EmbeddedSparse(tmp_path), "zebra") == [100]  # the new chunk is not committed yet
    writer.commit(2)
    assert (_ids(reader, "zebra"), _ids(reader, "lion")) == ([100], [])
    now = EmbeddedSparse(tmp_path, earlier=reader)
    assert (_ids(now, "zebra"), _ids(now, "lion")) == ([], [100])


def test_an_abandoned_batch_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rootle.index.local.inverted_index.segment_builder._MAX_TERMS", 4)
    create_index(tmp_path)
    _write(tmp_path, 1, {1: ["zebra"]})
    before = sorted(tmp_path.iterdir())
    writer = SparseWriter(tmp_path)
    _add(writer, 2, *["one two three four five"] * 5)
    assert len(list(tmp_path.iterdir())) > len(before)
    writer.abandon()
    assert sorted(tmp_path.iterdir()) == before


def test_scores_are_bm25_with_exact_statistics(tmp_path: Path) -> None:
    bodies = {1: "fox fox den", 2: "fox river river river stone", 3: "stone"}
    create_index(tmp_path)
    _write(tmp_path, 1, {at: [body] for at, body in bodies.items()})
    found = EmbeddedSparse(tmp_path).query([WeightedTerm("fox", 2.0), WeightedTerm("den", 1.0)], 9)
    mean = sum(len(body.split()) for body in bodies.values()) / 3

    def bm25(term: str, body: str) -> float:
        holders = sum(term in other.split() for other in bodies.values())
        count, length = body.split().count(term), len(body.split())
        idf = math.log(1 + (3 - holders + 0.5) / (holders + 0.5))
        return idf * 2.2 * count / (count + 1.2 * (0.25 + 0.75 * length / mean))

    expected = [2 * bm25("fox", bodies[at]) + bm25("den", bodies[at]) for at in (1, 2)]
    assert found.ids.tolist() == [100, 200]
    assert found.scores.tolist() == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_scores_do_not_depend_on_the_writes(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal files get exactly equal scores after any sequence of writes and merges."""
    rng = Random(seed)
    monkeypatch.setattr("rootle.index.local.inverted_index.segment_builder._MAX_TERMS", 2_000)
    monkeypatch.setattr("rootle.index.local.inverted_index.merging._SMALLEST", 2)
    (tmp_path / "edited").mkdir()
    (tmp_path / "new").mkdir()
    create_index(tmp_path / "edited")
    create_index(tmp_path / "new")
    files: dict[int, Sequence[str]] = {}
    for generation in range(1, 30):
        batch = {rng.randrange(1, 40): _random_chunks(rng) for _ in range(rng.randrange(1, 8))}
        _write(tmp_path / "edited", generation, batch)
        files = {at: bodies for at, bodies in {**files, **batch}.items() if bodies}
    _write(tmp_path / "new", 1, dict(sorted(files.items())))
    edited, new = EmbeddedSparse(tmp_path / "edited"), EmbeddedSparse(tmp_path / "new")
    assert len(edited.segments) > 4  # so the segments were not merged into one
    for _ in range(30):
        terms = [WeightedTerm(rng.choice(_WORDS), rng.choice([1.0, 0.3])) for _ in range(5)]
        only = rng.choice([None, set(rng.sample(range(1, 40), 9))])
        for level, field in _SEARCHED:
            k = rng.choice([3, 20, 500])
            left = edited.field_scores(level, [field], terms, k, files=only)
            right = new.field_scores(level, [field], terms, k, files=only)
            assert left.ids.tolist() == right.ids.tolist()
            assert left.scores.tolist() == right.scores.tolist()
        words = [term.text for term in terms]
        assert edited.file_frequencies(words) == new.file_frequencies(words)
        assert edited.files_with(words[:1], ["w1"], 99, only) == new.files_with(
            words[:1], ["w1"], 99, only
        )


def _random_chunks(rng: Random) -> Sequence[str]:
    if rng.random() < 0.2:
        return ()
    return [
        " ".join(rng.choices(_WORDS, [1 / (at + 1) for at in range(60)], k=rng.randrange(1, 200)))
        for _ in range(rng.randrange(1, 6))
    ]


@pytest.mark.slow
def test_the_number_of_segments_stays_small(tmp_path: Path) -> None:
    create_index(tmp_path)
    words = " ".join(_WORDS)
    for generation in range(1, 120):
        _write(tmp_path, generation, {generation % 50: [words] * 3})
    reader = EmbeddedSparse(tmp_path)
    assert len(reader.segments) < 20
    assert len(list(tmp_path.glob("*.words"))) == len(reader.segments)
    found = reader.field_scores("files", ["body"], [WeightedTerm("w7", 1.0)], 99)
    assert sorted(found.ids.tolist()) == list(range(50))


@pytest.mark.slow
@pytest.mark.parametrize("files", [1, 70])
def test_more_chunks_than_one_segment_can_number_are_found(files: int, tmp_path: Path) -> None:
    """A single file can have more chunks than the 16-bit positions in a segment can number."""
    create_index(tmp_path)
    writer = SparseWriter(tmp_path)
    each = 70_000 // files
    for file_id in range(1, files + 1):
        first = (file_id - 1) * each
        chunks = [
            ChunkTerms(at, f"w{at % 97}", "", "", "", "") for at in range(first, first + each)
        ]
        writer.add_file(FileTerms(file_id, "place", "path"), chunks)
    writer.commit(1)
    reader = EmbeddedSparse(tmp_path)
    for word in (0, 50, 96):
        found = reader.query([WeightedTerm(f"w{word}", 1.0)], 100_000)
        assert sorted(found.ids.tolist()) == list(range(word, 70_000, 97))
    assert reader.file_frequencies(["w50", "w97"]) == (files, [files, 0])


def test_segments_of_one_size_are_merged_and_large_ones_are_left() -> None:
    small, large = SegmentSize(50, 0, 900), SegmentSize(60_000, 0, 9_000_000)
    assert choose_merge([small] * 3) == []
    assert choose_merge([small, large, small, small, small]) == [0, 2, 3, 4]
    assert choose_merge([large] * 9) == []
    # Most documents of the second segment are deleted.
    assert choose_merge([large, SegmentSize(50, 30, 900)]) == [1]


def test_equal_scores_are_in_the_order_of_paths(tmp_path: Path) -> None:
    create_index(tmp_path)
    _write(tmp_path, 1, {at: ["zebra", "zebra"] for at in range(1, 30)})
    by_path = [*range(29, 0, -1)]
    reader = EmbeddedSparse(tmp_path, DocumentOrder(by_path))
    assert _ids(reader, "zebra")[:4] == [2900, 2901, 2800, 2801]
    assert reader.near_definers("zebra", 0, 3) == [2900, 2901, 2800]


@pytest.mark.slow
@pytest.mark.parametrize("damaged", ["flip", "cut"])
def test_damage_is_reported_and_never_changes_an_answer(tmp_path: Path, damaged: str) -> None:
    rng = Random(5)
    folder = tmp_path / "index"
    folder.mkdir()
    create_index(folder)
    _write(folder, 1, {at: _random_chunks(rng) for at in range(1, 60)})
    expected = _answers(folder)
    intact = {path: path.read_bytes() for path in folder.iterdir()}
    outcomes: Counter[str] = Counter()
    for _ in range(250):
        path = rng.choice(list(intact))
        content = bytearray(intact[path])
        at = rng.randrange(len(content))
        if damaged == "flip":
            content[at] ^= 1 << rng.randrange(8)
        path.write_bytes(content if damaged == "flip" else content[:at])
        try:
            outcomes["equal" if _answers(folder) == expected else "different"] += 1
        except IndexStorageError as error:
            outcomes["reported" if "rootle index --rebuild" in str(error) else "unclear"] += 1
        path.write_bytes(intact[path])
    assert outcomes["different"] == outcomes["unclear"] == 0
    assert outcomes["reported"] > 100


def _answers(folder: Path) -> list[object]:
    reader = EmbeddedSparse(folder)
    found = [reader.query([WeightedTerm(word, 1.0)], 50) for word in _WORDS]
    scored = [(ranked.ids.tolist(), ranked.scores.tolist()) for ranked in found]
    return [reader.generation, scored, reader.files_with([], ["w1"], 99, None)]


@pytest.mark.parametrize("seed", range(20))
def test_postings_are_decoded_as_they_were_encoded(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 1 << 16))
    postings = []
    for term in range(int(rng.integers(0, 40))):
        count = min(size, int(rng.choice([1, 2, 5, 100, size // 10 + 1, size])))
        documents = np.sort(rng.choice(size, count, replace=False))
        counts = np.minimum(rng.geometric(rng.choice([1.0, 0.5, 0.05, 0.0001]), count), 1 << 16)
        postings.append((np.full(count, term), documents, counts))
    none = np.zeros(0, np.int64)
    terms, documents, counts = (
        np.concatenate([none, *(p[at] for p in postings)]) for at in (0, 1, 2)
    )
    encoded = encode_postings(terms, documents, counts, len(postings))
    for term, (_, own, own_counts) in enumerate(postings):
        block = encoded.blocks[encoded.starts[term] : encoded.starts[term + 1]]
        form, frequency = int(encoded.forms[term]), int(encoded.frequencies[term])
        decoded = decode_postings(block, form, frequency)
        assert decoded.documents.tolist() == own.tolist()
        assert decoded.counts.tolist() == np.minimum(own_counts, (1 << 16) - 1).tolist()
    found = np.stack(encoded.decode_all())
    order = np.lexsort((found[1], found[0]))
    assert found[:2, order].tolist() == [terms.tolist(), documents.tolist()]
    assert found[2, order].tolist() == np.minimum(counts, (1 << 16) - 1).tolist()


@pytest.mark.parametrize("size", [1, 5, 200, 3_000, 50_000])
@pytest.mark.parametrize("k", [1, 5, 200])
def test_the_highest_scores_are_selected_with_those_that_equal_the_lowest(
    size: int, k: int
) -> None:
    rng = np.random.default_rng(size)
    spread = rng.random(size).astype(np.float32)
    for scores in (spread, np.round(spread, 1), np.full(size, -np.inf, dtype=np.float32)):
        lowest = np.sort(scores)[-min(k, size)]
        assert top_positions(scores, k).tolist() == np.flatnonzero(scores >= lowest).tolist()


@pytest.mark.slow
def test_a_repeated_search_finds_the_same_even_among_other_files(tmp_path: Path) -> None:
    create_index(tmp_path)
    rng = Random(3)
    texts = {at: [" ".join(rng.choices(_WORDS, k=8)) for _ in range(3)] for at in range(1, 30)}
    _write(tmp_path, 1, texts)
    kept = EmbeddedSparse(tmp_path)
    for _ in range(200):
        terms = [WeightedTerm(word, 1.0) for word in rng.sample(_WORDS, 3)]
        for files in (None, set(rng.sample(sorted(texts), 9)), set[int]()):
            fresh = EmbeddedSparse(tmp_path).query(terms, 10, files)
            found = kept.query(terms, 10, files)
            assert found.ids.tolist() == fresh.ids.tolist()
            assert found.scores.tolist() == fresh.scores.tolist()
