"""The ranker of added sources: the configured one, with the weights of the sources."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rootle.config.fields import Config
from rootle.config.weights import SignalWeights
from rootle.rank.rankers.registry import Ranker, configured_ranker
from rootle.rank.ranking_inputs import FileInputs, Floats
from rootle.rank.signals import TRUST, Signals

FindFactors = Callable[[Sequence[str]], Sequence[float]]


@dataclass(frozen=True, slots=True)
class SourceSignals(Signals):
    """Multiplies the scores of documents by the weights of their sources, and by their votes."""

    find_factors: FindFactors

    def changes(self, scores: Floats, files: FileInputs) -> dict[str, Floats]:
        """Return the changes to the scores of the candidates, by the name of the signal."""
        factors = np.array(self.find_factors(files.paths), dtype=np.float64)
        return {TRUST: scores * (factors - 1.0)}


def ranker_of_sources(config: Config, find_factors: FindFactors) -> Ranker:
    """Return the configured ranker with factors for documents, given by their URIs."""
    signals = SourceSignals(SignalWeights(), (), find_factors)
    return replace(configured_ranker(config), signals=signals)
