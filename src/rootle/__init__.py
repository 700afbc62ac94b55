"""Retrieval for agents and people: index a folder, ask in plain words, get the lines that matter."""

from rootle.app import App, open_app
from rootle.config import Config
from rootle.errors import RootleError
from rootle.types import (
    FileMetadata,
    IndexReport,
    IndexStatus,
    SearchQuery,
    SearchResponse,
    SearchResult,
    Span,
    TextChunk,
)

__version__ = "0.1.0"

__all__ = [
    "App",
    "Config",
    "FileMetadata",
    "IndexReport",
    "IndexStatus",
    "RootleError",
    "SearchQuery",
    "SearchResponse",
    "SearchResult",
    "Span",
    "TextChunk",
    "open_app",
]
