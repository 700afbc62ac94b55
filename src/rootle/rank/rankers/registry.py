"""The rankers: choose one by the configuration, and fall back to another if it fails."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal, Protocol

from rootle.config.fields import Config
from rootle.errors import UnavailableError
from rootle.rank.confidence import (
    Confidence,
    detect_voice,
    estimate_confidence,
    shipped_calibration,
)
from rootle.rank.rankers.features_ranker import RankedFiles, rank_files
from rootle.rank.rankers.learned_ranker import rank_learned, shipped_trees
from rootle.rank.rankers.specified_ranker import rank_by_weighted_sum, weighted_sum_scores
from rootle.rank.ranking_inputs import Flags, Floats, RankingInputs
from rootle.rank.signals import Signals, apply_signals, configured_signals, remove_signals
from rootle.rank.span_choice import span_scores

_log = logging.getLogger(__name__)

RankerName = Literal["learned", "features", "specified"]


class SpanScores(Protocol):
    """A function that computes scores for the chunks of a page from the scores of both legs."""

    def __call__(
        self, bm25: Floats, dense: Floats, defines: Flags, *, is_symbol: bool
    ) -> Floats: ...


@dataclass(frozen=True, slots=True)
class Ranker:
    """A way to order files, to score the chunks of a page, and to estimate confidence."""

    name: RankerName
    rank: Callable[[RankingInputs], RankedFiles]  # may raise UnavailableError
    score_spans: SpanScores
    # Calibrates the scores. If None, the raw scores are shown.
    confidence: Callable[[RankingInputs, RankedFiles], Confidence] | None
    signals: Signals | None = None


def _features_confidence(inputs: RankingInputs, ranked: RankedFiles) -> Confidence:
    calibration = shipped_calibration("features", detect_voice(inputs))
    return estimate_confidence(inputs, remove_signals(ranked), calibration)


def _rank_learned(inputs: RankingInputs) -> RankedFiles:
    return rank_learned(inputs, shipped_trees())


def _learned_confidence(inputs: RankingInputs, ranked: RankedFiles) -> Confidence:
    calibration = shipped_calibration("learned", detect_voice(inputs))
    return estimate_confidence(inputs, remove_signals(ranked), calibration)


FEATURES: Final = Ranker("features", rank_files, span_scores, _features_confidence)
LEARNED: Final = Ranker("learned", _rank_learned, span_scores, _learned_confidence)


def configured_ranker(config: Config) -> Ranker:
    """Return the configured ranker: `learned`, or `specified` if `useLearnedReranker` is off."""
    signals = configured_signals(config)
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


def rank_within(
    ranker: Ranker, inputs: RankingInputs, timeout_ms: float
) -> tuple[Ranker, RankedFiles]:
    """Rank the files. Return the ranker that was used, and the ranking.

    If the given ranker fails or exceeds the timeout, the ranker `features` is used.
    """
    used, ranked = _rank_or_fall_back(ranker, inputs, timeout_ms)
    if ranker.signals is not None:
        ranked = apply_signals(ranker.signals, inputs, ranked)
    return used, ranked


def _rank_or_fall_back(
    ranker: Ranker, inputs: RankingInputs, timeout_ms: float
) -> tuple[Ranker, RankedFiles]:
    started = time.perf_counter()
    try:
        ranked = ranker.rank(inputs)
        took_ms = (time.perf_counter() - started) * 1000
        if took_ms <= timeout_ms:
            return ranker, ranked
        _log.warning("the %s ranker is not used: it took %.0f ms", ranker.name, took_ms)
    except UnavailableError as error:
        _log.warning("the %s ranker is not used: %s", ranker.name, error)
    return FEATURES, FEATURES.rank(inputs)
