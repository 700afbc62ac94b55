"""What a configuration may say of the order of results: weights of signals, and trust."""

from __future__ import annotations

from dataclasses import dataclass

from rootle.config.field import config_field


@dataclass(frozen=True, slots=True)
class RerankerWeights:
    """What each signal counts in the weighted sum."""

    dense_score: float = config_field(0.5, "The cosine of the chunk.", (0.0, 1_000.0))
    sparse_score: float = config_field(0.3, "The score of its words.", (0.0, 1_000.0))
    recency_boost: float = config_field(0.1, "How lately the file was changed.", (0.0, 1_000.0))
    file_importance: float = config_field(0.1, "How much the file matters.", (0.0, 1_000.0))


@dataclass(frozen=True, slots=True)
class SignalWeights:
    """What signals beside words and vectors count in the `learned` and `features` rankers."""

    recency_boost: float = config_field(0.0, "How lately the file was changed.", (0.0, 1_000.0))
    file_importance: float = config_field(0.0, "How much the file matters.", (0.0, 1_000.0))


@dataclass(frozen=True, slots=True)
class TrustRule:
    """Whose files count more or less: those of an author, at a place, or both."""

    author: str = config_field("", "A name or an address, as the last commit has it.")
    path: str = config_field("", "A file, a folder or a glob.")
    weight: float = config_field(1.5, "The score is multiplied by it.", (0.0, 1_000.0))

    def __post_init__(self) -> None:
        if not (self.author or self.path):
            raise ValueError('names neither an "author" nor a "path"')
