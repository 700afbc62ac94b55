"""The size limits of chunks, in a module that does not load the grammars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# Part of the fingerprint of an index. Increase this number when texts are split differently.
CHUNKER_VERSION: Final = 13


@dataclass(frozen=True, slots=True)
class ChunkLimits:
    """The maximum sizes of chunks in characters, and the plugins that split texts."""

    max_chars: int = 2048  # of a chunk: maxChunkSizeTokens (512) x 4 characters
    overlap_chars: int = 200  # between windows: chunkOverlapTokens (50) x 4 characters
    part_overlap_chars: int = 0  # between the parts of a definition or of a section of prose
    max_file_chars: int = 0  # of a document: maxChunksPerFile x max_chars; 0 means no limit
    # Pairs of a language or file ending and the plugin that splits such documents, as
    # "package.module:name".
    chunkers: tuple[tuple[str, str], ...] = ()
