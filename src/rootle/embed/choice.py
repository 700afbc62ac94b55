"""The embedder that a configured name stands for."""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import Final

from rootle.config import Config
from rootle.errors import ConfigError
from rootle.models.shipped import STATIC_CODE_V0
from rootle.protocols import Embedder

_MISTYPED: Final = 0.8  # how alike two names are of which one was meant


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


def lacks_server(config: Config) -> bool:
    """Whether the model is none on this machine, and nothing says how to reach it elsewhere."""
    model = config.embedding_model_id
    reach = (config.embedding_endpoint, config.embedding_api_key, config.embedding_api_key_command)
    return not (_is_local(model) or any(reach))


def _is_local(model: str) -> bool:
    """Whether a name is, or is meant as, the shipped model or a folder."""
    is_path = "/" in model or os.sep in model or os.path.isdir(model)
    return is_path or bool(difflib.get_close_matches(model, [STATIC_CODE_V0], cutoff=_MISTYPED))


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
