"""Read memories from JSON Lines, as exported by rootle or written by another program."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from rootle.serialization.timestamps import convert_to_utc
from rootle.text.secret_masking import mask_secrets
from rootle.text.terms import encodable
from rootle.types import Memory, MemoryReference

if TYPE_CHECKING:
    from rootle.text.secret_detection import Exceptions

MAX_FACT_CHARS: Final = 4_000
_MAX_COUNT: Final = 1_000_000_000
_REFERENCE_FIELDS: Final = ("path", "symbol", "root", "digest")


def read_memories(
    lines: Iterable[str], secret_exceptions: Exceptions = ()
) -> tuple[list[Memory], list[str]]:
    """Return the memories with masked secrets, and an error message for each invalid line."""
    memories, errors = [], []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            if encodable(line) != line:
                raise ValueError("not valid UTF-8; convert the file to UTF-8")  # noqa: TRY301
            line = line.removeprefix("\ufeff")  # a byte order mark
            memories.append(_parse_memory(json.loads(line), secret_exceptions))
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            errors.append(f"line {number}: {error}")
    return memories, errors


def has_visible_text(text: str) -> bool:
    """Return whether a text contains more than white space and control characters."""
    return any(char.isprintable() and not char.isspace() for char in text)


def _parse_memory(data: Any, secret_exceptions: Exceptions) -> Memory:  # Any: parsed JSON
    if not isinstance(data, dict) or not isinstance(data.get("text"), str):
        raise TypeError(
            'expected an object like {"text": "…", "createdAt": "2024-05-10T12:00:00Z"}'
        )
    if len(data["text"]) > MAX_FACT_CHARS:
        raise ValueError(f'"text" has {len(data["text"])} characters; use at most {MAX_FACT_CHARS}')
    clean = mask_secrets(encodable(data["text"].strip()), secret_exceptions)
    if not has_visible_text(clean.text) or clean.is_only_secrets:
        raise ValueError('"text" is empty or contains only a secret')
    count = data.get("count", 1)
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= _MAX_COUNT:
        raise ValueError(f'"count" is not a number from 1 to {_MAX_COUNT}')
    created_at = _parse_time(data.get("createdAt"))
    return Memory(
        "",
        clean.text,
        created_at,
        count=count,
        about=_parse_references(data),
        stored_in=_parse_folders(data),
        is_personal=data.get("isPersonal") is True,
    )


def _parse_time(time: object) -> str:
    if not isinstance(time, str):
        raise TypeError('"createdAt" is missing, expected a time like 2024-05-10T12:00:00Z')
    # Importing a time in the form in which it was exported must not change it.
    return convert_to_utc(time, timespec="milliseconds" if "." in time else "seconds")


def _parse_folders(data: dict[str, Any]) -> tuple[str, ...]:
    folders = data.get("storedIn") or []
    if not isinstance(folders, list) or not all(isinstance(one, str) for one in folders):
        raise TypeError('"storedIn" is not a list of folders')
    return tuple(dict.fromkeys(encodable(one) for one in folders if one))


def _parse_references(data: dict[str, Any]) -> tuple[MemoryReference, ...]:
    references = data.get("about") or []
    if not isinstance(references, list):
        raise TypeError('"about" is not a list')
    found = tuple(
        MemoryReference(*(encodable(str(reference.get(name) or "")) for name in _REFERENCE_FIELDS))
        for reference in references
        if isinstance(reference, dict) and reference.get("path")
    )
    for one in found:
        if "\0" in one.path + one.root:
            raise ValueError(f'"about" has the path {one.path!r:.80}, and no path contains NUL')
    return found
