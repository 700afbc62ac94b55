"""Audit of a user's memories: history, unmasked secrets, stale memories and duplicates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rootle.memory.sql_statements import MemoryEvent
from rootle.text.secret_masking import mask_secrets
from rootle.text.terms import STOP_WORDS, WORD
from rootle.types import Memory

if TYPE_CHECKING:
    from rootle.text.secret_detection import Exceptions


@dataclass(frozen=True, slots=True)
class Audit:
    """The history of a user's memories, and the ids of the memories to review."""

    events: tuple[MemoryEvent, ...]  # newest first
    with_secrets: tuple[str, ...]
    stale: tuple[str, ...]
    duplicates: tuple[tuple[str, ...], ...]  # groups of memories with the same words


def audit_memories(
    memories: Sequence[Memory], events: Iterable[MemoryEvent], secret_exceptions: Exceptions = ()
) -> Audit:
    """Return the history, and the memories to review. All memories must belong to one user."""
    return Audit(
        tuple(events),
        tuple(one.id for one in memories if mask_secrets(one.text, secret_exceptions).kinds),
        tuple(memory.id for memory in memories if memory.possibly_stale),
        tuple(_find_duplicates(memories)),
    )


def _find_duplicates(memories: Iterable[Memory]) -> list[tuple[str, ...]]:
    """Return the ids of memories with the same words, in groups. Stop words do not count."""
    groups: defaultdict[frozenset[str], list[str]] = defaultdict(list)
    for memory in memories:
        words = frozenset(WORD.findall(memory.text.casefold()))
        groups[words - STOP_WORDS or words].append(memory.id)
    return [tuple(ids) for ids in groups.values() if len(ids) > 1]
