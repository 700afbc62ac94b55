"""Find the images whose vectors are nearest to the vector of a question or of another image."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from rootle.index.reader import ImageMatch
from rootle.protocols import Matrix, Vector

# Texts that fit every image. A question must fit an image better than each of these texts. Unlike a
# minimum cosine, this comparison means the same for every model.
NEUTRAL_TEXTS: Final = ("an image", "a picture", "a diagram", "a screenshot")
# The minimum difference between the cosine of a question and that of each neutral text. CLIP and
# SigLIP multiply cosines by about 100 before the softmax, so the question is then about seven times
# as probable as the neutral text.
_MARGIN: Final = 0.02
# The minimum cosine of images that count as similar. CLIP's cosines of unrelated images are about
# 0.5.
_MIN_IMAGE_COSINE: Final = 0.8


@dataclass(frozen=True, slots=True)
class ImageVectors:
    """The vectors of images, one per row."""

    images: Sequence[tuple[str, int, int, int, int]]  # as in ImageMatch
    matrix: Matrix

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[Any]]) -> ImageVectors:  # Any: SQL values
        """Create the vectors from rows of the database."""
        size = len(rows[0][-1]) if rows else 0
        rows = [row for row in rows if len(row[-1]) == size]
        raw = b"".join(row[-1] for row in rows)
        images = [(os.fsdecode(row[0]), *row[1:-1]) for row in rows]
        return cls(images, np.frombuffer(raw, "<f4").reshape(len(rows), size // 4))

    def fitting(self, question: Vector, neutral: Matrix) -> list[ImageMatch]:
        """Return the images that a question fits clearly better than neutral texts do, best first.

        All vectors are unit vectors of the same model.
        """
        if not self.images:
            return []
        cosines = self.matrix @ question
        floors = (self.matrix @ neutral.T).max(axis=1)
        return self._select(cosines, cosines - floors > _MARGIN)

    def similar(self, image: Vector) -> list[ImageMatch]:
        """Return the images that are similar to another one, best first."""
        if not self.images:
            return []
        cosines = self.matrix @ image
        return self._select(cosines, cosines >= _MIN_IMAGE_COSINE)

    def _select(self, cosines: Vector, is_match: np.typing.NDArray[np.bool_]) -> list[ImageMatch]:
        order = np.argsort(-cosines, kind="stable")
        found = (int(at) for at in order if is_match[at])
        return [ImageMatch(*self.images[at], float(cosines[at])) for at in found]
