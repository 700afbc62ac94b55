"""An embedding model in a folder of sentence-transformers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rootle.errors import ConfigError, MissingExtraError
from rootle.protocols import Matrix

try:
    from sentence_transformers import SentenceTransformer
except ImportError as error:
    raise MissingExtraError(
        "a model folder of sentence-transformers needs that package: "
        "pip install 'rootle[sentence-transformers]'"
    ) from error


class SentenceTransformerModel:
    """A TextModel that leaves everything to sentence-transformers but its prompts."""

    def __init__(self, folder: str) -> None:
        try:
            # Nothing is fetched: a name that is no folder would be looked up on a server.
            self._model = SentenceTransformer(folder, local_files_only=True)
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise ConfigError(
                f"{folder} is no model folder of sentence-transformers: {error}"
            ) from error
        self.dimensions = int(self._model.get_sentence_embedding_dimension() or 0)

    def vectors(
        self,
        texts: Sequence[str],
        *,
        is_query: bool,  # noqa: ARG002 - both are said to every TextModel
        timeout_s: float,  # noqa: ARG002
    ) -> Matrix:
        """One row a text; the model cannot be interrupted."""
        # An empty prompt keeps the model's own default out: the prefix is in the text already.
        rows = self._model.encode(
            list(texts), prompt="", convert_to_numpy=True, show_progress_bar=False
        )
        return np.asarray(rows, dtype=np.float32)
