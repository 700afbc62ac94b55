"""The trained table as the three files that rootle ships: rows, scales and vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

_MIN_SCALE = np.float16(6e-5)  # about the smallest float16 that is not subnormal


def quantize(rows: Floats) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """Return the rows as int8 with one scale each; the largest component becomes ±127."""
    scales = (np.abs(rows).max(axis=1, keepdims=True) / 127).astype(np.float16)
    scales = np.maximum(scales, _MIN_SCALE)
    small = np.rint(rows / scales.astype(np.float32))
    return np.clip(small, -127, 127).astype(np.int8), scales


def quantized_copy(rows: Floats) -> Floats:
    """Return the rows after quantizing and dequantizing them."""
    small, scales = quantize(rows)
    return small.astype(np.float32) * scales.astype(np.float32)


def read_weights(location: Path) -> tuple[Floats, list[str]]:
    """Return rows and words from a folder with the three files, or from their common prefix."""

    def part(name: str) -> Path:
        if location.is_dir():
            return location / name
        return location.with_name(f"{location.name}_{name}")

    rows = np.load(part("rows.npy")) * np.load(part("scales.npy")).astype(np.float32)
    words = part("vocab.txt").read_text(encoding="utf-8").split("\n")
    return rows.astype(np.float32), words[: len(rows)]


def write_weights(rows: Floats, vocabulary: Sequence[str], out: Path) -> None:
    """Write the quantized rows and the vocabulary."""
    out.mkdir(parents=True, exist_ok=True)
    small, scales = quantize(rows)
    np.save(out / "rows.npy", small)
    np.save(out / "scales.npy", scales)
    (out / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
