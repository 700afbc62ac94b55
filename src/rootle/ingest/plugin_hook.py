"""A plugin that is asked about files, in whichever process reads them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import Any, Final, TypeVar

from rootle.errors import PluginError
from rootle.plugins.registry import Found, Kind, called_within, load, made

_LOG = logging.getLogger(__name__)

# For one file. A plugin that took longer is not asked again by this process.
_TIMEOUT_S: Final = 10.0

_Result = TypeVar("_Result")


class PluginHook:
    """A plugin of this process."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self.made: Any = made(found)  # Any: what `docs/how-to/plugins.md` says of the kind
        self._is_given_up = False

    def ask(self, call: Callable[[], _Result]) -> _Result:
        """What the call gives. Raises PluginError where it fails or takes too long."""
        if self._is_given_up:
            plugin = self.found.plugin
            raise PluginError(f"the {plugin.kind} {plugin.name} did not answer before")
        try:
            return called_within(self.found, call, _TIMEOUT_S)
        except PluginError as error:
            self._is_given_up = "no answer" in str(error)
            raise


@cache
def part(kind: Kind, name: str, reference: str) -> PluginHook | None:
    """The plugin of a name, made once; None, and a word in the log, where it cannot be had."""
    try:
        for found in load(reference):
            if (found.plugin.kind, found.plugin.name) == (kind, name):
                return PluginHook(found)
    except PluginError as error:
        _LOG.warning("%s; files are read without it", error)
    return None


def ending_of(path: str) -> str:
    """What plugins call a kind of file: ".recipe" for "soups.recipe"."""
    return "." + path.rpartition("/")[2].rpartition(".")[2].lower()
