"""Text extraction from documents by plugins."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from rootle.errors import PluginError
from rootle.plugins.hook import open_hook
from rootle.plugins.registry import DocumentPlace
from rootle.sources.documents.places import join_places
from rootle.types import DocumentSection

_LOG = logging.getLogger(__name__)


def read_with_plugin(
    path: str, raw: bytes, readers: dict[str, str]
) -> tuple[str, tuple[DocumentSection, ...]] | None:
    """Return the text and the sections of a file whose name ends with a key of `readers`.

    A document reader returns a text, or places, which become sections. Return None, and log a
    warning, if it fails.
    """
    ending = max((key for key in readers if path.lower().endswith(key)), key=len)
    reader = open_hook("document reader", ending, readers[ending])
    if reader is None:
        return None
    try:
        found = reader.call(lambda: _read_all(reader.component(raw)))
    except PluginError as error:
        _LOG.warning("%s: %s; the file is skipped", path, error)
        return None
    if isinstance(found, str):
        return _plain(found), ()
    if isinstance(found, list) and found and all(isinstance(p, DocumentPlace) for p in found):
        return join_places(
            [(" ".join(p.label.split()), " ".join(p.title.split()), _plain(p.text)) for p in found]
        )
    _LOG.warning(
        "%s: the document reader %s returned %s instead of text or places; the file is skipped",
        path,
        ending,
        _describe(found),
    )
    return None


def _describe(found: object) -> str:
    if not isinstance(found, list):
        return type(found).__name__
    return f"a list of {type(found[0]).__name__}" if found else "no places"


def _read_all(found: Any) -> Any:  # Any: returned by a plugin
    """Return the places of an iterator as a list. Iterating may run code of the plugin."""
    is_value = isinstance(found, (str, bytes)) or not isinstance(found, Iterable)
    return found if is_value else list(found)


def _plain(text: str) -> str:
    """Return a text without NUL characters, in which a line feed replaces each CR LF pair."""
    return text.replace("\r\n", "\n").replace("\0", "")
