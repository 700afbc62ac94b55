"""The chosen embedding model, and how to open it if it is a lookup table.

This module is separate from `factory`, which worker processes do not need: they receive the chosen
model, and each module that they load delays their start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rootle.embed.prefixes import NO_PREFIXES, Prefixes
from rootle.protocols import Embedder

Kind = Literal["static", "model2vec", "onnx", "sentence-transformers", "server", "plugin"]


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model, with a fingerprint that changes whenever its vectors change."""

    kind: Kind
    model: str  # name or folder
    fingerprint: str
    prefixes: Prefixes = NO_PREFIXES
    note: str = ""  # why the requested model is not used

    @property
    def is_table(self) -> bool:
        """Whether the model only looks up words, which takes little time and never fails."""
        return self.kind in ("static", "model2vec")


def open_table(choice: ModelChoice) -> Embedder:
    """Open a model that only looks up words."""
    if choice.kind == "static":
        from rootle.embed.static import StaticEmbedder

        return StaticEmbedder(choice.model)
    from rootle.embed.model2vec import Model2VecEmbedder

    return Model2VecEmbedder(choice.model, choice.fingerprint, choice.prefixes)
