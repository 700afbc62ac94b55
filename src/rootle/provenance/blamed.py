"""If the history of words was not read, attribute them to the last changes of their lines."""

from __future__ import annotations

from collections import defaultdict
from time import monotonic
from typing import Final

from rootle.provenance.tracking import Words
from rootle.provenance.walk import IGNORED_SHARE, PassageWalk
from rootle.sources.git.lines.commit_facts import read_headers
from rootle.sources.git.lines.line_blame import blame_lines

_MAX_VERSIONS: Final = 4  # versions of files for which git is asked


def credit_last_changes(walk: PassageWalk, deadline_s: float) -> tuple[int, ...]:
    """Ask `git blame` about the words that a walk left unread, and add the commits to the walk.

    Return the numbers of the lines of the passage for which a commit was found, in ascending order.
    git is stopped at `deadline_s` on the monotonic clock; words that it has not found by then stay
    without a commit.
    """
    found = walk.contributions
    unread = sorted(walk.unread, key=lambda one: -sum(found.weights[word] for word in one[2]))
    credited: dict[str, set[int]] = defaultdict(set)
    paths: dict[str, str] = {}
    for revision, path, words in unread[:_MAX_VERSIONS]:
        by_line = _group_by_line(words)
        left_s = deadline_s - monotonic()
        blamed = blame_lines(walk.folder, revision, path, by_line, left_s) if left_s > 0 else ()
        for entry in blamed:
            paths.setdefault(entry.sha, entry.path or path)
            for line in entry.lines:
                credited[entry.sha].update(by_line.get(line, ()))
    headers = read_headers(walk.folder, list(credited))
    for sha, words_of_commit in credited.items():
        if sha in headers:
            share = IGNORED_SHARE if sha in walk.ignored else 1.0
            found.add(sha, headers[sha].message, paths[sha], words_of_commit, share)
    walk.last_seen.update(credited)
    return tuple(sorted({found.lines[word] for ids in credited.values() for word in ids}))


def _group_by_line(words: Words) -> dict[int, set[int]]:
    found: dict[int, set[int]] = defaultdict(set)
    for word, position in words.items():
        found[position.line].add(word)
    return found
