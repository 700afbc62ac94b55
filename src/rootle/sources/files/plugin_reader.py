"""Text extraction from documents by plugins."""

from __future__ import annotations

import logging

from rootle.errors import PluginError
from rootle.plugins.hook import open_hook

_LOG = logging.getLogger(__name__)


def read_with_plugin(path: str, raw: bytes, readers: dict[str, str]) -> str | None:
    """Return the text of a file whose name ends with a key of `readers`.

    Return None, and log a warning, if the document reader fails.
    """
    ending = max((key for key in readers if path.lower().endswith(key)), key=len)
    reader = open_hook("document reader", ending, readers[ending])
    if reader is None:
        return None
    try:
        text = reader.call(lambda: reader.component(raw))
    except PluginError as error:
        _LOG.warning("%s: %s; the file is skipped", path, error)
        return None
    if not isinstance(text, str):
        gave = type(text).__name__
        _LOG.warning(
            "%s: the document reader %s returned %s instead of text; the file is skipped",
            path,
            ending,
            gave,
        )
        return None
    # All other code counts lines by "\n".
    return text.replace("\r\n", "\n").replace("\0", "")
