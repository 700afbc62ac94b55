"""The folder, the configuration and the app that a command works on."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from rootle.app import App, open_app
from rootle.cli.terminal import warn
from rootle.config.loading import Settings, read_settings
from rootle.errors import IngestError
from rootle.telemetry.logging_config import configure_logging


@contextmanager
def open_app_from(
    args: argparse.Namespace,
    *,
    initial_index_timeout_s: float | None = None,
    min_check_interval_s: float = 0.0,
) -> Iterator[App]:
    """Open the app for the folder in the arguments, and close it at the end of the `with` block.

    `min_check_interval_s` is a lower limit for `staleCheckSeconds`.
    """
    configure_logging(os.environ)
    root = root_folder(args)
    config = load_settings(root, args).config
    interval_s = max(config.stale_check_seconds, min_check_interval_s)
    app = open_app(
        root,
        index_dir=args.index_dir,
        config=replace(config, stale_check_seconds=interval_s),
        on_warning=warn,
        initial_index_timeout_s=initial_index_timeout_s,
    )
    with app:
        yield app


def root_folder(args: argparse.Namespace) -> Path:
    """Return the folder in the arguments; by default, the enclosing git work tree."""
    return Path(args.root) if args.root else _enclosing_work_tree(_current_folder())


def load_settings(root: Path, args: argparse.Namespace) -> Settings:
    """Return the configuration for a folder, and print its warnings."""
    settings = read_settings(root, args.config, args.set or ())
    for warning in settings.warnings:
        warn(warning)
    return settings


def _current_folder() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise IngestError("the current folder was deleted; change to another folder") from error


def _enclosing_work_tree(folder: Path) -> Path:
    """Return the folder or its nearest parent with a `.git`; the folder itself if there is none."""
    for candidate in (folder, *folder.parents):
        if os.path.lexists(candidate / ".git"):
            return candidate
    return folder
