"""From the options of a command to the app that it works on."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rootle.app import App, open_app
from rootle.config.loading import Settings, read_settings
from rootle.errors import IngestError
from rootle.telemetry.logging_config import configure_logging

Progress = Callable[[int, int], None]


@contextmanager
def opened(
    options: argparse.Namespace, *, initial_index_timeout_s: float | None = None
) -> Iterator[App]:
    """The app on the folder that the options name."""
    configure_logging(os.environ)
    root = folder_of(options)
    config = settings_for(root, options).config
    app = open_app(
        root,
        index_dir=options.index_dir,
        config=config,
        on_warning=say,
        initial_index_timeout_s=initial_index_timeout_s,
    )
    with app:
        yield app


def printable(text: str) -> str:
    """Without what would steer the terminal: names and lines of a repository are anybody's."""
    return "".join(c if c.isprintable() or c == "\t" else _escaped(c) for c in text)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def _current_folder() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise IngestError("the current folder was deleted; go to another one") from error


def say(message: str) -> None:
    print(f"rootle: {printable(message)}", file=sys.stderr)


def work_tree_around(folder: Path) -> Path:
    """The nearest folder upwards that holds a `.git`, or the folder itself."""
    for place in (folder, *folder.parents):
        if os.path.lexists(place / ".git"):
            return place
    return folder


def folder_of(options: argparse.Namespace) -> Path:
    """The folder that the options name, or the work tree around the current one."""
    return Path(options.root) if options.root else work_tree_around(_current_folder())


def settings_for(root: Path, options: argparse.Namespace) -> Settings:
    """Return the configuration of a folder, and print its warnings."""
    settings = read_settings(root, options.config, options.set or ())
    for warning in settings.warnings:
        say(warning)
    return settings


@contextmanager
def progress_bar() -> Iterator[Progress | None]:
    """A bar on standard error where that is a terminal; it appears with the first batch."""
    if not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm

    bar: Any = None  # made with the first call, when the total is known

    def show(done: int, total: int) -> None:
        nonlocal bar
        if bar is None:
            bar = tqdm(total=total, unit="B", unit_scale=True, desc="indexing", leave=False)
        bar.update(done - bar.n)

    try:
        yield show
    finally:
        if bar is not None:
            bar.close()
