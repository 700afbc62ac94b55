"""A reranker that somebody else wrote, behind the socket of ours."""

from __future__ import annotations

from collections.abc import Sequence

from rootle.errors import PluginError, RerankError
from rootle.plugins import Found, called, made
from rootle.protocols import Hit


class PluginReranker:
    """Asks a function of a question and documents for one score each."""

    def __init__(self, found: Found) -> None:
        self._found = found
        self._scores = made(found)

    def rerank(self, query: str, documents: Sequence[str]) -> list[Hit]:
        """Raises RerankError where it fails, or gives something else than a number for each."""
        try:
            scores = called(
                self._found, lambda: [float(s) for s in self._scores(query, list(documents))]
            )
        except PluginError as error:
            raise RerankError(str(error)) from error
        if len(scores) != len(documents):
            name = self._found.plugin.name
            raise RerankError(
                f"the reranker {name} gave {len(scores)} scores for {len(documents)} documents"
            )
        hits = [Hit(index, score) for index, score in enumerate(scores)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.index))
