"""The learned ranker: its trees, their effect, and the fallback."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from ranking_sample import floats, make_inputs
from sample import make_repository

from rootle.errors import UnavailableError
from rootle.models.shipped import RANKER_V1, model_file
from rootle.rank.confidence import Voice, shipped_calibration
from rootle.rank.rankers import learned_ranker, registry
from rootle.rank.rankers.features_ranker import RankedFiles
from rootle.rank.rankers.learned_ranker import (
    correct_order,
    raise_definition,
    shipped_trees,
)
from rootle.rank.rankers.learned_ranker_columns import COLUMNS
from rootle.rank.rankers.tree_ensemble import GradientBoostedTrees, load_trees, save_trees

_DETAILED = "how long does a worker wait before the next attempt when the server refused a job"


def _forest() -> GradientBoostedTrees:
    """Return two trees: one splits column a at 0.5 and then b at 2, the other splits b at 9."""
    return GradientBoostedTrees(
        columns=("a", "b"),
        column=np.array([[0, 0, 1, 0, 0], [1, 0, 0, 0, 0]], dtype=np.int16),
        threshold=np.array([[0.5, 0, 2.0, 0, 0], [9.0, 0, 0, 0, 0]]),
        left=np.array([[1, 1, 3, 3, 4], [1, 1, 2, 3, 4]], dtype=np.int16),
        right=np.array([[2, 1, 4, 3, 4], [2, 1, 2, 3, 4]], dtype=np.int16),
        value=np.array([[0, 1.0, 0, 10.0, 20.0], [0, 0.25, 0.5, 0, 0]]),
        depth=2,
    )


def test_the_score_is_the_sum_of_one_leaf_per_tree() -> None:
    rows = np.array([[0.5, 9.0], [0.6, 2.0], [0.6, 9.5]])
    assert _forest().scores(rows).tolist() == [1.25, 10.25, 20.5]
    assert _forest().scores(rows[:0]).tolist() == []


def test_saved_trees_are_loaded_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "trees.npz"
    save_trees(path, _forest())
    rows = np.array([[0.1, 1.0], [0.9, 1.0], [0.9, 3.0]])
    again = load_trees(path, ("a", "b"))
    assert again.scores(rows).tolist() == _forest().scores(rows).tolist()
    with pytest.raises(UnavailableError, match="other columns"):
        load_trees(path, ("a", "c"))
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(UnavailableError, match="reinstall rootle"):
        load_trees(path, ("a", "b"))


def test_the_shipped_models_are_complete_and_small() -> None:
    assert shipped_trees().columns == COLUMNS
    assert model_file(RANKER_V1, "trees.npz").stat().st_size < 1_000_000
    for name in ("learned", "features"):
        for voice in get_args(Voice):
            assert 0 < shipped_calibration(name, voice).threshold < 1


def test_only_the_best_files_are_reordered() -> None:
    nothing = np.zeros((4, 0))
    by_sum = RankedFiles((2, 0, 1, 3), np.array([0.5, 0.4, 0.6, 0.1]), nothing, nothing)
    ranked = correct_order(by_sum, np.array([-0.2, 0.0, 0.3]))
    assert ranked.order == (1, 0, 2, 3)
    assert ranked.learned is not None
    assert ranked.learned.tolist() == [0.0, 0.3, -0.2, 0.0]


def test_short_questions_are_ranked_by_the_weighted_sum(tmp_path: Path, make_app: Any) -> None:
    app = make_app(make_repository(tmp_path / "repo"))
    topic = app.search("retry backoff", explain=True)
    assert all("learned" not in (result.explanation or {}) for result in topic.results)
    place = app.search(_DETAILED, explain=True)
    assert any("learned" in (result.explanation or {}) for result in place.results)
    assert place.degraded == ()


def test_the_features_ranker_is_used_without_trees_and_reported_as_degraded(
    tmp_path: Path, make_app: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> GradientBoostedTrees:
        raise UnavailableError("cannot read the ranker")

    monkeypatch.setattr(registry, "shipped_trees", missing)
    response = make_app(make_repository(tmp_path / "repo")).search(_DETAILED)
    assert "learned" in response.degraded
    assert response.results[0].file_path == "src/net/retry.py"


@pytest.mark.slow
def test_a_ranker_that_exceeds_its_time_limit_is_not_used(
    tmp_path: Path, make_app: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = replace(registry.LEARNED, rank=_slow(registry.LEARNED.rank))
    monkeypatch.setattr(registry, "LEARNED", slow)
    app = make_app(make_repository(tmp_path / "repo"), reranker_timeout_ms=1)
    assert "learned" in app.search(_DETAILED).degraded


def _slow(rank: Any) -> Any:
    def rank_slowly(evidence: Any) -> RankedFiles:
        for _ in range(2_000):
            np.sort(np.arange(5_000)[::-1])
        ranked: RankedFiles = rank(evidence)
        return ranked

    return rank_slowly


def test_the_ranker_named_specified_can_be_configured(tmp_path: Path, make_app: Any) -> None:
    root = make_repository(tmp_path / "repo")
    response = make_app(root, use_learned_reranker=False).search(_DETAILED)
    assert response.results
    assert response.confident is None  # its scores are sums, not probabilities
    assert "learned" not in response.degraded


def test_the_trees_reorder_at_most_thirty_files() -> None:
    assert learned_ranker.RERANKED == 30  # the training examples contain no lower ranks


@pytest.mark.parametrize(
    ("question", "definers", "expected"),
    [
        ("depth of the client, DepthStrategy", [0, 0, 0, 0, 1], (0, 1, 4, 2, 3)),
        ("depth of the client, DepthStrategy", [0, 0, 0, 0.5, 0.5], (0, 1, 2, 3, 4)),
        ("depth of the client, DepthStrategy", [0, 1, 0, 0, 0], (0, 1, 2, 3, 4)),
        ("depth of the client", [0, 0, 0, 0, 1], (0, 1, 2, 3, 4)),
    ],
)
def test_the_only_definition_of_a_name_is_among_the_first_three_files(
    question: str, definers: list[float], expected: tuple[int, ...]
) -> None:
    scores = [0.9, 0.8, 0.7, 0.6, 0.1]
    inputs = make_inputs(question, [f"docs/{at}.md" for at in range(5)], scores)
    inputs = replace(inputs, files=replace(inputs.files, definers=floats(definers)))
    ranked = RankedFiles((0, 1, 2, 3, 4), floats(scores), np.zeros((5, 1)), np.zeros((5, 1)))
    raised = raise_definition(inputs, ranked)
    assert raised.order == expected
    assert [raised.scores[at] for at in raised.order] == sorted(raised.scores, reverse=True)
