"""Opens the mem0 library without telemetry, downloads or a language model."""

from __future__ import annotations

import hashlib
import importlib
import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rootle.errors import MissingExtraError, UnavailableError
from rootle.protocols import Embedder, QueryEmbedder

Mem0 = Any  # checking the types of mem0 would require installing it with all its dependencies

_COLLECTION: Final = "memories"
# mem0 requires a language model. The model "none" is never called, and no server listens on port 9.
_NO_MODEL: Final = {"model": "none", "lmstudio_base_url": "http://127.0.0.1:9/v1"}


def import_mem0(folder: Path) -> Mem0:
    """Return the main module of mem0, with telemetry disabled.

    mem0 reads MEM0_TELEMETRY and MEM0_DIR when it is imported. Without MEM0_DIR, it creates a
    folder in the user's home.
    """
    variables = {"MEM0_TELEMETRY": "false", "MEM0_DIR": os.fspath(folder)}
    original = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        main: Mem0 = importlib.import_module("mem0.memory.main")
        telemetry: Mem0 = importlib.import_module("mem0.memory.telemetry")
        models: Mem0 = importlib.import_module("mem0.utils.spacy_models")
    except ImportError as error:
        raise MissingExtraError(
            f"memoryStore is \"mem0\", which needs {error.name}: pip install 'rootle[mem0]'"
        ) from error
    finally:
        _restore(original)
    # The host program may have imported mem0 before, with telemetry enabled.
    main.MEM0_TELEMETRY = telemetry.MEM0_TELEMETRY = False
    # With spaCy installed, mem0 would download a language model.
    models._load_failed_full = models._load_failed_lemma = True  # noqa: SLF001 - no public option
    return main


def _restore(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def open_vectors(folder: Path) -> Any:
    """Return a qdrant client for a folder. Raise UnavailableError if another process uses it."""
    qdrant = importlib.import_module("qdrant_client")
    try:
        # Agents call tools from any thread. The store's lock serializes the calls.
        return qdrant.QdrantClient(path=os.fspath(folder), force_disable_check_same_thread=True)
    except RuntimeError as error:
        raise UnavailableError(
            f"mem0's memories in {folder} are open in another process, and only one process at a "
            'time can use them; end that process, or set memoryStore to "embedded"'
        ) from error


def open_memory(main: Mem0, client: Any, embedder: Embedder, history: Path) -> Mem0:
    """Return mem0 with a collection for this embedder. Other collections are merged into it."""
    digest = hashlib.sha256(embedder.fingerprint.encode("utf-8", "surrogatepass")).hexdigest()
    name = f"{_COLLECTION}-{digest[:16]}"
    vectors = {
        "client": client,
        "path": "unused",  # required by mem0, although `client` replaces it
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
        # mem0 requests indexes that qdrant supports only on a server.
        warnings.simplefilter("ignore", UserWarning)
        memory = main.Memory.from_config(config)
    # mem0's configuration accepts only its own embedders, so the embedder is replaced afterwards.
    memory.embedding_model = _EmbedderAdapter(embedder)
    # With fastembed installed, mem0 would download vocabularies.
    memory.vector_store._bm25_encoder = False  # noqa: SLF001 - no public option
    _migrate_collections(client, memory)
    return memory


class _EmbedderAdapter:
    """Adapts rootle's embedder to the interface that mem0 calls."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        if memory_action == "search" and isinstance(self._embedder, QueryEmbedder):
            return [float(part) for part in self._embedder.embed_query(text)]
        return self.embed_batch([text])[0]

    def embed_batch(self, texts: Sequence[str], *_: str) -> list[list[float]]:
        return [[float(part) for part in row] for row in self._embedder.embed(texts)]


def _migrate_collections(client: Any, memory: Mem0) -> None:
    """Embed the memories of other models again, because their vectors are not comparable."""
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
