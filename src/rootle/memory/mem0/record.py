"""How a memory stands in mem0, the library and the service alike, and how it is read back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final
from urllib.parse import quote

from rootle.serialization.timestamps import convert_to_utc
from rootle.types import Memory, MemoryReference

# In metadata, which other programs may write into as well.
ABOUT: Final = "rootle_about"
COUNT: Final = "rootle_count"

Record = Mapping[str, Any]  # Any: JSON


def entity_id(user_id: str) -> str:
    """A user's name as mem0 takes it, which refuses white space."""
    return quote(user_id, safe="@")


def place(tie: MemoryReference) -> str:
    """What tells one file or symbol from another."""
    return f"{tie.root}:{tie.path}:{tie.symbol}"


def plain(text: str) -> str:
    """The same for texts that differ in case and white space alone: they are one memory."""
    return " ".join(text.split()).casefold()


def ties(about: Sequence[MemoryReference]) -> list[dict[str, str]]:
    """What a memory is about, as metadata."""
    return [asdict(tie) for tie in about]


def read_record(record: Record) -> Memory:
    """The memory in a record of mem0; ValueError says what is wrong with it."""
    metadata = record.get("metadata") or {}
    if not isinstance(metadata, Mapping):
        raise ValueError("metadata that is no object")  # noqa: TRY004 - as the others
    return Memory(
        id=_text(record, "id"),
        text=_text(record, "memory"),
        created_at=utc(record.get("updated_at") or record.get("created_at")),
        score=_score(record.get("score")),
        count=_count(metadata.get(COUNT)),
        about=_about(metadata.get(ABOUT)),
    )


def utc(time: object) -> str:
    """A time of any zone as rootle writes it; one without a zone is taken for UTC."""
    try:
        return convert_to_utc(str(time))
    except ValueError as error:
        raise ValueError(f"{time!r:.40} in the place of a time") from error


def _text(record: Record, name: str) -> str:
    value = record.get(name)
    if not isinstance(value, str) or not value:
        raise ValueError(f"a memory whose {name} is {value!r:.40}")
    return value


def _score(value: object) -> float:
    score = float(value) if isinstance(value, int | float) else 0.0
    if not math.isfinite(score):
        raise ValueError("a score that is no finite number")
    return min(max(score, 0.0), 1.0)


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 1


def _about(value: object) -> tuple[MemoryReference, ...]:
    """What of it are files; nothing where another program wrote something else there."""
    found = [tie for tie in value if isinstance(tie, Mapping)] if isinstance(value, list) else []
    names = ("symbol", "root", "digest")
    return tuple(
        MemoryReference(str(tie["path"]), **{name: str(tie[name]) for name in names if name in tie})
        for tie in found
        if "path" in tie
    )
