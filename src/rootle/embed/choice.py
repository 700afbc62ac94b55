"""The embedder that a configured name stands for."""

from __future__ import annotations

import os
from pathlib import Path

from rootle.errors import ConfigError
from rootle.models.shipped import STATIC_CODE_V0
from rootle.protocols import Embedder


def open_embedder(model: str) -> Embedder:
    """The shipped model by its name, or a folder in model2vec's format by its path.

    Raises ConfigError where there is no such model, MissingExtraError where its package is missing.
    """
    fingerprint = model_fingerprint(model)
    if model == STATIC_CODE_V0:
        from rootle.embed.static import StaticEmbedder

        return StaticEmbedder(model)
    from rootle.embed.model2vec import Model2VecEmbedder

    return Model2VecEmbedder(model, fingerprint)


def model_fingerprint(model: str) -> str:
    """What changes with the vectors that a model gives, told without loading it."""
    if model == STATIC_CODE_V0:
        return model
    weights = Path(model) / "model.safetensors"
    try:
        info = os.stat(weights)
    except OSError as error:
        raise ConfigError(
            f'embeddingModelID is "{model}", which is neither "{STATIC_CODE_V0}" nor a folder with '
            "a model.safetensors; give the path of one in model2vec's format or leave the key out"
        ) from error
    return f"{os.path.realpath(model)}@{info.st_size}@{info.st_mtime_ns}"
