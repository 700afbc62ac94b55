"""Rerankers provided by plugins."""

from __future__ import annotations

from collections.abc import Sequence

from rootle.errors import PluginError, RerankError
from rootle.plugins.registry import FoundPlugin, call_plugin, make_component
from rootle.protocols import Hit


class UnavailableReranker:
    """A reranker whose plugin cannot be loaded. Every call raises RerankError."""

    def __init__(self, name: str, reason: str) -> None:
        self._reason = f'the reranker "{name}" is not available: {reason}'

    def rerank(self, query: str, documents: Sequence[str]) -> list[Hit]:  # noqa: ARG002
        """Raise RerankError, so that the search keeps its order and reports the failure."""
        raise RerankError(self._reason)


class PluginReranker:
    """A reranker that calls a plugin's function, which returns a score for each document."""

    def __init__(self, found: FoundPlugin) -> None:
        self._found = found
        self._scores = make_component(found)

    def rerank(self, query: str, documents: Sequence[str]) -> list[Hit]:
        """Return hits, best first. Raise RerankError if the plugin fails or returns no numbers."""
        try:
            scores = call_plugin(
                self._found, lambda: [float(s) for s in self._scores(query, list(documents))]
            )
        except PluginError as error:
            raise RerankError(str(error)) from error
        if len(scores) != len(documents):
            name = self._found.plugin.name
            raise RerankError(
                f"the reranker {name} returned {len(scores)} scores for {len(documents)} documents"
            )
        hits = [Hit(index, score) for index, score in enumerate(scores)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.index))
