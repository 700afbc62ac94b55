"""Vectors of a slow embedding model, cached on disk."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rootle.protocols import Matrix

Floats = NDArray[np.float32]

BATCH = 512  # number of texts; they have similar lengths, so little padding is needed


def cached_vectors(
    path: Path, texts: Sequence[str], dimensions: int, embed: Callable[[list[str]], Matrix]
) -> Floats:
    """Return one row per text; if the file is missing, create it and print the embedding speed."""
    if not path.exists():
        order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
        vectors = np.zeros((len(texts), dimensions), np.float16)
        started, started_work = time.monotonic(), time.process_time()
        for start in range(0, len(order), BATCH):
            some = order[start : start + BATCH]
            vectors[some] = embed([texts[number] for number in some])
        seconds = max(time.monotonic() - started, 1e-9)
        work = max(time.process_time() - started_work, 1e-9)
        print(
            f"{path.name}: {len(texts)} texts, {len(texts) / seconds:.1f} per second, "
            f"{len(texts) / work:.1f} per second of one core",
            flush=True,
        )
        np.save(path, vectors)
    found: Floats = np.load(path).astype(np.float32)
    return found
