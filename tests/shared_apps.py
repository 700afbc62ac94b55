"""Apps of repositories that several tests only read."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

from sample import temporary_folder

from rootle import App, Config, open_app


class _Shared(NamedTuple):
    root: Path
    app: App


@contextmanager
def shared_app(build: Callable[..., object], *arguments: Hashable) -> Iterator[App]:
    """Yield an app for a repository that `build` creates at a path, with indexed commits.

    Equal calls get the same app. Fail if the test changes the repository.
    """
    shared = _open(build, *arguments)
    before = _state(shared.root)
    yield shared.app
    assert _state(shared.root) == before, "other tests use this repository too"


@cache
def _open(build: Callable[..., object], *arguments: Hashable) -> _Shared:
    folder = temporary_folder()
    build(folder / "repo", *arguments)
    config = Config(stale_check_seconds=0.0)
    app = open_app(folder / "repo", index_dir=folder / "index", config=config)
    atexit.register(app.close)
    app.index()
    app.index_history()
    return _Shared(folder / "repo", app)


def _state(root: Path) -> Mapping[str, tuple[int, int]]:
    """Return the modification time and the size of each file and folder, including those of git."""
    return {
        path: (status.st_mtime_ns, status.st_size)
        for folder, _, names in os.walk(root)
        for path in (folder, *(f"{folder}/{name}" for name in names))
        for status in (os.lstat(path),)
    }
