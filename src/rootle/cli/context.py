"""The folder, the configuration and the app that a command works on."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from rootle.app import App, open_app
from rootle.cli.terminal import confirm, progress_bar, warn
from rootle.config.precedence import Settings, read_settings
from rootle.errors import ConfigError, IngestError
from rootle.storage.paths import contains_home
from rootle.telemetry.logging_config import configure_logging

# The minimum of `staleCheckSeconds` for a command that asks one question. The command refreshes the
# index itself, so the question must not check the folder again.
_ONE_QUESTION_S: Final = 60.0


def open_for_question(
    args: argparse.Namespace, *, search_unfinished: bool = False
) -> AbstractContextManager[App]:
    """Open the app for one question. Call `refresh_index` before you ask the question.

    Set `search_unfinished` only if the answer says how much of the folder it covers. Raise
    ConfigError if the folder contains all files of the user, and the user does not confirm.
    """
    check_root(args)
    return open_app_from(
        args, min_check_interval_s=_ONE_QUESTION_S, search_unfinished=search_unfinished
    )


def refresh_index(app: App, revision: str | None = None) -> None:
    """Update the index of the folder, or create the index of a revision; show the progress."""
    with progress_bar() as progress:
        if revision is None:
            app.refresh(progress)
        else:
            app.index_revision(revision, progress)


@contextmanager
def open_app_from(
    args: argparse.Namespace,
    *,
    initial_index_timeout_s: float | None = None,
    search_unfinished: bool = False,
    min_check_interval_s: float = 0.0,
    min_memory_timeout_ms: int = 0,
) -> Iterator[App]:
    """Open the app for the folder in the arguments, and close it at the end of the `with` block.

    `min_check_interval_s` is a lower limit for `staleCheckSeconds`, and `min_memory_timeout_ms` for
    `memoryTimeoutMs`.
    """
    configure_logging(os.environ, warn)
    root = root_folder(args)
    config = load_settings(root, args).config
    config = replace(
        config,
        stale_check_seconds=max(config.stale_check_seconds, min_check_interval_s),
        memory_timeout_ms=max(config.memory_timeout_ms, min_memory_timeout_ms),
    )
    app = open_app(
        root,
        index_dir=args.index_dir,
        config=config,
        on_warning=warn,
        initial_index_timeout_s=initial_index_timeout_s,
        search_unfinished=search_unfinished,
    )
    with app:
        yield app


def root_folder(args: argparse.Namespace) -> Path:
    """Return the folder in the arguments, or by default the enclosing git work tree."""
    return Path(args.root) if args.root else enclosing_work_tree(_current_folder())


def place_in_root(place: str, root: Path) -> str:
    """Return a place such as "path:120" or "path#name" relative to the root: see `path_in_root`."""
    path = re.split(r"[:#]", place, maxsplit=1)[0]
    return path_in_root(path, root) + place[len(path) :]


def path_in_root(path: str, root: Path) -> str:
    """Return a path of the command line relative to the root.

    A path is resolved against the current folder if it exists there, as in other programs. Absolute
    paths, including globs, are converted even if no such file exists. Other paths are returned
    unchanged: they are relative to the root, like the paths in results, or outside of the root.
    """
    if not path or not (os.path.isabs(path) or os.path.lexists(path)):
        return path
    relative = os.path.relpath(os.path.realpath(path), os.path.realpath(root))
    parts = relative.split(os.sep)
    return path if parts[0] == os.pardir else "/".join(parts)


def check_root(args: argparse.Namespace) -> None:
    """Ask for confirmation if the folder of a command contains all files of the user.

    Raise ConfigError if the user does not confirm, or cannot be asked.
    """
    check_folder(root_folder(args), args)


def check_folder(folder: Path, args: argparse.Namespace) -> None:
    """Ask for confirmation if a folder contains all files of the user; raise like `check_root`."""
    if args.yes or not contains_home(folder):
        return
    answer = confirm(f"index all of {folder}, which contains all your files?")
    if answer is None:
        raise ConfigError(
            f"{folder} contains all your files, so nothing was indexed; pass the folder of a "
            "project, or --yes to index all of it"
        )
    if not answer:
        raise ConfigError(f"{folder} was not indexed; pass the folder of a project")


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


def enclosing_work_tree(folder: Path) -> Path:
    """Return the folder or its nearest parent with a `.git`; the folder itself if there is none."""
    for candidate in (folder, *folder.parents):
        if os.path.lexists(candidate / ".git"):
            return candidate
    return folder
