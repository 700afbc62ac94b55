"""Embedding model in the format of sentence-transformers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rootle.errors import ConfigError, MissingExtraError
from rootle.protocols import Matrix

try:
    from sentence_transformers import SentenceTransformer
except ImportError as error:
    raise MissingExtraError(
        "a model folder of sentence-transformers requires one more package: "
        "pip install 'rootle[sentence-transformers]'"
    ) from error


class SentenceTransformerModel:
    """A TextModel that uses sentence-transformers for everything except prompts."""

    def __init__(self, folder: str) -> None:
        try:
            # Without `local_files_only`, a model whose folder does not exist would be downloaded.
            self._model = SentenceTransformer(folder, local_files_only=True)
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise ConfigError(
                f"{folder} is not a model folder of sentence-transformers: {error}"
            ) from error
        self.dimensions = int(self._model.get_sentence_embedding_dimension() or 0)

    def vectors(
        self,
        texts: Sequence[str],
        *,
        is_query: bool,  # noqa: ARG002 - part of the interface of TextModel
        timeout_s: float,  # noqa: ARG002
    ) -> Matrix:
        """Return one vector per text. A local model cannot be interrupted."""
        # The texts already contain the prefix. An empty prompt disables the model's default.
        rows = self._model.encode(
            list(texts), prompt="", convert_to_numpy=True, show_progress_bar=False
        )
        return np.asarray(rows, dtype=np.float32)
