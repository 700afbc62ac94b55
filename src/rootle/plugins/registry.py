"""Parts that others wrote: found by what is installed and by `plugins` in the configuration."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any, Final, Literal, TypeVar, get_args

from rootle.errors import PluginError

GROUP: Final = "rootle.plugins"
Kind = Literal["reranker", "filter", "embedder", "chunker", "document reader", "index"]
_KINDS: Final = get_args(Kind)

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Plugin:
    """One part under one name; `make` is called when it is first needed."""

    kind: Kind
    name: str
    make: Callable[[], Any]  # Any: what `docs/how-to/plugins.md` says of the kind
    version: str = "1"  # of what it does to an index: another one means to index again


@dataclass(frozen=True, slots=True)
class Section:
    """What a chunker finds: a run of lines, counted from 1, the last one included."""

    start_line: int
    end_line: int
    names: tuple[str, ...] = ()  # that are defined there
    scope: str = ""  # where it stands, as in "Chapter 2 > Soups"


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What a filter may judge a file by."""

    path: str
    language: str
    size: int
    last_modified_s: float  # Unix time


@dataclass(frozen=True, slots=True)
class IndexPlace:
    """What an index is opened by."""

    name: str  # of its own for each folder, model and leg
    leg: Literal["dense", "sparse"]
    endpoint: str  # denseEndpoint or sparseEndpoint; may be empty
    key: Callable[[], str] = field(repr=False)  # denseApiKey or sparseApiKey, or their command's


@dataclass(frozen=True, slots=True)
class Found:
    """A plugin and where it is imported from, as in "package.module:name"."""

    plugin: Plugin
    reference: str


@dataclass(frozen=True, slots=True)
class Plugins:
    """All that were found, and why the others were left out."""

    found: tuple[Found, ...]
    broken: Mapping[str, str]

    def of(self, kind: Kind) -> dict[str, Found]:
        """Those of a kind by their name; what the configuration names wins."""
        return {found.plugin.name: found for found in self.found if found.plugin.kind == kind}


@cache
def find_plugins(named: tuple[str, ...]) -> Plugins:
    """Those that are installed, and then those that were named."""
    found: list[Found] = []
    broken: dict[str, str] = {}
    for reference in dict.fromkeys((*installed_references(), *named)):
        try:
            found += load(reference)
        except PluginError as error:
            broken[reference] = str(error)
    return Plugins(tuple(found), broken)


def load(reference: str) -> list[Found]:
    """The plugins that stand at a place. Raises PluginError naming it."""
    module, colon, attribute = reference.partition(":")
    if not (module and colon and attribute):
        raise PluginError(f'the plugin "{reference}" is not named as "package.module:name"')
    try:
        value = getattr(import_module(module), attribute)
    except (Exception, SystemExit) as error:
        # Somebody else's code may fail in any way; the search goes on without it.
        raise PluginError(
            f"the plugin {reference} cannot be loaded: {_said(error)}; mend or uninstall it"
        ) from error
    plugins = [value] if isinstance(value, Plugin) else value
    if not isinstance(plugins, Iterable):
        raise PluginError(
            f"the plugin {reference} is no rootle.plugins.registry.Plugin and no list of them"
        )
    return [Found(_checked(plugin, reference), reference) for plugin in plugins]


def _checked(plugin: Any, reference: str) -> Plugin:  # Any: whatever somebody put there
    if not isinstance(plugin, Plugin):
        raise PluginError(f"the plugin {reference} holds {plugin!r}, which is no Plugin")
    if plugin.kind not in _KINDS:
        raise PluginError(
            f'the plugin {reference} is of kind "{plugin.kind}", which is none of '
            f"{', '.join(_KINDS)}"
        )
    return plugin


def made(found: Found) -> Any:  # Any: as `Plugin.make`
    """The part itself. Raises PluginError where it cannot be made."""
    return called(found, found.plugin.make)


def called(found: Found, call: Callable[[], _Result]) -> _Result:
    """What a call of a plugin gives; whatever it raises is a PluginError that names it."""
    try:
        return call()
    except (Exception, SystemExit) as error:
        plugin = found.plugin
        raise PluginError(f"the {plugin.kind} {plugin.name} failed: {_said(error)}") from error


def called_within(found: Found, call: Callable[[], _Result], timeout_s: float) -> _Result:
    """The same, for a part that might never answer: then it is left to itself."""
    outcome: list[_Result] = []
    failure: list[PluginError] = []

    def run() -> None:
        try:
            outcome.append(called(found, call))
        except PluginError as error:
            failure.append(error)

    thread = threading.Thread(target=run, name="rootle-plugin", daemon=True)
    thread.start()
    thread.join(timeout_s)
    if failure:
        raise failure[0]
    if not outcome:
        plugin = found.plugin
        raise PluginError(f"the {plugin.kind} {plugin.name} gave no answer within {timeout_s:g} s")
    return outcome[0]


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


@cache
def installed_references() -> tuple[str, ...]:
    """The entry points of installed packages, sorted.

    Read from their files: `importlib.metadata` takes longer to import than a question to answer.
    The current folder does not count, though `python -m` puts it on the path: anybody's repository
    may be there.
    """
    here = os.path.realpath(os.curdir)
    folders = [folder for folder in sys.path if folder and os.path.realpath(folder) != here]
    return tuple(sorted({name for folder in folders for name in _references_in(folder)}))


def _references_in(folder: str) -> Iterable[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        if name.endswith((".dist-info", ".egg-info")):
            yield from _entry_points(os.path.join(folder, name, "entry_points.txt"))


def _entry_points(path: str) -> Sequence[str]:
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    found, section = [], ""
    for line in map(str.strip, lines):
        if line.startswith("["):
            section = line
        elif section == f"[{GROUP}]" and "=" in line and not line.startswith("#"):
            found.append(line.partition("=")[2].partition("[")[0].strip())
    return found
