"""Memories kept by mem0's library on this machine: rootle's embedder, no writing model, no network.

mem0 would have a language model rewrite what it is told; here each text is kept as it is.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sqlite3
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from rootle.errors import MissingExtraError, UnavailableError
from rootle.memory.mem0.record import ABOUT, COUNT, entity_id, place, plain, read_record, ties
from rootle.protocols import Embedder, QueryEmbedder
from rootle.types import Memory, MemoryReference

_TOLD: Final = "told"  # a digest of the text: what was told before is found by it
_PLACES: Final = "places"  # the files and symbols that a memory is tied to
_COLLECTION: Final = "memories"
_MAX_TIED: Final = 1_000
# mem0 wants to know a language model. This one is never asked, and nobody would answer there.
_NO_MODEL: Final = {"model": "none", "lmstudio_base_url": "http://127.0.0.1:9/v1"}

_Mem0 = Any  # mem0 has types, but checking them would mean to install it with all that it needs


class Mem0Store:
    """A MemoryStore in a folder that one process at a time may have open. Safe for threads."""

    def __init__(self, folder: Path, open_embedder: Callable[[], Embedder]) -> None:
        """Nothing is loaded or written before the first use."""
        self._folder = folder
        self._open_embedder = open_embedder
        self._memory: _Mem0 = None
        self._client: Any = None  # qdrant's, which mem0 keeps the vectors with
        self._lock = threading.Lock()

    def add(self, text: str, user_id: str, about: Sequence[MemoryReference] = ()) -> Memory:
        """Keep a text; what was told before is one memory with a count."""
        with self._opened() as memory:
            twin = _twin(memory, text, entity_id(user_id))
            if twin is None:
                return _told_first(memory, text.strip(), entity_id(user_id), about)
            return _told_again(memory, twin, about)

    def search(
        self, topic: str, user_id: str, top_k: int, about: Sequence[MemoryReference] = ()
    ) -> list[Memory]:
        """At most top_k memories, best first; those that are tied to what is in play come first."""
        user = entity_id(user_id)
        with self._opened() as memory:
            found = [*_tied_to(memory, user, about), *_like(memory, topic, user, top_k)]
        first: dict[str, Memory] = {}
        for one in found:
            first.setdefault(one.id, one)
        return list(first.values())[:top_k]

    def close(self) -> None:
        """Let another process have the folder; the next use opens it again."""
        with self._lock:
            if self._memory is not None:
                self._memory.close()
                self._client.close()
            self._memory = self._client = None

    @contextmanager
    def _opened(self) -> Iterator[_Mem0]:
        with self._lock:
            try:
                if self._memory is None:
                    self._open()
                yield self._memory
            except (OSError, sqlite3.Error) as error:
                raise UnavailableError(f"mem0's memories in {self._folder}: {error}") from error

    def _open(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        mem0 = _import_mem0(self._folder)
        embedder = self._open_embedder()
        self._client = _open_vectors(self._folder / "vectors")
        try:
            self._memory = _open_memory(mem0, self._client, embedder, self._folder / "history.db")
        except BaseException:
            self._client.close()
            raise


class _Embedding:
    """rootle's embedder as mem0 calls one."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        if memory_action == "search" and isinstance(self._embedder, QueryEmbedder):
            return [float(part) for part in self._embedder.embed_query(text)]
        return self.embed_batch([text])[0]

    def embed_batch(self, texts: Sequence[str], *_: str) -> list[list[float]]:
        return [[float(part) for part in row] for row in self._embedder.embed(texts)]


def _import_mem0(folder: Path) -> _Mem0:
    """mem0's main module, with its reporting switched off.

    It reads both variables when it is imported, and makes a folder in the user's home without one.
    """
    asked = {"MEM0_TELEMETRY": "false", "MEM0_DIR": os.fspath(folder)}
    before = {name: os.environ.get(name) for name in asked}
    os.environ.update(asked)
    try:
        main: _Mem0 = importlib.import_module("mem0.memory.main")
        telemetry: _Mem0 = importlib.import_module("mem0.memory.telemetry")
        models: _Mem0 = importlib.import_module("mem0.utils.spacy_models")
    except ImportError as error:
        raise MissingExtraError(
            f"memoryStore is \"mem0\", which needs {error.name}: pip install 'rootle[mem0]'"
        ) from error
    finally:
        _restore(before)
    # The program that rootle runs in may have imported it before, and with all this on.
    main.MEM0_TELEMETRY = telemetry.MEM0_TELEMETRY = False
    # It downloads a model of the language where it finds spaCy.
    models._load_failed_full = models._load_failed_lemma = True  # noqa: SLF001 - no other way
    return main


