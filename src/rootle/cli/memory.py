"""`rootle memory`: what is remembered, for the person whom it is about."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final, TextIO

from rootle.app import App
from rootle.cli.context import opened, printable, say
from rootle.cli.main import NO_RESULTS, RESULTS
from rootle.errors import ConfigError, MemoryRefusedError
from rootle.serialization.json import to_json
from rootle.serialization.markdown import memory_as_text
from rootle.types import Memory

_STDIO: Final = "-"


def run_memory(options: argparse.Namespace) -> int:
    """Run one action; its exit code is 1 where there was nothing to show or to change."""
    with opened(options) as app:
        return _ACTIONS[options.action](app, options)


def _list(app: App, options: argparse.Namespace) -> int:
    memories = app.memory.list_memories()
    return _show(memories[: options.limit] if options.limit else memories, options)


def _search(app: App, options: argparse.Namespace) -> int:
    return _show(app.memory.recall(" ".join(options.topic)), options)


def _add(app: App, options: argparse.Namespace) -> int:
    remembered = app.memory.remember(" ".join(options.fact), options.about or ())
    if remembered.masked:
        say(f"masked, because secrets are not kept: {', '.join(remembered.masked)}")
    return _show([remembered.memory] if remembered.memory is not None else [], options)


def _forget(app: App, options: argparse.Namespace) -> int:
    if bool(options.ids) == options.all:
        raise MemoryRefusedError("name the ids that `rootle memory list` shows, or give --all")
    ids = [memory.id for memory in app.memory.list_memories()] if options.all else options.ids
    gone = app.memory.forget(ids)
    for missing in () if options.all else sorted(set(ids) - set(gone)):
        say(f"there is no memory {missing}")
    if options.json:
        print(json.dumps({"forgotten": gone}))
    else:
        print(f"forgot {len(gone)} {'memory' if len(gone) == 1 else 'memories'}")
    return RESULTS if gone else NO_RESULTS


def _export(app: App, options: argparse.Namespace) -> int:
    """One JSON object a line, the oldest first."""
    memories = app.memory.list_memories()[::-1]
    with _opened_file(options.file, "w", sys.stdout) as file:
        for memory in memories:
            kept = {key: value for key, value in to_json(memory).items() if key in _EXPORTED}
            file.write(json.dumps(kept, ensure_ascii=False) + "\n")
    if options.file != _STDIO:
        say(f"wrote {len(memories)} memories to {options.file}")
    return RESULTS if memories else NO_RESULTS


def _import(app: App, options: argparse.Namespace) -> int:
    with _opened_file(options.file, "r", sys.stdin) as file:
        done = app.memory.import_lines(file)
    for reason in done.rejected:
        say(reason)
    refused = len(done.rejected)
    if options.json:
        print(json.dumps({"imported": done.new, "known": done.known, "refused": refused}))
    else:
        print(f"imported {done.new}, known already {done.known}, refused {refused}")
    return RESULTS if done.new else NO_RESULTS


def _audit(app: App, options: argparse.Namespace) -> int:
    audit = app.memory.audit()
    if options.json:
        print(json.dumps(to_json(audit)))
        return RESULTS if audit.events else NO_RESULTS
    for event in audit.events:
        print(printable(f"{event.at}  {event.what:11}  {event.memory_id:>5}  {event.text}"))
    findings: Mapping[str, Sequence[str]] = {
        "hold a secret": audit.with_secrets,
        "may be stale, a file changed": audit.stale,
    }
    for what, ids in findings.items():
        if ids:
            print(f"{what}: {', '.join(ids)}")
    for same in audit.duplicates:
        print(f"say nearly the same: {', '.join(same)}")
    return RESULTS if audit.events else NO_RESULTS


_ACTIONS: Final[Mapping[str, Callable[[App, argparse.Namespace], int]]] = {
    "list": _list,
    "search": _search,
    "add": _add,
    "forget": _forget,
    "export": _export,
    "import": _import,
    "audit": _audit,
}
_EXPORTED: Final = ("text", "createdAt", "count", "about")


def _show(memories: Iterable[Memory], options: argparse.Namespace) -> int:
    shown = list(memories)
    if options.json:
        print(json.dumps(to_json(shown)))
    else:
        for memory in shown:
            lines = memory_as_text(memory).split("\n")
            print("\n".join(map(printable, [f"{memory.id:>5}  {lines[0]}", *lines[1:]])))
        if not shown:
            say("nothing is remembered that fits")
    return RESULTS if shown else NO_RESULTS


def _opened_file(name: str, mode: str, stream: TextIO) -> Any:  # Any: both are context managers
    if name == _STDIO:
        return nullcontext(stream)
    try:
        return Path(name).open(mode, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot open {name}: {error.strerror}") from error
