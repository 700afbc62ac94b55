"""A model that was chosen, and its opening where it is a table.

Apart from the choosing: a process that reads files is told which model it is, and is slow to start
with every module that it loads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rootle.embed.prefixes import NO_PREFIXES, Prefixes
from rootle.protocols import Embedder

Kind = Literal["static", "model2vec", "onnx", "sentence-transformers", "cloud", "plugin"]


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model, and what changes with the vectors that it gives."""

    kind: Kind
    model: str  # its name, or its folder
    fingerprint: str
    prefixes: Prefixes = NO_PREFIXES
    remark: str = ""  # why it is not the one that was asked for

    @property
    def is_table(self) -> bool:
        """Whether it only looks words up: as fast as reading, in any process, without failing."""
        return self.kind in ("static", "model2vec")


def open_table(choice: ModelChoice) -> Embedder:
    """A model that only looks words up."""
    if choice.kind == "static":
        from rootle.embed.static import StaticEmbedder

        return StaticEmbedder(choice.model)
    from rootle.embed.model2vec import Model2VecEmbedder

    return Model2VecEmbedder(choice.model, choice.fingerprint, choice.prefixes)
