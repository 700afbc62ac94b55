"""The trained table as the three files that rootle ships."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def quantised(rows: Floats) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """Each row as int8 with one scale, so that its largest part is ±127."""
    scales = (np.abs(rows).max(axis=1, keepdims=True) / 127).astype(np.float16)
    scales = np.maximum(scales, np.float16(6e-5))  # the least that is no subnormal number
    small = np.rint(rows / scales.astype(np.float32))
    return np.clip(small, -127, 127).astype(np.int8), scales


def restored(rows: Floats) -> Floats:
    """The rows as they are after quantising."""
    small, scales = quantised(rows)
    return small * scales.astype(np.float32)


def read_weights(place: Path) -> tuple[Floats, list[str]]:
    """Rows and words of a folder with the three files, or of such files' common prefix."""

    def part(name: str) -> Path:
        return place / name if place.is_dir() else place.with_name(f"{place.name}_{name}")

    rows = np.load(part("rows.npy")) * np.load(part("scales.npy")).astype(np.float32)
    words = part("vocab.txt").read_text(encoding="utf-8").split("\n")
    return rows.astype(np.float32), words[: len(rows)]


def write_weights(rows: Floats, vocabulary: Sequence[str], out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    small, scales = quantised(rows)
    np.save(out / "rows.npy", small)
    np.save(out / "scales.npy", scales)
    (out / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
