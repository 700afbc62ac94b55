"""Suggest existing paths for a path that does not exist."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Sequence
from typing import Final

from rootle.text.similarity.common_start import common_length
from rootle.text.similarity.edit_distance import edit_distance
from rootle.text.similarity.similar_names import similar_names

# The minimum similarity of two names, chosen by hand: "retrry.py" and "retries.py" resemble
# "retry.py", but "read.py" does not.
_MIN_SIMILARITY: Final = 0.75
# The maximum number of paths that are compared. Some names, such as __init__.py, are in hundreds of
# folders.
_MAX_COMPARED_PATHS: Final = 100
# A path that differs by this many edits from an existing path is probably a misspelling of it.
_MAX_TYPOS: Final = 2
# If the parts in which two paths differ are longer than this number of characters, only typing
# errors are counted exactly.
_MAX_EXACT_CHARS: Final = 100


def nearest_paths(path: str, known: Collection[str]) -> list[str]:
    """Return the known paths that are probably meant by a path, the most probable first.

    If the path is a misspelling of known paths, return only these. Otherwise, return the paths in
    the same folder with a similar name, and then paths in other folders: those with the same name,
    or else those that differ only in the extension, or else those with a similar name.
    """
    folder, name = posixpath.split(path)
    similar = _similar_in(folder, name, known)
    similar += [other for other in _similar_elsewhere(path, known) if other not in similar]
    distances = {other: _path_distance(path, other) for other in similar}
    misspelled = [other for other in similar if _is_misspelling(path, other, distances[other])]

    def order(other: str) -> tuple[bool, float, str]:
        return posixpath.dirname(other) != folder, distances[other], other

    return sorted(misspelled or similar, key=order)


def _similar_in(folder: str, name: str, known: Collection[str]) -> list[str]:
    """Return the paths of the files in a folder whose names resemble `name`."""
    siblings = [other for other in known if posixpath.dirname(other) == folder]
    names = [posixpath.basename(other) for other in siblings]
    return [posixpath.join(folder, one) for one in _similar_names(name, names)]


def _similar_names(name: str, names: Sequence[str]) -> list[str]:
    return [other for _, other in similar_names(name, names, _MIN_SIMILARITY)]


def _similar_elsewhere(path: str, known: Collection[str]) -> list[str]:
    """Return the paths with the same file name, or else with a similar one.

    Names that differ only in their extension are preferred to other similar names. If there are
    many paths, return those with the most folders in common.
    """
    name = posixpath.basename(path).casefold()
    by_name: dict[str, list[str]] = {}
    for other in known:
        by_name.setdefault(posixpath.basename(other).casefold(), []).append(other)
    stem = posixpath.splitext(name)[0]
    found = [name] if name in by_name else []
    found = found or [other for other in by_name if posixpath.splitext(other)[0] == stem]
    found = found or _similar_names(name, list(by_name))
    folders = set(path.split("/")[:-1])
    paths = [other for near in found for other in by_name[near]]
    paths.sort(key=lambda other: -len(folders.intersection(other.split("/"))))
    return paths[:_MAX_COMPARED_PATHS]


def _is_misspelling(path: str, other: str, edits: float) -> bool:
    """Return whether two paths differ by a few typing errors, for example in one folder."""
    stems = [posixpath.splitext(posixpath.basename(one))[0] for one in (path, other)]
    # "a.py" is not a misspelling of "b.py".
    return edits <= _MAX_TYPOS and (stems[0] == stems[1] or 2 * edits < len(stems[0]))


def _path_distance(left: str, right: str) -> float:
    """Return the edit distance of two paths. Their common start and end need not be compared.

    The distance of long paths with more than a few differences is estimated from their length.
    """
    start = common_length(left, right)
    left, right = left[start:], right[start:]
    end = common_length(left[::-1], right[::-1])
    left, right = left[: len(left) - end], right[: len(right) - end]
    longest = max(len(left), len(right))
    is_long = longest > _MAX_EXACT_CHARS
    return min(edit_distance(left, right, _MAX_TYPOS if is_long else longest), float(longest))
