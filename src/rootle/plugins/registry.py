"""Find and call plugins: entry points of installed packages, and `plugins` in the configuration."""

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
    """A named component. `make` is called when the component is first needed."""

    kind: Kind
    name: str
    make: Callable[[], Any]  # Any: depends on the kind, see `docs/how-to/plugins.md`
    version: str = "1"  # changing it rebuilds the index


@dataclass(frozen=True, slots=True)
class Section:
    """A range of lines that a chunker returns. Line numbers are 1-based and inclusive."""

    start_line: int
    end_line: int
    names: tuple[str, ...] = ()  # the names that are defined in these lines
    scope: str = ""  # enclosing headings, such as "Chapter 2 > Soups"


@dataclass(frozen=True, slots=True)
class DocumentPlace:
    """A part of a document that a document reader returns, such as a page."""

    label: str  # "page-7" is cited as "report.abc#page-7"; must not contain line breaks
    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The properties of a file that a filter receives."""

    path: str
    language: str
    size: int
    last_modified_s: float | None  # Unix time; None if it is not known


@dataclass(frozen=True, slots=True)
class IndexPlace:
    """The arguments for opening an index."""

    name: str  # a different name for each combination of folder, model and `leg`
    leg: Literal["dense", "sparse"]
    endpoint: str  # denseEndpoint or sparseEndpoint; may be empty
    # Returns denseApiKey or sparseApiKey, or the output of the command that is configured for it.
    key: Callable[[], str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class FoundPlugin:
    """A plugin and its reference, such as "package.module:name"."""

    plugin: Plugin
    reference: str


@dataclass(frozen=True, slots=True)
class Plugins:
    """The plugins that were found, and the error message for each broken reference."""

    found: tuple[FoundPlugin, ...]
    broken: Mapping[str, str]

    def select(self, kind: Kind) -> dict[str, FoundPlugin]:
        """Return the plugins of a kind, keyed by name; configured ones override installed ones."""
        return {found.plugin.name: found for found in self.found if found.plugin.kind == kind}


@cache
def find_plugins(named: tuple[str, ...]) -> Plugins:
    """Return the installed plugins, followed by the named ones."""
    found: list[FoundPlugin] = []
    broken: dict[str, str] = {}
    for reference in dict.fromkeys((*installed_references(), *named)):
        try:
            found += load(reference)
        except PluginError as error:
            broken[reference] = str(error)
    return Plugins(tuple(found), broken)


def load(reference: str) -> list[FoundPlugin]:
    """Import the plugins of a reference. Raise PluginError if they cannot be loaded."""
    module, colon, attribute = reference.partition(":")
    if not (module and colon and attribute):
        raise PluginError(
            f'the plugin reference "{reference}" is invalid; expected "package.module:name"'
        )
    try:
        value = getattr(import_module(module), attribute)
    except (Exception, SystemExit) as error:
        # Third-party code may fail in any way; the search continues without it.
        raise PluginError(
            f"the plugin {reference} cannot be loaded: {_describe(error)}; fix or uninstall it"
        ) from error
    plugins = [value] if isinstance(value, Plugin) else value
    if not isinstance(plugins, Iterable):
        raise PluginError(
            f"the plugin {reference} is neither a rootle.plugins.Plugin nor a list of them"
        )
    return [FoundPlugin(_validate(plugin, reference), reference) for plugin in plugins]


def _validate(plugin: Any, reference: str) -> Plugin:  # Any: third-party value
    if not isinstance(plugin, Plugin):
        raise PluginError(f"the plugin {reference} contains {plugin!r}, which is not a Plugin")
    if plugin.kind not in _KINDS:
        raise PluginError(
            f'the plugin {reference} has the kind "{plugin.kind}", expected one of '
            f"{', '.join(_KINDS)}"
        )
    return plugin


def make_component(found: FoundPlugin) -> Any:  # Any: as `Plugin.make`
    """Create the component of a plugin. Raise PluginError if the plugin fails."""
    return call_plugin(found, found.plugin.make)


def call_plugin(found: FoundPlugin, call: Callable[[], _Result]) -> _Result:
    """Return the result of a call. Any exception becomes a PluginError that names the plugin."""
    try:
        return call()
    except (Exception, SystemExit) as error:
        plugin = found.plugin
        raise PluginError(f"the {plugin.kind} {plugin.name} failed: {_describe(error)}") from error


class PluginTimeoutError(PluginError):
    """Raised when a plugin takes too long."""


def call_with_timeout(found: FoundPlugin, call: Callable[[], _Result], timeout_s: float) -> _Result:
    """Return the result of a call that runs in a thread.

    If it takes longer than `timeout_s`, abandon the thread and raise PluginTimeoutError.
    """
    outcome: list[_Result] = []
    failure: list[PluginError] = []

    def run() -> None:
        try:
            outcome.append(call_plugin(found, call))
        except PluginError as error:
            failure.append(error)

    thread = threading.Thread(target=run, name="rootle-plugin", daemon=True)
    thread.start()
    thread.join(timeout_s)
    if failure:
        raise failure[0]
    if not outcome:
        plugin = found.plugin
        raise PluginTimeoutError(
            f"the {plugin.kind} {plugin.name} gave no answer within {timeout_s:g} s"
        )
    return outcome[0]


def _describe(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


@cache
def installed_references() -> tuple[str, ...]:
    """Return the references of installed entry points, sorted.

    The metadata files are read directly, because importing `importlib.metadata` takes longer than a
    search. The current folder, which `python -m` adds to the path, is skipped: it may be an
    untrusted repository.
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
