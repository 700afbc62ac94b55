"""Call plugins that handle single files, in the process that reads the files."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import Any, Final, TypeVar

from rootle.errors import PluginError
from rootle.plugins.registry import (
    FoundPlugin,
    Kind,
    PluginTimeoutError,
    call_with_timeout,
    load,
    make_component,
)

_LOG = logging.getLogger(__name__)

# The maximum time for one file. A plugin that exceeds it is not called again in this process.
_TIMEOUT_S: Final = 10.0

_Result = TypeVar("_Result")


class PluginHook:
    """A plugin that is called in this process, with a timeout."""

    def __init__(self, found: FoundPlugin) -> None:
        self.found = found
        # Any: depends on the kind, see `docs/how-to/plugins.md`
        self.component: Any = make_component(found)
        self._timed_out = False

    def call(self, function: Callable[[], _Result]) -> _Result:
        """Return the result of `function`. Raise PluginError if it fails or takes too long."""
        if self._timed_out:
            plugin = self.found.plugin
            raise PluginError(f"the {plugin.kind} {plugin.name} timed out earlier")
        try:
            return call_with_timeout(self.found, function, _TIMEOUT_S)
        except PluginTimeoutError:
            self._timed_out = True
            raise


@cache
def open_hook(kind: Kind, name: str, reference: str) -> PluginHook | None:
    """Return the plugin of a kind and name. If it cannot be loaded, warn and return None."""
    try:
        for found in load(reference):
            if (found.plugin.kind, found.plugin.name) == (kind, name):
                return PluginHook(found)
    except PluginError as error:
        _LOG.warning("%s; files are processed without it", error)
    return None
