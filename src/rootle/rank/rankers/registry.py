"""The rankers by name: how each orders files, and how it scores the chunks of a page."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal, Protocol

from rootle.config.fields import Config
from rootle.errors import UnavailableError
from rootle.rank.confidence import Confidence, judge, shipped_calibration
from rootle.rank.rankers.feature_sum import RankedFiles, rank_files
from rootle.rank.rankers.learned import rank_learned, shipped_trees
from rootle.rank.rankers.weighted_sum import rank_by_weighted_sum, weighted_sum_scores
from rootle.rank.ranking_inputs import Flags, Floats, RankingInputs
from rootle.rank.signals import Signals, before_signals, chosen_signals, with_signals
from rootle.rank.spans import span_scores

_log = logging.getLogger(__name__)

RankerName = Literal["learned", "features", "specified"]


class SpanScores(Protocol):
    """How well each chunk of a page answers, from what both legs say of it."""

    def __call__(
        self, bm25: Floats, dense: Floats, defines: Flags, *, is_symbol: bool
    ) -> Floats: ...


@dataclass(frozen=True, slots=True)
class Ranker:
    name: RankerName
    rank: Callable[[RankingInputs], RankedFiles]  # raises UnavailableError where it cannot
    score_spans: SpanScores
    # What its scores are worth; without it they are shown as they are.
    judge: Callable[[RankingInputs, RankedFiles], Confidence] | None
    signals: Signals | None = None  # what else counts


def _judge_features(evidence: RankingInputs, ranked: RankedFiles) -> Confidence:
    return judge(evidence, before_signals(ranked), shipped_calibration("features"))


def _rank_learned(evidence: RankingInputs) -> RankedFiles:
    return rank_learned(evidence, shipped_trees())


def _judge_learned(evidence: RankingInputs, ranked: RankedFiles) -> Confidence:
    return judge(evidence, before_signals(ranked), shipped_calibration("learned"))


FEATURES: Final = Ranker("features", rank_files, span_scores, _judge_features)
LEARNED: Final = Ranker("learned", _rank_learned, span_scores, _judge_learned)


def chosen_ranker(config: Config) -> Ranker:
    signals = chosen_signals(config)
    if config.use_learned_reranker:
        return LEARNED if signals is None else replace(LEARNED, signals=signals)
    weights = config.reranker_weights
    return Ranker(
        "specified",
        partial(rank_by_weighted_sum, weights=weights),
        partial(weighted_sum_scores, weights=weights),
        None,
        signals,
    )


def ranked_by(
    ranker: Ranker, evidence: RankingInputs, timeout_ms: float
) -> tuple[Ranker, RankedFiles]:
    """The files in their order, and by whom: `features` where the other fails or is late."""
    used, ranked = _ranked_by(ranker, evidence, timeout_ms)
    if ranker.signals is not None:
        ranked = with_signals(ranker.signals, evidence, ranked)
    return used, ranked


def _ranked_by(
    ranker: Ranker, evidence: RankingInputs, timeout_ms: float
) -> tuple[Ranker, RankedFiles]:
    started = time.perf_counter()
    try:
        ranked = ranker.rank(evidence)
        took_ms = (time.perf_counter() - started) * 1000
        if took_ms <= timeout_ms:
            return ranker, ranked
        _log.warning("the %s ranker took %.0f ms", ranker.name, took_ms)
    except UnavailableError as error:
        _log.warning("the %s ranker is left out: %s", ranker.name, error)
    return FEATURES, FEATURES.rank(evidence)
