"""Memories that say nearly the same, for a person to choose from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from rootle.text.terms import STOP_WORDS, WORD
from rootle.types import Memory


def alike(memories: Iterable[Memory]) -> list[tuple[str, ...]]:
    """The ids of memories with the same words, however they are put together."""
    groups: defaultdict[frozenset[str], list[str]] = defaultdict(list)
    for memory in memories:
        words = frozenset(WORD.findall(memory.text.casefold()))
        groups[words - STOP_WORDS or words].append(memory.id)
    return [tuple(ids) for ids in groups.values() if len(ids) > 1]
