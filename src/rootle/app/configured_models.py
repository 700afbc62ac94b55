"""The models that one app uses for embedding, reranking and query expansion."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rootle.config.fields import DEFAULT_MODEL, Config
from rootle.types import WarningCallback

if TYPE_CHECKING:
    from rootle.embed.model_choice import ModelChoice
    from rootle.protocols import Embedder, Reranker
    from rootle.search.stages.query_expansion import QueryExpansion


class ConfiguredModels:
    """The models that the configuration names, each loaded on first use. Thread-safe."""

    def __init__(self, config: Config, on_warning: WarningCallback) -> None:
        self._config = config
        self._on_warning = on_warning
        self._lock = threading.RLock()
        self._model_choice: ModelChoice | None = None
        self._embedder: Embedder | None = None
        self._expansion: QueryExpansion | None = None

    def model_choice(self) -> ModelChoice:
        """Return the configured model; if it is unusable, the fallback or the shipped model."""
        if self._model_choice is not None:
            return self._model_choice
        from rootle.embed.factory import choose_model

        with self._lock:
            if self._model_choice is None:
                self._model_choice = choose_model(self._config)
                if self._model_choice.note:
                    self._on_warning(self._model_choice.note)
            return self._model_choice

    def embedder(self) -> Embedder:
        """Return the embedder of the model in use; load it on first use."""
        # Checked without the lock, so that a search does not wait for another thread.
        if self._embedder is not None:
            return self._embedder
        from rootle.embed.factory import open_model

        with self._lock:
            if self._embedder is None:
                self._embedder = open_model(self.model_choice(), self._config)
            return self._embedder

    def local_choice(self) -> ModelChoice:
        """Return the model in use if it is a vector table, and otherwise the shipped model.

        Memories, and sources outside the project, must not wait for a slow model or a server.
        """
        choice = self.model_choice()
        return choice if choice.is_table else self.shipped_choice()

    def local_embedder(self) -> Embedder:
        """Return the embedder of `local_choice`."""
        return self.embedder() if self.model_choice().is_table else self.shipped_embedder()

    def shipped_choice(self) -> ModelChoice:
        """Return the shipped model, whatever the configuration says."""
        from rootle.embed.model_choice import ModelChoice

        return ModelChoice("static", DEFAULT_MODEL, DEFAULT_MODEL)

    def shipped_embedder(self) -> Embedder:
        """Return the shipped model, which is loaded only once if it is also the model in use."""
        if self.model_choice().fingerprint == DEFAULT_MODEL:
            return self.embedder()
        from rootle.embed.static import StaticEmbedder

        return StaticEmbedder()

    def open_reranker(self) -> Reranker | None:
        """Open the configured reranker; return None if there is none."""
        if not (self._config.use_learned_reranker and self._config.reranker_provider):
            return None
        from rootle.rerank.factory import open_reranker

        return open_reranker(self._config)

    def query_expansion(self) -> QueryExpansion | None:
        """Return the stage that expands questions, or None if `expandEndpoint` is empty.

        All pipelines share the stage, so each question is sent to the LLM server once.
        """
        if not self._config.expand_endpoint:
            return None
        from rootle.expansion.factory import open_expander
        from rootle.search.stages.query_expansion import QueryExpansion

        with self._lock:
            if self._expansion is None:
                self._expansion = QueryExpansion(open_expander(self._config), self._config)
            return self._expansion

    def close_expansion(self) -> None:
        """Close the stage that expands questions; it is created again when it is needed."""
        with self._lock:
            if self._expansion is not None:
                self._expansion.close()
            self._expansion = None


@dataclass(frozen=True, slots=True)
class ComponentSetup:
    """The settings that all components of one app share."""

    root: Path
    index_dir: Path
    config: Config
    models: ConfiguredModels
    on_warning: WarningCallback
