"""How large chunks may be: apart from the chunker, which loads every grammar's binding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# Raise it whenever cuts change: it is part of the index fingerprint.
CHUNKER_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class ChunkLimits:
    """Upper bounds in characters, and who reads and cuts."""

    max_chars: int = 2048  # maxChunkSizeTokens 512 x 4 characters: of any piece
    overlap_chars: int = 200  # chunkOverlapTokens 50 x 4: between windows
    max_file_chars: int = 204_800  # maxChunksPerFile 100 x max_chars: of a file; 0 = no limit
    # Languages and endings that a plugin cuts, each with the place that it is imported from.
    chunkers: tuple[tuple[str, str], ...] = ()
    # Endings whose files a plugin turns into text, likewise.
    readers: tuple[tuple[str, str], ...] = ()
