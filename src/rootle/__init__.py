"""Local search for coding agents: index a folder, ask a question, get the matching lines."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rootle.app import App, open_app
    from rootle.config.fields import Config
    from rootle.errors import RootleError
    from rootle.types import (
        Context,
        FileMetadata,
        Filters,
        IndexReport,
        IndexStatus,
        IndexUpdated,
        Memory,
        MemoryReference,
        QueryInterpretation,
        SearchQuery,
        SearchResponse,
        SearchResult,
        Span,
        Staleness,
        TextChunk,
        WatcherStatus,
    )

__version__ = "0.1.0"

__all__ = [
    "App",
    "Config",
    "Context",
    "FileMetadata",
    "Filters",
    "IndexReport",
    "IndexStatus",
    "IndexUpdated",
    "Memory",
    "MemoryReference",
    "QueryInterpretation",
    "RootleError",
    "SearchQuery",
    "SearchResponse",
    "SearchResult",
    "Span",
    "Staleness",
    "TextChunk",
    "WatcherStatus",
    "open_app",
]

_MODULES = {"App": "app", "open_app": "app", "Config": "config.fields", "RootleError": "errors"}


def __getattr__(name: str) -> object:
    # Names are imported on first use, which keeps `import rootle` and `rootle --help` fast.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES.get(name, 'types')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
