"""Training of the embedding: counts, batches, loss and gradients, evaluation and weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from benchmarks.common.labels import Span
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from training.embedding import held_out
from training.embedding.batches import (
    BatchSampler,
    BatchSettings,
    choose_vocabulary,
    count_matrix,
    group_runs,
    is_in_answer,
    restrict_vocabulary,
    text_cells,
)
from training.embedding.chunk_retrieval import answering_chunks, format_scores, score_chunks
from training.embedding.contrastive import (
    LazyAdam,
    TrainSettings,
    embed_counts,
    info_nce,
    initial_rows,
    normalization_gradient,
    normalize,
    train,
)
from training.embedding.dense_benchmark import Corpus, best_files, shares_few_words
from training.embedding.distillation import reduce_dimensions, rotate_toward
from training.embedding.held_out import HeldOutPairs, answer_ranks, held_out_mask, is_held_out
from training.embedding.merge_tables import align_table, merge_tables, principal_directions
from training.embedding.teacher_benchmark import query_cosines, scale_like
from training.embedding.text_counts import count_subwords, row_numbers, text_matrix
from training.embedding.vector_cache import cached_vectors
from training.embedding.weight_files import quantize, quantized_copy, read_weights, write_weights
from training.pairs.subword_counts import (
    ExtractedPairs,
    PairWriter,
    has_pairs,
    load_pairs,
    merge_pairs,
    save_pairs,
    select_pairs,
)
from training.pairs.text_pair import TextPair

Floats = NDArray[np.float32]


def extract_pairs(*projects: tuple[str, list[TextPair]]) -> ExtractedPairs:
    writer = PairWriter()
    for name, pairs in projects:
        writer.start_project(name)
        for pair in pairs:
            writer.add(pair, "python")
    return writer.finish()


_DOG = TextPair("dog barks", "the dog barks dog", "doc", 1)
_CAT = TextPair("cat sleeps", "a cat that sleeps", "name", 2)


def texts_of(pairs: ExtractedPairs, side: int) -> list[dict[str, int]]:
    """Return the words and counts of each query (side 0) or answer (side 1)."""
    counts = pairs.counts
    found = []
    for number in range(len(counts)):
        cells = slice(counts.starts[2 * number + side], counts.starts[2 * number + side + 1])
        words = [pairs.vocabulary[word] for word in counts.words[cells]]
        found.append(dict(zip(words, counts.counts[cells].tolist(), strict=True)))
    return found


def test_pairs_are_counted_by_subword() -> None:
    pairs = extract_pairs(("one", [_DOG]), ("two", [_CAT, _DOG]))
    assert texts_of(pairs, 0) == [
        {"dog": 1, "barks": 1}, {"cat": 1, "sleeps": 1}, {"dog": 1, "barks": 1}
    ]  # fmt: skip
    assert texts_of(pairs, 1)[0] == {"the": 1, "dog": 2, "barks": 1}
    assert pairs.counts.projects.tolist() == [0, 1, 1]
    by_word = dict(zip(pairs.vocabulary, pairs.project_counts.tolist(), strict=True))
    assert (by_word["dog"], by_word["cat"]) == (2, 1)


def test_pairs_are_saved_and_loaded(tmp_path: Path) -> None:
    pairs = extract_pairs(("one", [_DOG, _CAT]))
    assert not has_pairs(tmp_path)
    save_pairs(pairs, tmp_path)
    assert has_pairs(tmp_path)
    loaded = load_pairs(tmp_path)
    assert texts_of(loaded, 1) == texts_of(pairs, 1)
    assert loaded.project_names == ["one"]


def test_merging_shards_renumbers_pairs_and_drops_duplicates() -> None:
    new = TextPair("new dog", "dog", "doc", 1)
    shards = [("one", [_DOG, _CAT]), ("two", [_CAT, _DOG]), ("three", [new])]
    merged = merge_pairs([extract_pairs(shard) for shard in shards])
    assert texts_of(merged, 0) == [
        {"dog": 1, "barks": 1}, {"cat": 1, "sleeps": 1}, {"new": 1, "dog": 1}
    ]  # fmt: skip
    assert [merged.project_names[one] for one in merged.counts.projects] == ["one", "one", "three"]
    by_word = dict(zip(merged.vocabulary, merged.project_counts.tolist(), strict=True))
    assert by_word["dog"] == 2


def test_selected_pairs_keep_the_given_order() -> None:
    pairs = extract_pairs(("one", [_DOG, _CAT]))
    swapped = select_pairs(pairs.counts, np.array([1, 0]))
    assert swapped.answer_ids.tolist() == [2, 1]
    assert swapped.starts.tolist() == [0, 2, 6, 8, 11]


def test_the_vocabulary_has_the_words_that_occur_in_the_most_projects() -> None:
    pairs = extract_pairs(("one", [_DOG]), ("two", [_DOG, _CAT]))
    chosen = choose_vocabulary(pairs, 3, 2)
    assert [pairs.vocabulary[word] for word in chosen] == ["dog", "barks", "the"]
    few = choose_vocabulary(pairs, 100, 2)
    assert len(few) == 3


def test_pairs_that_lose_their_query_are_dropped() -> None:
    pairs = extract_pairs(("one", [_DOG, TextPair("cat", "one dog two the barks", "doc", 3)]))
    kept = [pairs.vocabulary.index(word) for word in ("dog", "the", "barks", "one", "two")]
    smaller = restrict_vocabulary(pairs.counts, np.array(kept), len(pairs.vocabulary))
    assert len(smaller) == 0  # the first answer keeps only three words
    kept.append(pairs.vocabulary.index("cat"))
    smaller = restrict_vocabulary(pairs.counts, np.array(kept), len(pairs.vocabulary))
    assert smaller.answer_ids.tolist() == [3]
    assert smaller.words.tolist() == [5, 3, 0, 4, 1, 2]


def test_matrices_contain_square_roots_of_counts() -> None:
    pairs = extract_pairs(("one", [_DOG, _CAT]))
    matrix = count_matrix(pairs.counts, 1, np.array([0]), len(pairs.vocabulary)).toarray()[0]
    assert matrix[pairs.vocabulary.index("dog")] == pytest.approx(np.sqrt(2), abs=1e-3)
    assert np.count_nonzero(matrix) == 3
    cells, sizes = text_cells(pairs.counts.starts, np.array([3, 0]))
    assert sizes.tolist() == [4, 2]
    assert cells.tolist() == [7, 8, 9, 10, 0, 1]


def test_each_run_belongs_to_one_group() -> None:
    groups = np.array([0, 1, 0, 1, 0, 1, 0])
    order = group_runs(groups, 2, np.random.default_rng(0))
    assert sorted(order.tolist()) == list(range(7))
    assert max(np.diff(np.flatnonzero(np.diff(groups[order]))), default=0) <= 4
    whole = groups[group_runs(groups, 10, np.random.default_rng(0))].tolist()
    assert whole in ([0, 0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0, 0])


def test_query_words_are_looked_up_in_the_answer_of_their_pair() -> None:
    found = is_in_answer(
        (np.array([5, 7, 5]), np.array([0, 0, 1])), (np.array([5, 8]), np.array([0, 1]))
    )
    assert found.tolist() == [True, False, False]


def test_batches_mark_pairs_with_the_same_answer() -> None:
    pairs = [TextPair(f"dog {n}", f"the dog barks {n}", "doc", min(n, 2)) for n in range(4)]
    counts = extract_pairs(("one", pairs)).counts
    settings = BatchSettings(pairs=4, run=4, dropout=0.0, shared_share=0.0)
    sampler = BatchSampler(counts, settings, 10)
    (batch,) = sampler.epoch(0)
    assert sampler.batches_per_epoch == 1
    assert batch.same_answer.sum() == 2  # the last two pairs, in both directions
    assert not batch.same_answer.diagonal().any()
    assert batch.queries.shape == (4, len(batch.used))


def test_shared_words_are_dropped_from_queries() -> None:
    pairs = [TextPair("dog own", f"the dog barks x{n}", "doc", n) for n in range(50)]
    counts = extract_pairs(("one", pairs)).counts
    settings = BatchSettings(pairs=50, dropout=0.0, shared_dropout=1.0, shared_share=1.0)
    (batch,) = BatchSampler(counts, settings, 60).epoch(0)
    assert batch.queries.sum(axis=1).max() == 1.0
    assert batch.answers.sum(axis=1).min() >= 3.0


def test_an_epoch_limits_kinds_and_languages() -> None:
    pairs = [TextPair(f"a{n}", f"b{n} c d e", "doc" if n % 2 else "name", n) for n in range(40)]
    counts = extract_pairs(("one", pairs)).counts
    settings = BatchSettings(pairs=10, per_kind=10, per_language=100)
    assert BatchSampler(counts, settings, 200).batches_per_epoch == 2
    assert (
        BatchSampler(counts, BatchSettings(pairs=10, per_language=10), 200).batches_per_epoch == 1
    )


def test_the_loss_of_a_batch_follows_the_formula() -> None:
    logits = np.array([[2.0, 1.0], [0.0, 3.0]], np.float32)
    rows = np.log(np.exp(logits).sum(axis=1)) - logits.diagonal()
    columns = np.log(np.exp(logits).sum(axis=0)) - logits.diagonal()
    loss, slope = info_nce(logits.copy())
    assert loss == pytest.approx(float((rows + columns).mean() / 2), rel=1e-5)
    assert float(slope.sum()) == pytest.approx(0.0, abs=1e-6)


def test_gradients_agree_with_finite_differences() -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(4, 4))
    _, slope = info_nce(logits.astype(np.float32))
    step = np.zeros_like(logits)
    step[1, 2] = 1e-2
    higher, lower = (info_nce((logits + sign * step).astype(np.float32))[0] for sign in (1, -1))
    assert slope[1, 2] == pytest.approx((higher - lower) / 2e-2, abs=1e-3)

    vectors = rng.normal(size=(3, 5)).astype(np.float32)
    target = rng.normal(size=(3, 5)).astype(np.float32)
    units, lengths = normalize(vectors)
    gradient = normalization_gradient(target, units, lengths)
    moved = vectors.copy()
    moved[1, 3] += 1e-2
    change = (normalize(moved)[0] * target).sum() - (units * target).sum()
    assert gradient[1, 3] == pytest.approx(change / 1e-2, abs=2e-2)


def test_rare_words_start_with_long_rows() -> None:
    rows = initial_rows(np.array([1, 50]), 100, TrainSettings(dimensions=8))
    lengths = np.linalg.norm(rows, axis=1)
    ratio = np.log(101 / 1.5) / np.log(101 / 50.5)
    assert lengths[0] / lengths[1] == pytest.approx(ratio, rel=1e-4)


def test_updates_are_limited_to_the_used_rows_and_their_length() -> None:
    rows = np.ones((3, 4), np.float32)
    optimizer = LazyAdam(rows, TrainSettings(max_row_length=1.0))
    optimizer.update(np.array([1]), np.full((1, 4), 0.5, np.float32), rate=0.1)
    assert rows[0].tolist() == [1.0] * 4
    assert np.linalg.norm(rows[1]) == pytest.approx(1.0)
    free = np.ones((1, 4), np.float32)
    LazyAdam(free, TrainSettings()).update(np.array([0]), np.full((1, 4), 0.5, np.float32), 0.1)
    # The first step is the rate times the gradient divided by its root mean square.
    assert free[0].tolist() == pytest.approx([0.9] * 4)


def test_training_finds_the_answers_of_held_out_pairs() -> None:
    words = "fox owl bee ant elk cod eel asp hen ram".split()
    pairs = [
        TextPair(f"{word} question", f"answer about {word}x thing number{repeat}", "doc", number)
        for repeat in range(8)
        for number, word in enumerate(words)
    ]
    counts = extract_pairs(("one", pairs)).counts
    rows = initial_rows(np.full(40, 1), 1, TrainSettings(dimensions=16))
    evaluation = HeldOutPairs(counts, 40)
    before = evaluation.mrr(rows)
    sampler = BatchSampler(counts, BatchSettings(pairs=20, run=20, dropout=0.0), 40)
    settings = TrainSettings(dimensions=16, epochs=10, learning_rate=0.05)
    trained = train(rows.copy(), sampler, settings, evaluation.mrr)
    assert evaluation.count == 80
    assert evaluation.mrr(trained) > before
    assert evaluation.mrr(trained) > 0.9


def test_ranks_ignore_rivals_with_the_same_answer() -> None:
    scores = np.array([[0.5, 0.9, 0.8], [0.1, 0.7, 0.2], [0.3, 0.3, 0.3]], np.float32)
    assert answer_ranks(scores, np.array([1, 2, 3])).tolist() == [3, 1, 3]
    assert answer_ranks(scores, np.array([1, 1, 3])).tolist() == [2, 1, 3]


def test_recall_counts_the_first_ten_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [TextPair(f"q{number}", f"a{number}", "doc", number) for number in range(60)]
    held_out_pairs = HeldOutPairs(extract_pairs(("one", pairs)).counts, 80)
    monkeypatch.setattr(held_out, "answer_ranks", lambda *_: np.array([1, 10, 11, 20]))
    mrr, recall = held_out_pairs.evaluate(np.ones((80, 2), np.float32))
    assert mrr == pytest.approx((1 + 1 / 10 + 1 / 11 + 1 / 20) / 4)
    assert recall == 0.5


def test_about_one_project_in_sixteen_is_held_out() -> None:
    chosen = [is_held_out(f"npm/package{number}") for number in range(3_200)]
    assert 150 < sum(chosen) < 250
    pairs = extract_pairs(*((f"npm/package{number}", [_DOG]) for number in range(40)))
    assert held_out_mask(pairs, pairs.counts).tolist() == chosen[:40]


def test_weights_are_quantized_and_read_again(tmp_path: Path) -> None:
    rows = np.array([[1.0, -0.5], [0.0, 0.0], [300.0, 1.0]], np.float32)
    small, scales = quantize(rows)
    assert small.tolist() == [[127, -64], [0, 0], [127, 0]]
    assert scales[0, 0] == np.float16(1 / 127)
    write_weights(rows, ["a", "b", "c"], tmp_path)
    read, words = read_weights(tmp_path)
    assert words == ["a", "b", "c"]
    assert np.array_equal(read, quantized_copy(rows))
    assert np.allclose(read, rows, rtol=0.01, atol=1.2)
    for name in ("rows.npy", "scales.npy", "vocab.txt"):
        (tmp_path / name).rename(tmp_path / f"v1_{name}")
    assert np.array_equal(read_weights(tmp_path / "v1")[0], read)


def test_tables_are_aligned_by_word(tmp_path: Path) -> None:
    write_weights(np.array([[127.0], [64.0]], np.float32), ["a", "b"], tmp_path)
    assert align_table(tmp_path, ["b", "x", "a"])[:, 0].tolist() == pytest.approx(
        [64, 0, 127], 0.01
    )


def test_principal_directions_have_the_most_variance() -> None:
    rows = np.array([[3.0, 0.1, 0.0], [3.0, -0.1, 0.0], [0.0, 0.0, 1.0]], np.float32)
    texts = csr_matrix(np.array([[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]], np.float32))
    directions = principal_directions(rows, [texts], 2)
    assert directions.shape == (3, 2)
    assert np.abs(directions[:, 0]).tolist() == pytest.approx([1, 0, 0], abs=0.02)
    assert np.abs(directions[:, 1]).tolist() == pytest.approx([0, 0, 1], abs=0.02)


def test_merging_keeps_the_dimensions_of_the_trained_table(tmp_path: Path) -> None:
    pairs = extract_pairs(("one", [_DOG, _CAT]))
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(len(pairs.vocabulary), 4)).astype(np.float32)
    other = rng.normal(size=(2, 4)).astype(np.float32)
    for name, factor in (("one", 1), ("ten", 10)):
        write_weights(np.float32(factor) * other, ["dog", "cat"], tmp_path / name)
    merged = merge_tables(rows, pairs.vocabulary, [tmp_path / "one"], pairs.counts)
    assert merged.shape == rows.shape
    # The scale of the other table does not matter, up to the signs of the columns.
    scaled = merge_tables(rows, pairs.vocabulary, [tmp_path / "ten"], pairs.counts)
    assert np.allclose(np.abs(merged), np.abs(scaled), atol=1e-2)


def test_texts_become_unit_vectors_of_known_words() -> None:
    counts = count_subwords("readLine read_line Other")
    assert counts == {"read": 2, "line": 2, "other": 1}
    assert count_subwords("x" * 1000) == {}
    matrix = text_matrix([counts, {}], row_numbers(["", "line", "read"]), 3)
    assert matrix.toarray()[0].tolist() == pytest.approx([0, np.sqrt(2), np.sqrt(2)])
    vectors = embed_counts(np.eye(3, dtype=np.float32), matrix)
    assert vectors[0].tolist() == pytest.approx([0, np.sqrt(0.5), np.sqrt(0.5)])
    assert vectors[1].tolist() == [0, 0, 0]


def test_vectors_are_computed_once_in_order_of_text_length(tmp_path: Path) -> None:
    calls: list[list[str]] = []

    def embed(texts: list[str]) -> Floats:
        calls.append(texts)
        return np.array([[float(len(text))] for text in texts], np.float32)

    for _ in range(2):
        vectors = cached_vectors(tmp_path / "v.npy", ["ccc", "a", "bb"], 1, embed)
        assert vectors[:, 0].tolist() == [3.0, 1.0, 2.0]
    assert calls == [["a", "bb", "ccc"]]


def test_chunks_are_scored_by_the_first_answer_and_the_share_of_targets() -> None:
    chunks = [("a.py", 1, 10), ("a.py", 11, 20), ("b.py", 1, 10)]
    target = (Span("a.py", 10, 11), Span("c.py", 1, 2))
    assert answering_chunks(target, chunks) == {0, 1}
    scores = np.array([0.1, 0.2, 0.9])
    score = score_chunks(scores, [{0, 1}, {5}], is_hard=True)
    assert (score.reciprocal_rank, score.recall) == (0.5, 0.5)
    none = score_chunks(scores, [set()], is_hard=False)
    assert (none.reciprocal_rank, none.recall) == (0.0, 0.0)
    assert format_scores([score, none]) == "MRR 0.2500  recall@10 0.2500  (2 questions)"


def test_only_the_first_ten_chunks_count_for_recall() -> None:
    scores = -np.arange(12.0)
    assert score_chunks(scores, [{9}, {10}], is_hard=False).recall == 0.5


def test_files_are_ranked_by_their_best_chunk() -> None:
    chunks = [("a.py", 1, 2), ("b.py", 1, 2), ("a.py", 3, 4)]
    hits = best_files(np.array([0.2, 0.5, 0.9]), chunks)
    assert [(hit.path, hit.ranges) for hit in hits] == [("a.py", ((3, 4),)), ("b.py", ((1, 2),))]


def test_a_query_is_hard_if_no_answer_has_more_than_half_of_its_words() -> None:
    corpus = Corpus([("a", 1, 2)] * 2, [{"session": 1, "of": 1}, {"session": 1, "file": 1}])
    query = {"session": 1, "file": 1, "owner": 1, "of": 3, "path": 1}
    assert shares_few_words(query, [{0}], corpus)
    assert shares_few_words(query, [{1}], corpus)  # the answer has two of the four words that count
    assert not shares_few_words({"session": 1, "file": 1, "owner": 1}, [{0}, {1}], corpus)


def test_cosines_are_scaled_to_a_reference() -> None:
    scaled = scale_like(np.array([1, 2, 3], np.float32), np.array([10, 20, 30], np.float32))
    assert scaled.tolist() == pytest.approx([10, 20, 30])


def test_a_query_is_embedded_once() -> None:
    class Model:
        fingerprint, dimensions = "m", 2
        calls = 0

        def embed(self, texts: Sequence[str]) -> Floats:
            self.calls += 1
            return np.array([[1.0, 0.0]] * len(texts), np.float32)

    model = Model()
    cosines = query_cosines(model, np.array([[0.5, 0.1], [0.2, 0.3]], np.float32))
    assert cosines("where").tolist() == cosines("where").tolist() == pytest.approx([0.5, 0.2])
    assert model.calls == 1


def test_distillation_reduces_dimensions_and_rotates_toward_the_teacher() -> None:
    rng = np.random.default_rng(0)
    part = rng.normal(size=(50, 4)).astype(np.float32) * np.array([5, 3, 0.01, 0.01], np.float32)
    reduced = reduce_dimensions([part + 7, part - 3], 2)
    assert reduced.shape == (100, 2)
    assert np.linalg.norm(reduced, axis=1) == pytest.approx(np.ones(100), abs=1e-5)
    assert np.allclose(reduced[:50], reduced[50:], atol=1e-4)  # each part is centered separately

    rows = rng.normal(size=(6, 3)).astype(np.float32)
    texts = csr_matrix(np.eye(6, dtype=np.float32))
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0].astype(np.float32)
    targets = embed_counts(rows @ rotation, texts)
    assert np.allclose(rotate_toward(rows, texts, targets), rows @ rotation, atol=1e-4)
