"""Split URLs, and redact them for messages. This module imports no HTTP client."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

from rootle.errors import ConfigError


def split_url(url: str) -> SplitResult:
    """Return the parts of a URL. Raise ConfigError if it is invalid."""
    try:
        return urlsplit(url)
    except ValueError as error:  # an invalid IPv6 address
        raise ConfigError(f'"{url}" is not a URL: {error}') from error


def redact_url(url: str) -> str:
    """Return a URL without user, password, query and fragment, for messages."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}".rstrip("/")
