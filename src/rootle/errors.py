"""Every error that rootle raises on purpose."""

from __future__ import annotations


class RootleError(Exception):
    """Base of all of them. The message names the thing, the value and the cure."""


class ConfigError(RootleError):
    """A configuration file or value that cannot be used."""


class QueryError(RootleError):
    """A question that cannot be answered as it is asked: empty, or with a bad filter or limit."""


class StaleCursorError(QueryError):
    """A cursor that belongs to another query or to an earlier state of the index."""


class SourceError(QueryError):
    """A file or commit that cannot be shown: not there, left out, or outside the folder."""


class IngestError(RootleError):
    """A folder that cannot be indexed: it does not exist, is a file, or cannot be read."""


class IndexStorageError(RootleError):
    """An index that cannot be read or written: damaged, of a newer rootle, on a full disk."""


class IndexUnfinishedError(RootleError):
    """An index that is being made for the first time, of which nothing can be searched yet."""


class IndexMissingError(IndexStorageError):
    """There is no index yet, and none may be made here."""


class MemoryRefusedError(RootleError):
    """A fact that is not kept: empty, too long, a secret, or what memory itself had said."""


class MissingExtraError(RootleError):
    """A part was asked for whose package is not installed."""


class InstallError(RootleError):
    """A file of a coding agent that cannot be read, understood or written."""


class WebPageError(RootleError):
    """A page of the web that rootle does not read: no page, not a public one, or no text."""


class UnavailableError(RootleError):
    """A part that did not answer in time, refused the connection or failed; it may work later."""

    def __init__(self, message: str, *, retry_after_s: float = 0.0, status: int = 0) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s  # where the part said how long to leave it alone
        self.status = status  # of HTTP, where there was an answer


class RefusedError(UnavailableError):
    """A server understood a request and turned it down: it will do so again."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message, status=status)


class MemoryStorageError(UnavailableError):
    """Memories that cannot be read or written: damaged, of a newer rootle, on a full disk."""


class PluginError(UnavailableError):
    """A plugin that cannot be loaded, fails, is late or gives something else than it promised."""


class RerankError(UnavailableError):
    """A reranker that is down, late or answers with something else than scores."""


class SearchUnavailableError(UnavailableError):
    """Neither leg of the search could answer."""


class Unavailable(UnavailableError):  # noqa: N818 - the specification's name for it
    """A search engine of the web that wants the next one to be asked: it is late or overloaded."""


class RateLimitedError(Unavailable):
    """A search engine of the web that was asked too often, or whose quota is used up."""
