"""Paths of the model files in the package."""

from __future__ import annotations

from pathlib import Path
from typing import Final

STATIC_CODE_V1: Final = "static-code-v1"
RANKER_V1: Final = "ranker-v1"
IMPACT_V1: Final = "impact-v1"
_FOLDER: Final = Path(__file__).parent


def model_file(model: str, part: str) -> Path:
    """Return the path of one of a model's files, such as "rows.npy" or "trees.npz"."""
    return _FOLDER / f"{model.replace('-', '_')}_{part}"
