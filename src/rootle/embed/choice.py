"""The embedder that a configured name stands for."""

from __future__ import annotations

import os

from rootle.errors import ConfigError
from rootle.models.shipped import STATIC_CODE_V0
from rootle.protocols import Embedder


def open_embedder(model: str) -> Embedder:
    """The shipped model by its name, or a folder in model2vec's format by its path.

    Raises ConfigError where there is no such model, MissingExtraError where its package is missing.
    """
    if model == STATIC_CODE_V0:
        from rootle.embed.static import StaticEmbedder

        return StaticEmbedder(model)
    if os.path.isdir(model):
        from rootle.embed.model2vec import Model2VecEmbedder

        return Model2VecEmbedder(model)
    raise ConfigError(
        f'embeddingModelID is "{model}", which is neither "{STATIC_CODE_V0}" nor a folder; '
        "give the path of a folder in model2vec's format or leave the key out"
    )
