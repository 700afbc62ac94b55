"""Convert memories to and from records of mem0, whose library and service share one format."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final
from urllib.parse import quote

from rootle.serialization.timestamps import convert_to_utc
from rootle.types import Memory, MemoryOrigin, MemoryReference

# Keys in the metadata of a record. Other programs may write these keys too.
ABOUT: Final = "rootle_about"
COUNT: Final = "rootle_count"
STORED_IN: Final = "rootle_stored_in"
PERSONAL: Final = "rootle_personal"

Record = Mapping[str, Any]  # Any: JSON


def entity_id(user_id: str) -> str:
    """Return a user id percent-encoded, because mem0 accepts no white space in ids."""
    return quote(user_id, safe="@")


def reference_key(reference: MemoryReference) -> str:
    """Return a string that identifies a file or symbol."""
    return f"{reference.root}:{reference.path}:{reference.symbol}"


def normalize_text(text: str) -> str:
    """Return a text in lower case with single spaces.

    Texts that are equal in this form belong to one memory.
    """
    return " ".join(text.split()).casefold()


def write_references(about: Sequence[MemoryReference]) -> list[dict[str, str]]:
    """Return references as a metadata value."""
    return [asdict(reference) for reference in about]


def write_origin(origin: MemoryOrigin | None, known: Memory | None = None) -> dict[str, object]:
    """Return an origin as metadata, merged with the origins of a stored memory, if any."""
    if origin is None:
        return {}
    folders = [*(known.stored_in if known else ()), *([origin.root] if origin.root else ())]
    is_personal = origin.is_personal
    if known is not None and not origin.is_chosen:
        is_personal = is_personal or known.is_personal
    return {STORED_IN: list(dict.fromkeys(folders)), PERSONAL: is_personal}


def read_record(record: Record) -> Memory:
    """Return the memory in a record. Raise ValueError if the record is invalid."""
    metadata = record.get("metadata") or {}
    if not isinstance(metadata, Mapping):
        raise ValueError("metadata that is not an object")  # noqa: TRY004 - like the other errors
    return Memory(
        id=_read_text(record, "id"),
        text=_read_text(record, "memory"),
        created_at=_read_time(record.get("updated_at") or record.get("created_at")),
        score=_read_score(record.get("score")),
        count=_read_count(metadata.get(COUNT)),
        about=_read_references(metadata.get(ABOUT)),
        stored_in=_read_folders(metadata.get(STORED_IN)),
        is_personal=metadata.get(PERSONAL) is True,
    )


def _read_text(record: Record, name: str) -> str:
    value = record.get(name)
    if not isinstance(value, str) or not value:
        raise ValueError(f"a memory whose {name} is {value!r:.40}")
    return value


def _read_time(time: object) -> str:
    try:
        return convert_to_utc(str(time))
    except ValueError as error:
        raise ValueError(f"{time!r:.40} instead of a time") from error


def _read_score(value: object) -> float:
    score = float(value) if isinstance(value, int | float) else 0.0
    if not math.isfinite(score):
        raise ValueError("a score that is not a finite number")
    return min(max(score, 0.0), 1.0)


def _read_count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 1


def _read_folders(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _read_references(value: object) -> tuple[MemoryReference, ...]:
    """Return the valid references. Other programs may have written any value."""
    items = [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
    names = ("symbol", "root", "digest")
    return tuple(
        MemoryReference(
            str(item["path"]), **{name: str(item[name]) for name in names if name in item}
        )
        for item in items
        if "path" in item
    )
