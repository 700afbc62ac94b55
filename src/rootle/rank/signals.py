"""Configurable signals besides words and vectors: recency, importance (file size) and trust."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np

from rootle.config.fields import Config
from rootle.config.weights import SignalWeights, TrustRule
from rootle.rank.path_features import matches_path
from rootle.rank.rankers.features_ranker import WEIGHTS, RankedFiles
from rootle.rank.rankers.specified_ranker import file_importance, recency_boost
from rootle.rank.ranking_inputs import FileInputs, Floats, RankingInputs

# Configured weights are divided by this sum, so that they have the scale of the feature weights.
_TOTAL_WEIGHT: Final = sum(weight for weight in WEIGHTS.values() if weight > 0)
TRUST: Final = "trust"


@dataclass(frozen=True, slots=True)
class Signals:
    """The configured signals, which change the scores of a ranker."""

    weights: SignalWeights
    trust: tuple[TrustRule, ...]

    def changes(self, scores: Floats, files: FileInputs) -> dict[str, Floats]:
        """Return the changes to the scores of the candidate files, by the name of the signal."""
        changes = {}
        if self.weights.recency_boost:
            gain = recency_boost(files.days) * (self.weights.recency_boost / _TOTAL_WEIGHT)
            changes["recencyBoost"] = gain
        if self.weights.file_importance:
            gain = file_importance(files.sizes) * (self.weights.file_importance / _TOTAL_WEIGHT)
            changes["fileImportance"] = gain
        if self.trust:
            total = sum(changes.values(), start=scores)
            changes[TRUST] = total * (self._factors(files) - 1.0)
        return changes

    def _factors(self, files: FileInputs) -> Floats:
        authors = files.authors or ("",) * len(files.paths)
        pairs = zip(files.paths, authors, strict=True)
        return np.array([trust_factor(path, author, self.trust) for path, author in pairs])


@dataclass(frozen=True, slots=True)
class DocumentFactors(Signals):
    """Multiplies the score of each document by a factor, and applies no other signal."""

    find_factors: Callable[[Sequence[str]], Sequence[float]]  # returns a factor for each path

    def changes(self, scores: Floats, files: FileInputs) -> dict[str, Floats]:
        """Return the changes to the scores of the candidate files, by the name of the signal."""
        factors = np.array(self.find_factors(files.paths), dtype=np.float64)
        return {TRUST: scores * (factors - 1.0)}


def configured_signals(config: Config) -> Signals | None:
    """Return the signals of a configuration, or None if it sets no signal."""
    # The `specified` ranker has its own weights for recency and importance.
    weights = config.signal_weights if config.use_learned_reranker else SignalWeights()
    if weights == SignalWeights() and not config.trust:
        return None
    return Signals(weights, config.trust)


@lru_cache(maxsize=65_536)
def trust_factor(path: str, author: str, rules: tuple[TrustRule, ...]) -> float:
    """Return the product of the weights of all rules that match a file."""
    factor = 1.0
    for rule in rules:
        if (not rule.path or matches_path(path, rule.path)) and (
            not rule.author or is_author(author, rule.author)
        ):
            factor *= rule.weight
    return factor


def is_author(author: str, wanted: str) -> bool:
    """Return whether `wanted` is the author ("Name <address>") or just the name or address."""
    name, _, address = author.casefold().rstrip(">").rpartition(" <")
    return bool(author) and wanted.casefold() in (author.casefold(), name, address)


def apply_signals(signals: Signals, inputs: RankingInputs, ranked: RankedFiles) -> RankedFiles:
    """Return the ranking with the signals added to the scores."""
    changes = signals.changes(ranked.scores, inputs.files)
    scores = np.maximum(sum(changes.values(), start=ranked.scores), 0.0)
    paths = inputs.files.paths
    order = sorted(ranked.order, key=lambda at: (-scores[at], paths[at]))
    return replace(ranked, order=tuple(order), scores=scores, signals={**ranked.signals, **changes})


def remove_signals(ranked: RankedFiles) -> RankedFiles:
    """Return the ranking in the same order, with scores that exclude the signals."""
    if not ranked.signals:
        return ranked
    scores = np.maximum(ranked.scores - sum(ranked.signals.values()), 0.0)
    return replace(ranked, scores=scores, signals={})
