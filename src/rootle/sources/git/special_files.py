"""Find named pipes, sockets and devices that git would open instead of regular files.

If git opens a named pipe to which no process writes, git waits indefinitely.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from itertools import chain
from typing import Final

from rootle.sources.git.git_dirs import GitFolders, list_settings

_WORK_TREE_NAMES: Final = frozenset({".gitignore", ".gitattributes", ".gitmodules", ".mailmap"})


def find_special_file(top: str, git: GitFolders) -> str | None:
    """Return a special file that git may open in this work tree, or None."""
    folders = dict.fromkeys((git.own, git.common))
    in_git = chain.from_iterable(map(_list_others, folders))
    in_tree = (path for path in _list_others(top) if os.path.basename(path) in _WORK_TREE_NAMES)
    named = chain.from_iterable(_list_named(folder, top) for folder in folders)
    return next(filter(is_special, chain(in_git, named, in_tree)), None)


def is_special(path: str) -> bool:
    """Return whether a path leads to something that is neither a regular file nor a folder."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _list_named(folder: str, top: str) -> Iterator[str]:
    """Yield all values in the configuration that may be paths, such as those of included files."""
    for _, value in list_settings(folder):
        for base in (folder, top):
            yield os.path.join(base, os.path.expanduser(value))


def _list_others(folder: str) -> Iterator[str]:
    """Yield the paths below a folder that are neither regular files nor folders."""
    pending = [folder]
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    elif not entry.is_file(follow_symlinks=False):
                        yield entry.path
        except OSError:
            continue
