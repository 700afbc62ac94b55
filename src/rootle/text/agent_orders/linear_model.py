"""A linear model of the words in orders to an agent, with human-readable weights.

`training/agent_orders/train.py` writes the weights.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from rootle.text.agent_orders.order_features import (
    WINDOW_SENTENCES,
    Sentence,
    read_sentences,
    window_features,
)

WEIGHTS_PATH: Final = Path(__file__).with_name("order_weights.json")
SIGN_SUM: Final = "sum of signs"
_MAX_SIGN_SUM: Final = 2.0
# If a window has more features than this, each feature counts less. Otherwise, long lists of words
# would reach a high sum by chance.
_FULL_FEATURES: Final = 60
_LENGTH_EXPONENT: Final = 0.6

FoundSign = tuple[int, int, str, float]  # start, end, group and weight


class LinearModel(NamedTuple):
    """The weights of the features; a window with a score of at least 1 gives orders."""

    bias: float
    weights: Mapping[str, float]

    def score(self, features: Mapping[str, float]) -> float:
        """Return the bias plus the sum of the values times their weights."""
        weights = self.weights
        return self.bias + sum(
            value * weights[name] for name, value in features.items() if name in weights
        )


class ScoredSentence(NamedTuple):
    """The strongest sentence of a window, its position, and the groups of signs in the window."""

    score: float  # the score of the window
    start: int
    end: int
    groups: tuple[str, ...]


@cache
def load_model() -> LinearModel:
    data = json.loads(WEIGHTS_PATH.read_text(encoding="utf-8"))
    return LinearModel(data["bias"], data["weights"])


def strongest_sentence(plain: str, signs: Sequence[FoundSign]) -> ScoredSentence | None:
    """Return the strongest sentence of the window with the highest score; None for empty text."""
    model = load_model()
    best: ScoredSentence | None = None
    for window, groups, features in read_windows(plain, signs):
        score = model.score(features)
        if best is None or score > best.score:
            chosen = max(window, key=lambda one: model.score(dict.fromkeys(one.features, 1.0)))
            best = ScoredSentence(score, chosen.start, chosen.end, groups)
    return best


def read_windows(
    plain: str, signs: Sequence[FoundSign], size: int = WINDOW_SENTENCES
) -> Iterator[tuple[Sequence[Sentence], tuple[str, ...], dict[str, float]]]:
    """Yield the sentences, sign groups and features of each window in a normalized text.

    `signs` must be in order.
    """
    sentences = read_sentences(plain)
    starts = [start for start, _, _, _ in signs]
    for at in range(max(1, len(sentences) - size + 1) if sentences else 0):
        window = sentences[at : at + size]
        groups: dict[str, float] = defaultdict(float)
        first, last = (bisect_left(starts, one) for one in (window[0].start, window[-1].end))
        for _, _, group, weight in signs[first:last]:
            groups[group] = max(groups[group], weight)
        names = window_features(window, groups)
        value = min(1.0, (_FULL_FEATURES / max(1, len(names))) ** _LENGTH_EXPONENT)
        features = dict.fromkeys(names, value)
        if groups:
            features[SIGN_SUM] = value * min(_MAX_SIGN_SUM, sum(groups.values()))
        yield window, tuple(sorted(groups)), features
