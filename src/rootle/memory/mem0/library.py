"""Memory store that uses the mem0 library, with rootle's embedder and without network access.

By default, mem0 lets a language model rewrite each text. Here, texts are stored verbatim.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from rootle.errors import UnavailableError
from rootle.memory.mem0.record import (
    ABOUT,
    COUNT,
    entity_id,
    normalize_text,
    read_record,
    reference_key,
    write_origin,
    write_references,
)
from rootle.memory.mem0.setup import Mem0, import_mem0, open_memory, open_vectors
from rootle.protocols import Embedder
from rootle.storage.permissions import PRIVATE_DIR, make_private_dir, set_tree_modes
from rootle.types import Memory, MemoryOrigin, MemoryReference

# Keys in the metadata of stored memories. They stay unchanged, so that stored memories can be read.
_TEXT_DIGEST: Final = "told"  # a digest, to find an earlier memory with the same text
_PLACES: Final = "places"  # the referenced files and symbols
_MAX_REFERRING: Final = 1_000


class Mem0Store:
    """A MemoryStore in a folder that only one process can open at a time. Thread-safe."""

    def __init__(self, folder: Path, open_embedder: Callable[[], Embedder]) -> None:
        """Create a store. It loads and writes nothing before its first use."""
        self._folder = folder
        self._open_embedder = open_embedder
        self._memory: Mem0 = None
        self._client: Any = None  # the client of qdrant, in which mem0 stores the vectors
        self._lock = threading.Lock()

    def add(
        self,
        text: str,
        user_id: str,
        about: Sequence[MemoryReference] = (),
        origin: MemoryOrigin | None = None,
    ) -> Memory:
        """Store a text. A repeated text increases the count of the stored memory."""
        with self._use_memory() as memory:
            earlier = _find_text(memory, text, entity_id(user_id))
            if earlier is None:
                metadata = {**_reference_metadata(about), **write_origin(origin)}
                return _insert(memory, text.strip(), entity_id(user_id), metadata)
            known = read_record(earlier)
            # The latest references replace the earlier ones.
            metadata = {
                **(_reference_metadata(about) if about else {}),
                **write_origin(origin, known),
            }
            return _increment(memory, known, metadata)

    def search(
        self, topic: str, user_id: str, top_k: int, about: Sequence[MemoryReference] = ()
    ) -> list[Memory]:
        """Return at most `top_k` memories: those that refer to `about`, then the best matches."""
        user = entity_id(user_id)
        with self._use_memory() as memory:
            found = [
                *_find_referring(memory, user, about),
                *_find_similar(memory, topic, user, top_k),
            ]
        unique: dict[str, Memory] = {}
        for one in found:
            unique.setdefault(one.id, one)
        return list(unique.values())[:top_k]

    def close(self) -> None:
        """Release the folder for other processes. The next use opens it again."""
        with self._lock:
            if self._memory is not None:
                self._memory.close()
                self._client.close()
            self._memory = self._client = None

    @contextmanager
    def _use_memory(self) -> Iterator[Mem0]:
        with self._lock:
            try:
                if self._memory is None:
                    self._open()
                yield self._memory
            except (OSError, sqlite3.Error) as error:
                raise UnavailableError(
                    f"cannot use mem0's memories in {self._folder}: {error}"
                ) from error

    def _open(self) -> None:
        make_private_dir(self._folder)
        main = import_mem0(self._folder)
        embedder = self._open_embedder()
        self._client = open_vectors(self._folder / "vectors")
        try:
            self._memory = open_memory(main, self._client, embedder, self._folder / "history.db")
        except BaseException:
            self._client.close()
            raise
        set_tree_modes(self._folder, PRIVATE_DIR)


def _find_text(memory: Mem0, text: str, user: str) -> Mapping[str, Any] | None:
    filters = {"user_id": user, _TEXT_DIGEST: _digest(normalize_text(text))}
    found = memory.get_all(filters=filters, top_k=1)["results"]
    return found[0] if found else None


def _insert(memory: Mem0, text: str, user: str, metadata: Mapping[str, object]) -> Memory:
    digest = _digest(normalize_text(text))
    metadata = {_TEXT_DIGEST: digest, COUNT: 1, **metadata}
    added = memory.add(text, user_id=user, metadata=metadata, infer=False)["results"]
    return read_record(memory.get(added[0]["id"]))


def _increment(memory: Mem0, known: Memory, metadata: Mapping[str, object]) -> Memory:
    memory.update(known.id, metadata={COUNT: known.count + 1, **metadata})
    return read_record(memory.get(known.id))


def _reference_metadata(about: Sequence[MemoryReference]) -> dict[str, object]:
    return {ABOUT: write_references(about), _PLACES: sorted(map(reference_key, about))}


def _find_referring(memory: Mem0, user: str, about: Sequence[MemoryReference]) -> list[Memory]:
    """Return the memories that refer to one of these files or symbols, newest first."""
    if not about:
        return []
    filters = {"user_id": user, _PLACES: {"in": sorted(map(reference_key, about))}}
    records = memory.get_all(filters=filters, top_k=_MAX_REFERRING)["results"]
    return sorted(map(read_record, records), key=lambda one: one.created_at, reverse=True)


def _find_similar(memory: Mem0, topic: str, user: str, top_k: int) -> list[Memory]:
    if not topic.strip():
        return []
    # mem0 ignores `limit` and rejects `user_id` outside the filters.
    found = memory.search(topic, filters={"user_id": user}, top_k=top_k)["results"]
    return [read_record(record) for record in found]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
