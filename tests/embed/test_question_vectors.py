"""Vectors of questions that people ask in their own words."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rootle.embed.question_vectors import QuestionVectors
from rootle.embed.static import StaticEmbedder
from rootle.protocols import WeightedTerm

RELATED = (WeightedTerm("evict", 0.2), WeightedTerm("cach", 0.2), WeightedTerm("capac", 0.1))
QUESTION = "which saved answer is thrown out first when there is no room left"
ANSWER = "Evict the least recently used entry when the cache exceeds its capacity"


def vectors_of(changes: dict[int, list[float]]) -> QuestionVectors:
    """Return two-dimensional vectors; `changes` maps rows to changes, and "evict" has row 7."""
    rows = sorted(changes)
    arrays: dict[str, NDArray[Any]] = {
        "term_rows": np.array([7, -1], np.int32),
        "rows": np.array(rows, np.int32),
        "codes": np.array([changes[row] for row in rows], np.int8).reshape(-1, 2),
        "scales": np.full(len(rows), 0.5, np.float16),
        "basis": np.eye(2, dtype=np.float16),
    }
    return QuestionVectors(["evict", "unseen"], arrays)


def test_a_question_is_nearer_to_its_answer_with_related_terms() -> None:
    embedder = StaticEmbedder()
    answer = embedder.embed([ANSWER])[0]
    plain = embedder.embed([QUESTION])[0]
    adapted = embedder.embed_question(QUESTION, RELATED)
    assert adapted @ answer > plain @ answer + 0.1
    assert np.linalg.norm(adapted) == pytest.approx(1.0, abs=1e-5)


def test_a_question_of_unknown_words_has_the_vector_of_its_related_terms() -> None:
    embedder = StaticEmbedder()
    adapted = embedder.embed_question("zzqx wqzt", RELATED)
    assert adapted @ embedder.embed(["evict cache capacity"])[0] > 0.9


def test_a_question_of_unknown_words_without_terms_has_no_vector() -> None:
    assert not StaticEmbedder().embed_question("zzqx wqzt", ()).any()


def test_terms_without_a_row_are_ignored() -> None:
    rows, weights = vectors_of({3: [1, 0]}).find_rows(
        [WeightedTerm("unseen", 1.0), WeightedTerm("evict", 0.5), WeightedTerm("other", 1.0)]
    )
    assert (rows.tolist(), weights.tolist()) == ([7], [0.5])


def test_the_changes_of_known_words_are_added() -> None:
    vectors = vectors_of({3: [0, 2], 5: [0, -2]})
    start, none = np.array([1, 0], np.float32), np.zeros(2, np.float32)
    assert vectors.adapt(start, none, Counter([9])).tolist() == [1, 0]
    upward = vectors.adapt(start, none, Counter([3]))
    assert upward[1] > 0.5
    assert vectors.adapt(start, none, Counter([3, 5])).tolist() == pytest.approx([1, 0])
    diluted = vectors.adapt(start, none, Counter([3, 9, 10, 11]))
    assert 0 < diluted[1] < upward[1]
