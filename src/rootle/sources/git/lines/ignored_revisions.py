"""Read the lists of reformatting commits that `git blame` ignores."""

from __future__ import annotations

import os
import re
from typing import Final

from rootle.sources.files.regular_file_reader import read_below
from rootle.sources.git.git_dirs import find_git_folders, list_settings

_DEFAULT_FILE: Final = ".git-blame-ignore-revs"
_SETTING: Final = "ignorerevsfile"
_HASH: Final = re.compile(r"^\s*([0-9a-f]{40}(?:[0-9a-f]{24})?)\b", re.MULTILINE | re.IGNORECASE)
_MAX_BYTES: Final = 1_000_000


def read_ignored_revisions(top: str) -> frozenset[str]:
    """Return the commits that the lists in a work tree mark as reformatting.

    A list that the configuration of the repository names is read only if it is a regular file in
    the work tree, because the configuration may come from a stranger.
    """
    found: set[str] = set()
    for name in dict.fromkeys((_DEFAULT_FILE, *_configured_files(top))):
        text = read_below(top, name, _MAX_BYTES)
        if isinstance(text, bytes):
            found.update(sha.lower() for sha in _HASH.findall(text.decode("utf-8", "replace")))
    return frozenset(found)


def _configured_files(top: str) -> list[str]:
    git = find_git_folders(top)
    names = [value for name, value in list_settings(git.common) if name == _SETTING] if git else []
    relative = [os.path.normpath(name) for name in names if name]
    return [
        name
        for name in relative
        if not os.path.isabs(name) and name.split(os.sep)[0] not in (os.pardir, ".git")
    ]
