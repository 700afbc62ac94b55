"""Select the lines of a bulk change that remove something for good.

Most lines of such a commit move or rename things, or change all files in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from rootle.sources.git.commits.patch_parsing import FileChange, Hunk

_WORD: Final = re.compile(r"\w{4,60}")


def keep_removed_words(changes: Sequence[FileChange]) -> list[FileChange]:
    """Return the changes, in the same order, with only those lines that remove a word.

    A line removes a word if the commit removed the line, and if it contains a word that occurs
    neither in an added or unchanged line of the commit nor in a line selected before.
    """
    known = {
        word
        for change in changes
        for hunk in change.hunks
        for line in hunk.lines
        if not line.startswith("-")
        for word in _WORD.findall(line)
    }
    return [replace(change, hunks=tuple(_keep(change.hunks, known))) for change in changes]


def _keep(hunks: Iterable[Hunk], known: set[str]) -> Iterable[Hunk]:
    """Yield the hunks with selected lines, and add the words of these lines to the known ones."""
    for hunk in hunks:
        kept = []
        for line in hunk.lines:
            if line.startswith("-") and not known.issuperset(words := _WORD.findall(line)):
                known.update(words)
                kept.append(line)
        if kept:
            yield replace(hunk, lines=tuple(kept))
