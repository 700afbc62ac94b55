"""`rootle watch`."""

from __future__ import annotations

import argparse
import json
import signal
from types import FrameType

from rootle.app import App
from rootle.cli.context import opened, say
from rootle.cli.main import RESULTS
from rootle.errors import UnavailableError
from rootle.serialization.json import to_json
from rootle.types import IndexUpdated


def run_watch(options: argparse.Namespace) -> int:
    with opened(options) as app:
        if options.pause or options.resume or options.slow is not None:
            return _pass_on(app, options)
        app.subscribe(_print_json if options.json else _print)
        # What ends a service; it is to leave as cleanly as after Ctrl-C.
        signal.signal(signal.SIGTERM, _interrupt)
        try:
            with app.watch() as live:
                say(f"watching {app.root}")
                live.join()
        except KeyboardInterrupt:
            say("stopped watching; the index stays usable")
            return RESULTS
    raise UnavailableError("the watcher ended by itself; start it again")


def _pass_on(app: App, options: argparse.Namespace) -> int:
    if options.pause:
        was_told, done = app.pause_indexing(), "paused"
    elif options.resume:
        was_told, done = app.resume_indexing(), "resumed"
    else:
        was_told, done = app.throttle_indexing(options.slow), f"slowed to every {options.slow:g} s"
    if not was_told:
        raise UnavailableError(f"no `rootle watch` runs for {app.root}, or it does not answer")
    print(json.dumps({"watcher": done}) if options.json else f"watcher {done}")
    return RESULTS


def _print(event: IndexUpdated) -> None:
    say(
        f"generation {event.generation}: {len(event.changed)} files changed, "
        f"{len(event.removed)} removed"
    )


def _print_json(event: IndexUpdated) -> None:
    print(json.dumps(to_json(event)), flush=True)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
