"""An embedding that somebody else wrote, behind the adapter of ours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rootle.plugins.registry import Found, call_with_timeout, make_component
from rootle.protocols import Matrix


class PluginModel:
    """A TextModel that asks a function of texts for one vector each."""

    def __init__(self, found: Found) -> None:
        self._found = found
        self._embed = make_component(found)
        self.dimensions = 0  # only an answer will tell

    def vectors(self, texts: Sequence[str], *, is_query: bool, timeout_s: float) -> Matrix:  # noqa: ARG002 - a function of texts is told no more
        """Raises PluginError, which is an UnavailableError, where it fails or is late."""

        def ask() -> Matrix:
            return np.asarray(self._embed(list(texts)), dtype=np.float32)

        return call_with_timeout(self._found, ask, timeout_s)