def _restore(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _open_vectors(folder: Path) -> Any:
    qdrant = importlib.import_module("qdrant_client")
    try:
        # Agents call tools from whatever thread they have; our own lock keeps them apart.
        return qdrant.QdrantClient(path=os.fspath(folder), force_disable_check_same_thread=True)
    except RuntimeError as error:
        raise UnavailableError(
            f"mem0's memories in {folder} are open in another process, and it serves one at a "
            'time; end that one, or set memoryStore to "embedded"'
        ) from error


def _open_memory(mem0: _Mem0, client: Any, embedder: Embedder, history: Path) -> _Mem0:
    """mem0 over these vectors, filled from those of another embedder where there are any."""
    name = f"{_COLLECTION}-{_digest(embedder.fingerprint)[:16]}"
    vectors = {
        "client": client,
        "path": "unused",  # beside a client; without it mem0 refuses
        "collection_name": name,
        "embedding_model_dims": embedder.dimensions or len(embedder.embed(["a"])[0]),
    }
    config = {
        "vector_store": {"provider": "qdrant", "config": vectors},
        "llm": {"provider": "lmstudio", "config": _NO_MODEL},
        "embedder": {"provider": "lmstudio", "config": _NO_MODEL},
        "history_db_path": os.fspath(history),
    }
    with warnings.catch_warnings():
        # On indexes that mem0 asks for, and qdrant makes on a server alone.
        warnings.simplefilter("ignore", UserWarning)
        memory = mem0.Memory.from_config(config)
    # mem0 knows embedders by names of its own; the one that was made for the name is never asked.
    memory.embedding_model = _Embedding(embedder)
    # It downloads lists of words where it finds fastembed.
    memory.vector_store._bm25_encoder = False  # noqa: SLF001 - no other way
    _carry_over(client, memory)
    return memory


def _carry_over(client: Any, memory: _Mem0) -> None:
    """Embed anew what was kept by another model, whose vectors fit no question any more."""
    for collection in client.get_collections().collections:
        name = collection.name
        if name == memory.collection_name or not name.startswith(_COLLECTION):
            continue
        points, _ = client.scroll(name, limit=client.count(name).count or 1, with_payload=True)
        texts = [point.payload["data"] for point in points]
        if texts:
            memory.vector_store.insert(
                vectors=memory.embedding_model.embed_batch(texts),
                payloads=[point.payload for point in points],
                ids=[point.id for point in points],
            )
        client.delete_collection(name)


def _twin(memory: _Mem0, text: str, user: str) -> Mapping[str, Any] | None:
    filters = {"user_id": user, _TOLD: _digest(plain(text))}
    found = memory.get_all(filters=filters, top_k=1)["results"]
    return found[0] if found else None


def _told_first(memory: _Mem0, text: str, user: str, about: Sequence[MemoryReference]) -> Memory:
    metadata = {_TOLD: _digest(plain(text)), COUNT: 1, **_tied(about)}
    added = memory.add(text, user_id=user, metadata=metadata, infer=False)["results"]
    return read_record(memory.get(added[0]["id"]))


def _told_again(memory: _Mem0, twin: Mapping[str, Any], about: Sequence[MemoryReference]) -> Memory:
    known = read_record(twin)
    # What it is about is what it was about when it was told last.
    metadata = {COUNT: known.count + 1, **(_tied(about) if about else {})}
    memory.update(known.id, metadata=metadata)
    return read_record(memory.get(known.id))


def _tied(about: Sequence[MemoryReference]) -> dict[str, object]:
    return {ABOUT: ties(about), _PLACES: sorted(map(place, about))}


def _tied_to(memory: _Mem0, user: str, about: Sequence[MemoryReference]) -> list[Memory]:
    """What is tied to one of these places, what was told last first."""
    if not about:
        return []
    filters = {"user_id": user, _PLACES: {"in": sorted(map(place, about))}}
    records = memory.get_all(filters=filters, top_k=_MAX_TIED)["results"]
    return sorted(map(read_record, records), key=lambda one: one.created_at, reverse=True)


def _like(memory: _Mem0, topic: str, user: str, top_k: int) -> list[Memory]:
    if not topic.strip():
        return []
    # `limit` would be ignored, and a user's name beside the filters refused.
    found = memory.search(topic, filters={"user_id": user}, top_k=top_k)["results"]
    return [read_record(record) for record in found]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
