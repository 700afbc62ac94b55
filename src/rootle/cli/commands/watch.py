"""`rootle watch`: keep the index up to date, or control the running watcher."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from rootle.cli.options import SUCCESS, CommandParser, add_common_options, add_path, add_yes

if TYPE_CHECKING:
    from types import FrameType

    from rootle.app import App
    from rootle.types import IndexUpdated

_EXAMPLES: Final = """\
rootle watch
rootle watch --throttle 60
rootle watch --resume"""


def register(parser: CommandParser) -> None:
    parser.describe(
        "Update the index of a folder whenever files change, and report each update. "
        "Press Ctrl-C to stop. --pause, --throttle and --resume control a watcher "
        "that is already running.",
        _EXAMPLES,
    )
    add_path(parser)
    control = parser.add_mutually_exclusive_group()
    control.add_argument(
        "--pause", action="store_true", help="pause indexing until `rootle watch --resume`"
    )
    control.add_argument(
        "--throttle",
        type=float,
        metavar="SECONDS",
        help="index at most once every SECONDS seconds until `rootle watch --resume`",
    )
    control.add_argument(
        "--resume", action="store_true", help="resume normal indexing after --pause or --throttle"
    )
    add_yes(parser)
    add_common_options(parser)


def run(args: argparse.Namespace) -> int:
    import signal

    from rootle.cli.context import check_root, open_app_from
    from rootle.cli.terminal import print_json, warn
    from rootle.errors import UnavailableError

    is_control = args.pause or args.resume or args.throttle is not None
    if not is_control:
        check_root(args)
    with open_app_from(args) as app:
        if is_control:
            return _control_watcher(app, args)
        app.subscribe(print_json if args.json else _print_update)
        # Service managers stop a service with SIGTERM, which is handled like Ctrl-C.
        signal.signal(signal.SIGTERM, _interrupt)
        try:
            with app.watch() as watcher:
                warn(f"watching {app.root}")
                watcher.join()
        except KeyboardInterrupt:
            warn("stopped watching")
            return SUCCESS
    raise UnavailableError("the watcher stopped unexpectedly; start it again")


def _control_watcher(app: App, args: argparse.Namespace) -> int:
    from rootle.cli.terminal import print_json, write_line
    from rootle.errors import UnavailableError

    if args.pause:
        is_done, state = app.pause_indexing(), "paused"
    elif args.resume:
        is_done, state = app.resume_indexing(), "resumed"
    else:
        is_done = app.throttle_indexing(args.throttle)
        state = f"throttled to one update every {args.throttle:g} s"
    if not is_done:
        raise UnavailableError(
            f"no watcher of {app.root} responded; start one with `rootle watch` or `rootle mcp`"
        )
    if args.json:
        print_json({"watcher": state})
    else:
        write_line(f"watcher {state}")
    return SUCCESS


def _print_update(event: IndexUpdated) -> None:
    from rootle.cli.terminal import warn

    warn(
        f"generation {event.generation}: {len(event.changed)} files changed, "
        f"{len(event.removed)} removed"
    )


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
