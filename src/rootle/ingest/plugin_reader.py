"""Texts of files that are none, as somebody else's document reader gives them."""

from __future__ import annotations

import logging

from rootle.errors import PluginError
from rootle.ingest.plugin_hook import part

_LOG = logging.getLogger(__name__)


def read_by_plugin(path: str, raw: bytes, readers: dict[str, str]) -> str | None:
    """The text of a file whose ending has a reader; None, and a word in the log, if it fails."""
    name = max((one for one in readers if path.lower().endswith(one)), key=len)
    reader = part("document reader", name, readers[name])
    if reader is None:
        return None
    try:
        text = reader.ask(lambda: reader.made(raw))
    except PluginError as error:
        _LOG.warning("%s: %s; it is left out", path, error)
        return None
    if not isinstance(text, str):
        gave = type(text).__name__
        _LOG.warning("%s: the document reader %s gave %s, no text; left out", path, name, gave)
        return None
    # Lines are counted by "\n" everywhere else.
    return text.replace("\r\n", "\n").replace("\0", "")
