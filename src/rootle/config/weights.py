"""Records for the ranking configuration: weights of signals, and trust rules."""

from __future__ import annotations

from dataclasses import dataclass

from rootle.config.field import config_field


@dataclass(frozen=True, slots=True)
class RerankerWeights:
    """Weights of the signals in the weighted sum."""

    dense_score: float = config_field(
        0.5, "Weight of the cosine similarity of the chunk.", (0.0, 1_000.0)
    )
    sparse_score: float = config_field(
        0.3, "Weight of the BM25 score of the chunk.", (0.0, 1_000.0)
    )
    recency_boost: float = config_field(
        0.1, "Weight of the recency of the last change.", (0.0, 1_000.0)
    )
    file_importance: float = config_field(
        0.1, "Weight of the importance of a file, which grows with its size.", (0.0, 1_000.0)
    )


@dataclass(frozen=True, slots=True)
class SignalWeights:
    """Weights of additional signals in the `learned` and `features` rankers."""

    recency_boost: float = config_field(
        0.0, "Weight of the recency of the last change.", (0.0, 1_000.0)
    )
    file_importance: float = config_field(
        0.0, "Weight of the importance of a file, which grows with its size.", (0.0, 1_000.0)
    )


@dataclass(frozen=True, slots=True)
class TrustRule:
    """A factor for the scores of the files that match an author, a path, or both."""

    author: str = config_field("", "Name or e-mail address of the author of the last commit.")
    path: str = config_field("", "File, folder or glob.")
    weight: float = config_field(1.5, "Factor of the score.", (0.0, 1_000.0))

    def __post_init__(self) -> None:
        if not (self.author or self.path):
            raise ValueError('needs an "author", a "path" or both')
