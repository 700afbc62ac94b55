"""Create the components that embed and find images, on first use."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rootle.app.configured_models import ComponentSetup
from rootle.config.api_key import read_key
from rootle.embed.image_model import ImageModel, is_bad_input
from rootle.federation.image_search import ImageSearch
from rootle.index.images.image_store import ImageStore
from rootle.index.images.image_vectors import NEUTRAL_TEXTS
from rootle.index.reader import ImageMatch
from rootle.indexing.images.image_embedding import ImageEmbedding
from rootle.storage.change_time import modification_time_ns
from rootle.types import ImageStatus

if TYPE_CHECKING:
    from rootle.index.local.snapshot import Snapshot
    from rootle.protocols import Matrix


class ImageComponents:
    """The components for the images of one folder, if a server is configured. Thread-safe."""

    def __init__(self, setup: ComponentSetup, open_snapshot: Callable[[], Snapshot]) -> None:
        config = setup.config
        self._root = Path(os.path.realpath(setup.root))
        self._timeout_s = config.dense_timeout_ms / 1000
        self._open_snapshot = open_snapshot
        self._store = ImageStore(setup.index_dir)
        self._model = ImageModel(
            config.image_embedding_endpoint,
            config.image_embedding_model_id,
            key=lambda: read_key(
                config.image_embedding_api_key,
                config.image_embedding_api_key_command,
                "imageEmbeddingApiKeyCommand",
            ),
        )
        self._lock = threading.Lock()
        self._neutral: Matrix | None = None
        self.search = ImageSearch(config, self)
        self.embedding = ImageEmbedding(
            setup.root,
            self._store,
            self._model,
            open_snapshot,
            setup.on_warning,
            selection="docs" if config.ocr == "off" else config.ocr,
            is_bad_input=is_bad_input,
        )

    def find_by_text(self, question: str) -> Sequence[ImageMatch]:
        """Return the images that fit a question, best first. Raise RootleError if that fails."""
        vectors = self._store.vectors(self._model.fingerprint)
        if not vectors.images:
            return ()
        self._model.expect_dimensions(vectors.matrix.shape[1])
        neutral = self._neutral
        texts = [question] if neutral is not None else [question, *NEUTRAL_TEXTS]
        rows = self._model.embed_texts(texts, self._timeout_s)
        if neutral is None:
            neutral = self._neutral = rows[1:]
        return vectors.fitting(rows[0], neutral)

    def find_similar(self, image: bytes, media_type: str) -> Sequence[ImageMatch]:
        """Return the images that are similar to another one. Raise RootleError if that fails."""
        vectors = self._store.vectors(self._model.fingerprint)
        if not vectors.images:
            return ()
        self._model.expect_dimensions(vectors.matrix.shape[1])
        return vectors.similar(self._model.embed_image(image, media_type, self._timeout_s))

    def is_current(self, image: ImageMatch) -> bool:
        """Return whether an image is still in the folder, unchanged and not ignored."""
        try:
            info = os.lstat(self._root / image.path)
        except OSError:
            return False
        is_same = (info.st_size, modification_time_ns(info)) == (image.size, image.mtime_ns)
        return is_same and bool(self._open_snapshot().files_at([image.path]))

    def status(self) -> ImageStatus:
        """Return how many images are embedded."""
        return self.embedding.status()
