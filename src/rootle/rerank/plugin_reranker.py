"""A reranker that somebody else wrote, behind the socket of ours."""

from __future__ import annotations

from collections.abc import Sequence

from rootle.errors import PluginError, RerankError
from rootle.plugins.registry import Found, called, made
from rootle.protocols import Hit


class UnavailableReranker:
    """In the place of one that may stand in a plugin that cannot be loaded."""

    def __init__(self, name: str, reason: str) -> None:
        self._reason = f'there is no reranker "{name}": {reason}'

    def rerank(self, query: str, documents: Sequence[str]) -> list[Hit]:  # noqa: ARG002
        """Raises RerankError, so that the order before it stands and the answer says so."""
        raise RerankError(self._reason)


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
