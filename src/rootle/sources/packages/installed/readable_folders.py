"""The folders from which the installed packages of a project may be read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

_MAX_LISTED: Final = 200


@dataclass(frozen=True, slots=True)
class Environment:
    """A project, and the folders outside of it whose packages may be read.

    These are the folders that the user has configured, and the caches of package managers.
    """

    root: str  # the real path of the project
    folders: tuple[str, ...] = ()  # configured by the user
    variables: Mapping[str, str] = field(default_factory=dict)  # environment variables

    def home(self, *parts: str) -> str:
        """Return a path below the home folder; "" if the home folder is unknown."""
        home = os.path.expanduser("~")
        return os.path.join(home, *parts) if os.path.isabs(home) else ""

    def variable(self, name: str) -> str:
        """Return the value of an environment variable if it is an absolute path, else ""."""
        value = self.variables.get(name, "")
        return value if os.path.isabs(value) else ""

    def may_read(self, path: str) -> bool:
        """Return whether a folder belongs to the project or to a configured folder."""
        return any(is_below(path, one) for one in (self.root, *self.folders))


def is_below(path: str, folder: str) -> bool:
    """Return whether a path is equal to a folder or inside it, after links are resolved."""
    real, base = os.path.realpath(path), os.path.realpath(folder)
    return real == base or real.startswith(base.rstrip(os.sep) + os.sep)


def existing_folders(paths: Sequence[str]) -> list[str]:
    """Return the paths of folders that exist, each once."""
    return list(dict.fromkeys(path for path in paths if path and os.path.isdir(path)))


def path_in(folder: str, *parts: str) -> str:
    """Return a path in a folder, or "" if `folder` is "" because it is unknown."""
    return os.path.join(folder, *parts) if folder else ""


def list_subfolders(folder: str) -> Iterator[str]:
    """Yield the first subfolders in alphabetical order; none if `folder` is "" or unreadable."""
    try:
        names = sorted(os.listdir(folder))[:_MAX_LISTED] if folder else []
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            yield path
