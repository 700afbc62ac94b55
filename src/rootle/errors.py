"""The exceptions of the public API."""

from __future__ import annotations


class RootleError(Exception):
    """Base class of all errors of rootle; the message contains the invalid value and a remedy."""

    def __init__(self, message: str = "", *, parameter: str = "") -> None:
        """`parameter` is the parameter with the invalid value, if the message begins with it.

        A caller that has another name for it, such as an option of a command, can then replace the
        name in the message.
        """
        super().__init__(message)
        self.parameter = parameter


class ConfigError(RootleError):
    """Raised when a configuration file or value cannot be used."""


class QueryError(RootleError):
    """Raised for an invalid query, such as an empty one or an invalid filter, limit or cursor."""


class StaleCursorError(QueryError):
    """Raised for a cursor of another query or of an earlier generation of the index."""


class SourceError(QueryError):
    """Raised for a file or commit that is missing, excluded or outside the folder."""


class IngestError(RootleError):
    """Raised when a folder does not exist, is a file or cannot be read."""


class IndexStorageError(RootleError):
    """Raised when an index is damaged, was written by a newer version or cannot be written."""


class UnreadableIndexError(IndexStorageError):
    """Raised when an index file cannot be read at the moment, although it may be undamaged."""


class IndexUnfinishedError(RootleError):
    """Raised when the first index is still being built and nothing can be searched yet."""


class IndexMissingError(IndexStorageError):
    """Raised when no index exists, and the call or `enableIndexing` does not allow building one."""


class MemoryRefusedError(RootleError):
    """Raised for a memory that is empty or too long, contains a secret or quotes other memories."""


class MissingExtraError(RootleError):
    """Raised when a feature needs a package that is not installed."""


class InstallError(RootleError):
    """Raised when a configuration file of a coding agent cannot be read, parsed or written."""


class WebPageError(RootleError):
    """Raised for a URL that is not a public web page with text."""


class UnavailableError(RootleError):
    """Raised when a dependency times out, refuses a connection or fails; a retry may succeed."""

    def __init__(self, message: str, *, retry_after_s: float = 0.0, status: int = 0) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s  # the delay that the dependency requested; 0 if none
        self.status = status  # the status of the HTTP response; 0 if there was none


class RefusedError(UnavailableError):
    """Raised when a server rejects a request and would reject a retry too."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message, status=status)


class MemoryStorageError(UnavailableError):
    """Raised when the memory store is damaged, not writable or written by a newer version."""


class PluginError(UnavailableError):
    """Raised when a plugin cannot be loaded, fails, times out or returns an invalid result."""


class RerankError(UnavailableError):
    """Raised when a reranker is unreachable, times out or returns invalid scores."""


class SearchUnavailableError(UnavailableError):
    """Raised when neither full-text search nor vector search responds."""


class Unavailable(UnavailableError):  # noqa: N818 - the name is specified
    """Base class of temporary web search failures, such as overload; the next engine is used."""


class RateLimitedError(Unavailable):
    """Raised when a web search engine reports a rate limit or an exhausted quota."""


class UnreachableError(Unavailable):
    """Raised when a web search engine cannot be reached, or does not answer in time."""
