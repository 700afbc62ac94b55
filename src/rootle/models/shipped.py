"""The model files in the package."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

STATIC_CODE_V2: Final = "static-code-v2"
RANKER_V1: Final = "ranker-v1"
QUESTION_WORDS_V1: Final = "question-words-v1"
IMPACT_V1: Final = "impact-v1"
_FOLDER: Final = Path(__file__).parent


def model_file(model: str, part: str) -> Path:
    """Return the path of one of a model's files, such as "rows.npy" or "trees.npz"."""
    return _FOLDER / f"{model.replace('-', '_')}_{part}"


def read_question_terms() -> Mapping[str, str]:
    """Return the vocabulary of QUESTION_WORDS_V1: stems, each with a word that has this stem."""
    text = model_file(QUESTION_WORDS_V1, "terms.txt").read_text(encoding="utf-8")
    return dict(line.split("\t") for line in text.splitlines())
