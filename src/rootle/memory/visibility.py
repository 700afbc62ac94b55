"""Decide which project a memory belongs to, and whether it may be shown in another project."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Final

from rootle.storage.paths import contains_home
from rootle.types import Memory, MemoryOrigin, MemoryReference

# Verbs that follow "the user" in sentences about the user. Without a verb, "user" often names
# something in the code, as in "the user table".
_USER_VERBS: Final = (
    "is|was|isn't|has|had|hasn't|does|doesn't|did|didn't|can|can't|cannot|will|won't|would|wouldn't|"
    "wants?|wanted|prefers?|preferred|likes?|liked|dislikes?|loves?|hates?|needs?|avoids?|uses?|"
    "used|works?|worked|lives?|lived|moved|comes|owns?|drives?|plays?|speaks?|reads?|writes?|knows?|"
    "learns?|studies|studied|teaches|thinks?|believes?|said|says|told|asked|asks|decided|decides|"
    "plans?|planned|wishes|hopes?|goes|eats?|drinks?|sleeps?|starts?|ends?|finishes|leaves|travels?|"
    "runs?|keeps?|calls?|expects?|insists?|switched|joined|left|married|celebrates?|wears?|types?|"
    "manages?|leads?|reviews?|commits?|edits?|turned|gets?|takes?|follows?|supports?|listens?|feels?"
)
_ADVERBS: Final = r"(?:\w+ly |also |never |always |often |still |now |no longer )?"
_ABOUT_USER: Final = re.compile(
    rf"(?:^|[.!?;:]\s+|\b[Tt]hat\s+)(?:[Tt]he\s+)?[Uu]ser,?\s+{_ADVERBS}(?:{_USER_VERBS})\b"
    r"|\b[Tt]he\s+user['’]s\b|^[Uu]ser['’]s\b|\bI(?:['’](?:m|ve|d|ll))?\s+[a-z]|\b(?:[Mm]y|mine)\b"
)


def choose_origin(
    root: str, text: str, about: Sequence[MemoryReference], is_personal: bool | None
) -> MemoryOrigin:
    """Return the origin of a memory that is stored in a folder.

    If `is_personal` is None, a memory is personal if it has no references, and if in addition it is
    about the user or `root` is not a project. A folder that contains the home folder is not a
    project.
    """
    is_project = not contains_home(root)
    if is_personal is None:
        is_personal = not about and (not is_project or is_about_user(text))
    return MemoryOrigin(root if is_project else "", is_personal)


def is_about_user(text: str) -> bool:
    """Return whether a text states something about the user, and not only about a project."""
    return _ABOUT_USER.search(text) is not None


def make_filter(root: str) -> Callable[[Memory], bool]:
    """Return a function that returns whether a memory may be shown in a project.

    Memories without an origin may be shown in every project: they were stored by an earlier version
    or by another program. The function caches whether folders exist, so use it for one search only.
    """

    @cache
    def is_same(origin: str) -> bool:
        return is_same_project(origin, root)

    def is_visible(memory: Memory) -> bool:
        if memory.is_personal:
            return True
        origins = [*memory.stored_in, *(about.root for about in memory.about)]
        return any(map(is_same, origins)) or not any(origins)

    return is_visible


def is_same_project(origin: str, root: str) -> bool:
    """Return whether `origin` is the folder of a project, or was its folder before a move.

    A folder that no longer exists is assumed to be the old folder of a project with the same name.
    """
    return origin == root or (_last_name(origin) == _last_name(root) and not os.path.isdir(origin))


def find_places(
    references: Iterable[MemoryReference], roots: Iterable[str]
) -> frozenset[tuple[str, str, str]]:
    """Return the places of references, in the folders of their projects before and after a move.

    `roots` are the folders to which memories refer.
    """

    @cache
    def folders_of(project: str) -> set[str]:
        return {project, *(root for root in roots if is_same_project(root, project))}

    return frozenset(
        (root, one.path, one.symbol) for one in references for root in folders_of(one.root)
    )


def _last_name(path: str) -> str:
    return re.split(r"[/\\]", path.rstrip("/\\"))[-1]
