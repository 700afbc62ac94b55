"""The records that all packages share.

Each name is imported on first use, so that worker processes, which need few of the records, start
faster.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rootle.types.documents import (
        COMMIT_ENCODING,
        COMMIT_KIND,
        EXTERNAL_URI,
        EXTRACTED,
        FILES,
        HIDDEN_SECRET,
        NEEDS_EXTRA,
        NEEDS_OCR,
        PACKAGE_URI,
        PARTIAL_COMMIT,
        Context,
        Definition,
        DocumentSection,
        FileMetadata,
        FileOutline,
        Passage,
        Span,
        TextChunk,
    )
    from rootle.types.history import (
        CHANGED_NAMES_SEPARATOR,
        COMMIT_MESSAGE,
        COMMIT_URI,
        HIDDEN_CHANGE,
        HISTORY_ADVICE,
        MAX_INDEXED_FILES,
        PARTIAL_HISTORY,
        REMOVED_SCOPE_SEPARATOR,
        RENAMED_TO,
        UNNAMED_CHANGES,
        ChangedFile,
        CommitFacts,
        CountedCommits,
        DocumentMention,
        ImpactAnswer,
        ImpactedFile,
        PassageCommit,
        Removal,
        RemovalAnswer,
        RevisionRange,
        SearchedRevision,
        WhyAnswer,
    )
    from rootle.types.links import DriftAnswer, DriftKind, DriftOrigin, DriftReport, PlaceLinks
    from rootle.types.memories import Memory, MemoryOrigin, MemoryReference
    from rootle.types.search import (
        Filters,
        OutsideTrust,
        QueryInterpretation,
        Record,
        ResultKind,
        ResultSource,
        SearchQuery,
        SearchResponse,
        SearchResult,
    )
    from rootle.types.status import (
        AddedSource,
        BackendStatus,
        DependencyPackage,
        DependencyStatus,
        ExternalStatus,
        Health,
        HistoryReport,
        HistoryStatus,
        ImageStatus,
        IndexCoverage,
        IndexReport,
        IndexStatus,
        IndexUpdated,
        PartialFile,
        ProgressCallback,
        RevisionStatus,
        Staleness,
        WarningCallback,
        WatcherStatus,
        ignore_progress,
        ignore_warning,
    )
    from rootle.types.symbols import Symbol, SymbolAnswer, SymbolAspect, SymbolUse

__all__ = [
    "CHANGED_NAMES_SEPARATOR",
    "COMMIT_ENCODING",
    "COMMIT_KIND",
    "COMMIT_MESSAGE",
    "COMMIT_URI",
    "EXTERNAL_URI",
    "EXTRACTED",
    "FILES",
    "HIDDEN_CHANGE",
    "HIDDEN_SECRET",
    "HISTORY_ADVICE",
    "MAX_INDEXED_FILES",
    "NEEDS_EXTRA",
    "NEEDS_OCR",
    "PACKAGE_URI",
    "PARTIAL_COMMIT",
    "PARTIAL_HISTORY",
    "REMOVED_SCOPE_SEPARATOR",
    "RENAMED_TO",
    "UNNAMED_CHANGES",
    "AddedSource",
    "BackendStatus",
    "ChangedFile",
    "CommitFacts",
    "Context",
    "CountedCommits",
    "Definition",
    "DependencyPackage",
    "DependencyStatus",
    "DocumentMention",
    "DocumentSection",
    "DriftAnswer",
    "DriftKind",
    "DriftOrigin",
    "DriftReport",
    "ExternalStatus",
    "FileMetadata",
    "FileOutline",
    "Filters",
    "Health",
    "HistoryReport",
    "HistoryStatus",
    "ImageStatus",
    "ImpactAnswer",
    "ImpactedFile",
    "IndexCoverage",
    "IndexReport",
    "IndexStatus",
    "IndexUpdated",
    "Memory",
    "MemoryOrigin",
    "MemoryReference",
    "OutsideTrust",
    "PartialFile",
    "Passage",
    "PassageCommit",
    "PlaceLinks",
    "ProgressCallback",
    "QueryInterpretation",
    "Record",
    "Removal",
    "RemovalAnswer",
    "ResultKind",
    "ResultSource",
    "RevisionRange",
    "RevisionStatus",
    "SearchQuery",
    "SearchResponse",
    "SearchResult",
    "SearchedRevision",
    "Span",
    "Staleness",
    "Symbol",
    "SymbolAnswer",
    "SymbolAspect",
    "SymbolUse",
    "TextChunk",
    "WarningCallback",
    "WatcherStatus",
    "WhyAnswer",
    "ignore_progress",
    "ignore_warning",
]

# The names of each module.
_NAMES: Final = {
    "documents": """
        COMMIT_ENCODING COMMIT_KIND HIDDEN_SECRET EXTERNAL_URI EXTRACTED FILES NEEDS_EXTRA NEEDS_OCR
        PACKAGE_URI PARTIAL_COMMIT
        Context Definition DocumentSection FileMetadata FileOutline Passage Span TextChunk
    """,
    "history": """
        CHANGED_NAMES_SEPARATOR COMMIT_MESSAGE COMMIT_URI HIDDEN_CHANGE HISTORY_ADVICE
        MAX_INDEXED_FILES PARTIAL_HISTORY REMOVED_SCOPE_SEPARATOR RENAMED_TO UNNAMED_CHANGES
        ChangedFile CommitFacts CountedCommits DocumentMention ImpactAnswer ImpactedFile
        PassageCommit Removal RemovalAnswer RevisionRange SearchedRevision WhyAnswer
    """,
    "links": """
        DriftAnswer DriftKind DriftOrigin DriftReport PlaceLinks
    """,
    "memories": """
        Memory MemoryOrigin MemoryReference
    """,
    "search": """
        Filters OutsideTrust QueryInterpretation Record ResultKind ResultSource SearchQuery
        SearchResponse SearchResult
    """,
    "status": """
        AddedSource BackendStatus DependencyPackage DependencyStatus ExternalStatus Health
        HistoryReport HistoryStatus ImageStatus IndexCoverage IndexReport IndexStatus IndexUpdated
        PartialFile ProgressCallback RevisionStatus Staleness WarningCallback WatcherStatus
        ignore_progress ignore_warning
    """,
    "symbols": """
        Symbol SymbolAnswer SymbolAspect SymbolUse
    """,
}

_MODULE_OF: Final = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"{__name__}.{_MODULE_OF[name]}")
    globals().update((one, getattr(module, one)) for one in _NAMES[_MODULE_OF[name]].split())
    value: object = globals()[name]
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
