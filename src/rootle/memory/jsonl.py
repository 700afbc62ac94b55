"""Memories as lines of JSON, from another machine or another program."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from rootle.memory.secrets import masked
from rootle.serialization.timestamps import convert_to_utc
from rootle.text.terms import encodable
from rootle.types import Memory, MemoryReference

MAX_FACT_CHARS: Final = 4_000
_MAX_COUNT: Final = 1_000_000_000
_PLACE: Final = ("path", "symbol", "root", "digest")


def read_memories(lines: Iterable[str]) -> tuple[list[Memory], list[str]]:
    """The memories, their secrets masked, and for each line that holds none the reason."""
    memories, refused = [], []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            memories.append(_memory(json.loads(line)))
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            refused.append(f"line {number}: {error}")
    return memories, refused


def _memory(data: Any) -> Memory:  # Any: whatever stands in the file
    if not isinstance(data, dict) or not isinstance(data.get("text"), str):
        raise TypeError(
            'expected an object like {"text": "…", "createdAt": "2024-05-10T12:00:00Z"}'
        )
    if len(data["text"]) > MAX_FACT_CHARS:
        raise ValueError(f'"text" has {len(data["text"])} characters, at most {MAX_FACT_CHARS}')
    clean = masked(encodable(data["text"].strip()))
    if not clean.text or clean.says_nothing:
        raise ValueError("it has no text, or nothing but a secret")
    count = data.get("count", 1)
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= _MAX_COUNT:
        raise ValueError(f'"count" is not a number from 1 to {_MAX_COUNT}')
    return Memory("", clean.text, _utc(data.get("createdAt")), count=count, about=_about(data))


def _utc(time: object) -> str:
    if not isinstance(time, str):
        raise TypeError('"createdAt" is missing, expected a time like 2024-05-10T12:00:00Z')
    return convert_to_utc(time)


def _about(data: dict[str, Any]) -> tuple[MemoryReference, ...]:
    places = data.get("about") or []
    if not isinstance(places, list):
        raise TypeError('"about" is no list')
    return tuple(
        MemoryReference(*(encodable(str(place.get(key) or "")) for key in _PLACE))
        for place in places
        if isinstance(place, dict) and place.get("path")
    )
