"""One file for whoever wants to read it: only what the walk would list, and only text."""

from __future__ import annotations

import os
from pathlib import Path

from rootle.sources.files.discovery import Discovery, WalkRules, look_at, walk_files
from rootle.sources.files.skip_rules import SYMLINK
from rootle.sources.files.text_reader import TextFile, read_text


def read_one(root: Path, path: str, rules: WalkRules) -> TextFile | str | None:
    """The text of the file at a path relative to `root`, or the reason for leaving it out.

    None where there is no such file, or one that ignore files leave out. Nothing outside the root
    is ever opened: links are not followed, and `..` is no part of any path that the walk lists.
    """
    walk = look_at(root, [path], rules)
    if walk is None:
        walk = walk_files(root, rules)
    reason = _reason(walk, path)
    if reason is not None:
        return reason
    if all(entry.path != path for entry in walk.files):
        return None
    # A folder on the way may have been replaced by a link since the walk.
    folder = os.path.realpath(root)
    parent = os.path.dirname(os.path.join(folder, path))
    if os.path.realpath(parent) != parent:
        return SYMLINK
    return read_text(Path(folder, path), path, rules.readers)


def _reason(walk: Discovery, path: str) -> str | None:
    return next((skip.reason for skip in walk.skips if skip.path == path), None)
