"""Recency, importance and trust as additional signals, which are off by default."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sample import MakeApp, git, write

from rootle.config.fields import Config
from rootle.config.weights import SignalWeights, TrustRule
from rootle.protocols import Hit
from rootle.rank.question.parsed import parse_question
from rootle.rank.rankers.features_ranker import WEIGHTS, RankedFiles, rank_files
from rootle.rank.rankers.registry import LEARNED, configured_ranker, rank_within
from rootle.rank.ranking_inputs import ChunkInputs, FileInputs, RankingInputs
from rootle.rank.signals import configured_signals, is_author, remove_signals, trust_factor
from rootle.search.factory import SearchedIndex, SearchFeatures, open_agent
from rootle.types import SearchQuery, SearchResponse

_WHOLE = sum(weight for weight in WEIGHTS.values() if weight > 0)
_FRESH = SignalWeights(recency_boost=5.0)


def _evidence(days: list[float], authors: tuple[str, ...] = ()) -> RankingInputs:
    """Return files with one chunk each, in descending order of their word scores."""
    count = len(days)
    numbers, nothing = np.arange(count), np.zeros(count)
    bm25 = np.linspace(4.0, 3.0, count)
    chunks = ChunkInputs(
        numbers, numbers, bm25, nothing, nothing, nothing, np.zeros(count, dtype=bool)
    )
    paths = tuple(f"{'extra' if at % 2 else 'src'}/file_{at}.py" for at in range(count))
    sizes = np.full(count, 100_000.0)
    others: Any = (*[nothing] * 7, np.array(days), sizes, nothing, nothing, nothing, authors)
    files = FileInputs(numbers, paths, bm25, *others)
    return RankingInputs(parse_question("retry", str.split), chunks, files)


def _rank(evidence: RankingInputs, **settings: Any) -> RankedFiles:
    return rank_within(configured_ranker(Config(**settings)), evidence, 10_000)[1]


def test_rankers_have_no_signals_by_default() -> None:
    assert configured_ranker(Config()) is LEARNED
    assert configured_ranker(Config(use_learned_reranker=False)).signals is None
    # The weights of the ranker `specified` do not affect other rankers.
    assert configured_signals(Config(reranker_weights=Config().reranker_weights)) is None


def test_recency_and_importance_are_added_by_their_weights() -> None:
    evidence = _evidence([1_000.0, 0.0])
    plain = rank_files(evidence)
    ranked = _rank(evidence, signal_weights=SignalWeights(5.0, 2.0))
    assert (plain.order, ranked.order) == ((0, 1), (1, 0))
    gained = ranked.scores - plain.scores
    assert gained.tolist() == pytest.approx([2.0 / _WHOLE, 7.0 / _WHOLE])
    assert ranked.signals["recencyBoost"].tolist() == pytest.approx([0, 5.0 / _WHOLE], abs=1e-9)
    assert ranked.signals["fileImportance"].tolist() == pytest.approx([2.0 / _WHOLE] * 2)
    assert remove_signals(ranked).scores.tolist() == pytest.approx(plain.scores.tolist())


@pytest.mark.parametrize("learned", [True, False])
def test_trust_multiplies_the_score_of_every_ranker(learned: bool) -> None:
    evidence = _evidence([0.0, 0.0], ("A <a@x>", "Bea Bo <bea@x.org>"))
    rules = (TrustRule(author="bea@x.org", weight=3.0), TrustRule(path="extra/**", weight=0.9))
    plain = _rank(evidence, use_learned_reranker=learned)
    ranked = _rank(evidence, use_learned_reranker=learned, trust=rules)
    assert ranked.scores.tolist() == pytest.approx([plain.scores[0], plain.scores[1] * 2.7])
    assert ranked.order == (1, 0)
    given = [sum(values[at] for values in ranked.signals.values()) for at in (0, 1)]
    assert (ranked.features.sum(axis=1) + given).tolist() == pytest.approx(ranked.scores.tolist())


def test_signal_weights_do_not_affect_the_ranker_named_specified() -> None:
    evidence = _evidence([30.0, 0.0])
    plain = _rank(evidence, use_learned_reranker=False)
    other = _rank(evidence, use_learned_reranker=False, signal_weights=_FRESH)
    assert plain.scores.tolist() == other.scores.tolist()
    assert plain.scores[0] == pytest.approx(0.3 * 1.0 + 0.1 * 0.5 + 0.1)
    assert plain.signals["recencyBoost"].tolist() == pytest.approx([0.05, 0.1])


def test_the_weights_of_matching_rules_are_multiplied() -> None:
    rules = (
        TrustRule(author="Ada", weight=2.0),
        TrustRule(path="extra", weight=0.5),
        TrustRule(author="Ada", path="*.md", weight=4.0),
    )
    assert trust_factor("src/a.py", "Ada <ada@x>", rules) == 2.0
    assert trust_factor("extra/x/a.py", "Ada <ada@x>", rules) == 1.0
    assert trust_factor("a.md", "Ada <ada@x>", rules) == 8.0
    assert trust_factor("a.md", "", rules) == 1.0


@pytest.mark.parametrize("wanted", ["Ada Ace", "ada ACE", "ada@x.org", "Ada Ace <ada@x.org>"])
def test_an_author_matches_by_name_or_address(wanted: str) -> None:
    assert is_author("Ada Ace <ada@x.org>", wanted)
    assert not is_author("Ada Acer <bada@x.org>", wanted)
    assert not is_author("", wanted)


@pytest.fixture
def twice(tmp_path: Path) -> Path:
    """Return a repository with two similar files by two authors, in the folders `lib` and `old`."""
    root = tmp_path / "twice"
    text = "def rotate_ledger(page):\n    return page.turn()\n"
    write(root, "lib/ledger.py", text)
    git(root.parent, "init", "-q", "-b", "main", root)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "his", "--author", "Cy <cy@example.com>")
    write(root, "old/ledger.py", text + "# and turn back\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "hers", "--author", "Bea <bea@example.com>")
    return root


def _first(response: SearchResponse) -> str:
    return response.results[0].file_path


@pytest.mark.slow
def test_trust_uses_the_author_of_the_last_commit(twice: Path, make_app: MakeApp) -> None:
    question = "how is the ledger rotated"
    bea, cy = (
        make_app(twice, trust=(TrustRule(author=name, weight=4.0),)) for name in ("Bea", "Cy")
    )
    first = bea.search(question, explain=True)
    assert _first(first) == "old/ledger.py"
    assert first.results[0].explanation is not None
    assert first.results[0].explanation["trust"] > 0
    assert _first(cy.search(question)) == "lib/ledger.py"
    # After this commit, Bea is the last author of both files.
    write(
        twice, "lib/ledger.py", "def rotate_ledger(page):\n    return page.turn(1)\n", when_s=None
    )
    git(
        twice,
        "commit",
        "-qam",
        "hers too",
        "--author",
        "Bea <bea@example.com>",
        when_s=1_710_000_000,
    )
    again = cy.search(question, explain=True)
    shown = {result.file_path: result.explanation or {} for result in again.results}
    assert not any("trust" in explanation for explanation in shown.values())


def test_trust_applies_to_the_scores_of_a_reranker(twice: Path, make_app: MakeApp) -> None:
    class Flat:
        """A reranker that gives all documents the same score."""

        def rerank(self, query: str, documents: Sequence[str]) -> list[Hit]:
            return [Hit(index, 0.5) for index in range(len(documents))]

    query = SearchQuery("how is the ledger rotated")
    for trusted in ("lib", "old"):
        app = make_app(twice, trust=(TrustRule(path=trusted, weight=1.2),))
        app.index()
        agent = open_agent(
            SearchedIndex(app._container.indexer().snapshot, app._container.embedder),
            app.config,
            SearchFeatures(
                reranker=Flat(),
                ranker=configured_ranker(app.config),
            ),
        )
        response = agent.search(query)
        agent.close()
        assert response.results[0].file_path == f"{trusted}/ledger.py"
        assert response.results[0].score == pytest.approx(0.6)
