"""What a configuration makes count beside words and vectors: recency, importance and trust."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np

from rootle.config.fields import Config
from rootle.config.weights import SignalWeights, TrustRule
from rootle.rank.path_features import is_at
from rootle.rank.rankers.feature_sum import WEIGHTS, RankedFiles
from rootle.rank.rankers.weighted_sum import file_importance, recency_boost
from rootle.rank.ranking_inputs import FileInputs, Floats, RankingInputs

# A weight counts as much as one of the feature ranking.
_WHOLE: Final = sum(weight for weight in WEIGHTS.values() if weight > 0)
TRUST: Final = "trust"


@dataclass(frozen=True, slots=True)
class Signals:
    """How the scores of a ranker are changed."""

    weights: SignalWeights
    trust: tuple[TrustRule, ...]

    @property
    def needs_authors(self) -> bool:
        return any(rule.author for rule in self.trust)

    def changes(self, scores: Floats, files: FileInputs) -> dict[str, Floats]:
        """By name what is added to the score of each candidate file."""
        changes = {}
        if self.weights.recency_boost:
            gained = recency_boost(files.days) * (self.weights.recency_boost / _WHOLE)
            changes["recencyBoost"] = gained
        if self.weights.file_importance:
            gained = file_importance(files.sizes) * (self.weights.file_importance / _WHOLE)
            changes["fileImportance"] = gained
        if self.trust:
            raised = sum(changes.values(), start=scores)
            changes[TRUST] = raised * (self._factors(files) - 1.0)
        return changes

    def _factors(self, files: FileInputs) -> Floats:
        authors = files.authors or ("",) * len(files.paths)
        both = zip(files.paths, authors, strict=True)
        return np.array([trust_in(path, author, self.trust) for path, author in both])


def chosen_signals(config: Config) -> Signals | None:
    """Those of a configuration; None where nothing is to count."""
    # The specified sum has its own weights for recency and importance.
    weights = config.signal_weights if config.use_learned_reranker else SignalWeights()
    if weights == SignalWeights() and not config.trust:
        return None
    return Signals(weights, config.trust)


@lru_cache(maxsize=65_536)
def trust_in(path: str, author: str, rules: tuple[TrustRule, ...]) -> float:
    """The product of the weights of all rules that a file fits."""
    factor = 1.0
    for rule in rules:
        if (not rule.path or is_at(path, rule.path)) and (
            not rule.author or is_author(author, rule.author)
        ):
            factor *= rule.weight
    return factor


def is_author(author: str, wanted: str) -> bool:
    """Whether "Name <address>" is meant by it, or by the name or the address alone."""
    name, _, address = author.casefold().rstrip(">").rpartition(" <")
    return bool(author) and wanted.casefold() in (author.casefold(), name, address)


def with_signals(signals: Signals, evidence: RankingInputs, ranked: RankedFiles) -> RankedFiles:
    """The files in their order when the signals count as well."""
    changes = signals.changes(ranked.scores, evidence.files)
    scores = np.maximum(sum(changes.values(), start=ranked.scores), 0.0)
    paths = evidence.files.paths
    order = sorted(ranked.order, key=lambda at: (-scores[at], paths[at]))
    return replace(ranked, order=tuple(order), scores=scores, signals={**ranked.signals, **changes})


def before_signals(ranked: RankedFiles) -> RankedFiles:
    """The scores that the features gave, in the order that the signals made of them."""
    if not ranked.signals:
        return ranked
    scores = np.maximum(ranked.scores - sum(ranked.signals.values()), 0.0)
    return replace(ranked, scores=scores, signals={})
