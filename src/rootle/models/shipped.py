"""Where the weights that ship in the wheel lie."""

from __future__ import annotations

from pathlib import Path
from typing import Final

STATIC_CODE_V0: Final = "static-code-v0"
_FOLDER: Final = Path(__file__).parent


def model_file(model: str, part: str) -> Path:
    """The file of one part ("rows.npy", "scales.npy", "vocab.txt") of a shipped model."""
    return _FOLDER / f"{model.replace('-', '_')}_{part}"
