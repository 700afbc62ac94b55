"""Embedding model from a plugin."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rootle.plugins.registry import FoundPlugin, call_with_timeout, make_component
from rootle.protocols import Matrix


class PluginModel:
    """A TextModel that calls a plugin: a function from texts to vectors."""

    def __init__(self, found: FoundPlugin) -> None:
        self._found = found
        self._embed = make_component(found)
        self.dimensions = 0  # unknown

    def vectors(self, texts: Sequence[str], *, is_query: bool, timeout_s: float) -> Matrix:  # noqa: ARG002 - a plugin accepts only texts
        """Return one vector per text.

        Raises PluginError if the plugin fails, is too slow, or returns anything else.
        """

        def embed() -> Matrix:
            rows = np.asarray(self._embed(list(texts)), dtype=np.float32)
            if rows.ndim != 2 or len(rows) != len(texts) or not rows.shape[1]:
                raise ValueError(
                    f"it returned an array of shape {rows.shape} for {len(texts)} texts, expected "
                    "one vector for each text"
                )
            return rows

        return call_with_timeout(self._found, embed, timeout_s)
