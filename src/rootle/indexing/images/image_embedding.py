"""Keep the vectors of images current: in a background thread, or at once on request."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from time import monotonic, time
from typing import Final, Protocol

from rootle.errors import IndexStorageError, RootleError, UnavailableError
from rootle.index.images.image_store import EmbeddingFailure, ImageRow, ImageStore
from rootle.index.local.snapshot import Snapshot
from rootle.index.local.writer_lock import writer_lock
from rootle.index.reader import FileState
from rootle.indexing.images import LOCK_NAME
from rootle.protocols import Vector
from rootle.sources.documents.formats import IMAGE, document_format
from rootle.sources.documents.places import DocumentError
from rootle.sources.documents.readers.images.image_size import (
    MAX_IMAGE_BYTES,
    MAX_PIXELS,
    is_small,
    measure_image,
    media_type,
)
from rootle.sources.documents.recognition import reason_not_selected
from rootle.sources.files.regular_file_reader import read_below
from rootle.sources.files.skip_rules import NOT_REGULAR, SECRET, SYMLINK, TOO_LARGE, VANISHED
from rootle.storage.change_time import change_time_ns, modification_time_ns
from rootle.types import FILES, ImageStatus, WarningCallback

_ENDINGS: Final = (".png", ".jpg", ".jpeg")
# Images that the index skips for these reasons are not opened. Images that it skips for other
# reasons, for example because Tesseract is missing, can be embedded nevertheless.
_NEVER_READ: Final = frozenset({NOT_REGULAR, SECRET, SYMLINK, TOO_LARGE, VANISHED})
_IMAGE_TIMEOUT_S: Final = 20.0  # for one image, including retries
_MAX_FAILURES: Final = 3  # in a row; a single failure may be due to the image
_RETRY_DELAY_S: Final = 30.0  # after a failure, until background runs resume
# A process that ends soon, such as one search on the command line, embeds for at least this time,
# so that repeated searches embed all images eventually.
_MIN_S: Final = 0.5


class ImageEncoder(Protocol):
    """Converts images to vectors."""

    @property
    def fingerprint(self) -> str:
        """A name that changes with the model."""

    def expect_dimensions(self, dimensions: int) -> None:
        """Refuse vectors of a different length; 0 accepts any."""

    def embed_image(self, image: bytes, media_type: str, timeout_s: float) -> Vector:
        """Return a unit vector, or raise UnavailableError."""


class ImageEmbedding:
    """Embeds the images of one folder. Thread-safe. Only one process embeds at a time."""

    def __init__(
        self,
        root: Path,
        store: ImageStore,
        encoder: ImageEncoder,
        open_snapshot: Callable[[], Snapshot],
        on_warning: WarningCallback,
        *,
        selection: str,
        is_bad_input: Callable[[UnavailableError], bool],
        clock: Callable[[], float] = time,
    ) -> None:
        """`selection` is "docs" or "all", as for `ocr`.

        `is_bad_input` returns whether an error concerns only the image, and the encoder itself
        works.
        """
        self._root = os.path.realpath(root)
        self._store = store
        self._encoder = encoder
        self._open_snapshot = open_snapshot
        self._on_warning = on_warning
        self._selection = selection
        self._is_bad_input = is_bad_input
        self._clock = clock
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._started_at = 0.0
        self._is_stopping = threading.Event()
        self._warned = ""

    def start(self) -> None:
        """Embed new images in a background thread, unless one runs or has failed recently."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._started_at = monotonic()
                self._is_stopping = threading.Event()
                self._thread = threading.Thread(
                    target=self._run_in_background,
                    args=(self._is_stopping,),
                    name="rootle-images",
                    daemon=True,
                )
                self._thread.start()

    def embed_all(self) -> None:
        """Embed all new images. If another process is embedding images, wait until it has finished.

        If the server fails, a warning is reported, and the next update continues.
        """
        try:
            self._run(threading.Event(), lock_timeout_s=-1)
        except IndexStorageError as error:
            self._on_warning(f"images are not embedded: {error}")

    def stop(self) -> None:
        """Stop the thread once it has run for half a second; a running request is abandoned."""
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join(max(0.0, self._started_at + _MIN_S - monotonic()))
            self._is_stopping.set()

    def status(self) -> ImageStatus:
        """Return how many images are embedded, and why the others are not."""
        model = self._encoder.fingerprint
        if not self._store.exists():
            return ImageStatus(model, 0, 0, "no image has been looked at yet")
        counts, failure = self._store.counts(model), self._store.failure(model)
        return ImageStatus(model, *counts, reason="" if failure is None else failure.reason)

    def _run_in_background(self, is_stopping: threading.Event) -> None:
        try:
            failure = self._store.failure(self._encoder.fingerprint)
            if failure is None or failure.retry_at_s <= self._clock():
                with suppress(UnavailableError):  # another process is embedding
                    self._run(is_stopping, lock_timeout_s=0)
        except RootleError as error:
            self._warn(f"images are not embedded: {error}")

    def _run(self, is_stopping: threading.Event, *, lock_timeout_s: float) -> None:
        with writer_lock(self._store.folder.parent, lock_timeout_s, _ignore_wait, LOCK_NAME):
            self._update_list()
            reason = self._embed_missing(is_stopping)
            if is_stopping.is_set():
                return
            model = self._encoder.fingerprint
            if reason:
                failure = EmbeddingFailure(reason, self._clock() + _RETRY_DELAY_S)
                self._store.set_failure(model, failure)
                self._warn(describe_images(self.status()))
            else:
                self._store.set_failure(model, None)
                if self._store.is_prunable(model):
                    self._store.prune(model)

    def _warn(self, message: str) -> None:
        """Give a warning, unless it is equal to the previous one."""
        if message != self._warned:
            self._warned = message
            self._on_warning(message)

    def _update_list(self) -> None:
        """Update the stored list of images from the index and the files."""
        known = self._store.rows()
        found = {row.path: row for row in self._list_images()}
        changed = [
            row
            for path, row in found.items()
            if path not in known or not known[path].has_state_of(row)
        ]
        removed = [path for path in known if path not in found]
        if changed or removed or not self._store.exists():
            self._store.update(changed, removed)

    def _list_images(self) -> Iterable[ImageRow]:
        for state in self._open_snapshot().files_with_endings(_ENDINGS):
            if not self._is_selected(state):
                continue
            with suppress(OSError):
                info = os.lstat(os.path.join(self._root, state.path))
                if reason_not_selected(state.path, info.st_size, self._selection) is None:
                    yield ImageRow(
                        state.path, info.st_size, modification_time_ns(info), change_time_ns(info)
                    )

    def _is_selected(self, state: FileState) -> bool:
        is_file = state.source == FILES and state.skip not in _NEVER_READ
        return is_file and document_format(state.path) == IMAGE

    def _embed_missing(self, is_stopping: threading.Event) -> str:
        """Embed images until several in a row have failed; return the first reason, "" if none."""
        model = self._encoder.fingerprint
        self._encoder.expect_dimensions(self._store.dimensions(model))
        failures, reason = 0, ""
        for row in self._store.missing(model):
            if is_stopping.is_set() or failures >= _MAX_FAILURES:
                break
            try:
                self._embed(row, is_stopping)
            except UnavailableError as error:
                failures, reason = failures + 1, reason or str(error)
            else:
                failures = 0
        return reason

    def _embed(self, row: ImageRow, is_stopping: threading.Event) -> None:
        raw = read_below(self._root, row.path, MAX_IMAGE_BYTES + 1)
        if isinstance(raw, str):
            return  # the next update of the index removes the image
        row = _describe(row, raw)
        self._store.update([row])
        model = self._encoder.fingerprint
        if row.digest is None or not row.is_suitable or self._store.has_content(row.digest, model):
            return
        try:
            vector = self._encoder.embed_image(raw, media_type(raw), _IMAGE_TIMEOUT_S)
        except UnavailableError as error:
            if not self._is_bad_input(error):
                self._store.update([row._replace(attempts=row.attempts + 1)])
                raise
            vector = None
        if not is_stopping.is_set():  # after `stop`, the index may have been deleted
            self._store.put_vector(row.digest, model, vector)


def describe_images(status: ImageStatus) -> str:
    """Return how many images are embedded and why not all are, on one line."""
    text = f"{status.embedded:,} of {status.total:,} images embedded"
    return f"{text}: {status.reason}" if status.reason else text


def _describe(row: ImageRow, raw: bytes) -> ImageRow:
    """Return a row with the digest and the size of its image, and whether the image is suitable."""
    digest = blake2b(raw, digest_size=16).digest()
    try:
        width, height = measure_image(raw)
    except DocumentError:
        width = height = 0
    is_suitable = (
        len(raw) <= MAX_IMAGE_BYTES and not is_small(width, height) and width * height <= MAX_PIXELS
    )
    return row._replace(width=width, height=height, digest=digest, is_suitable=is_suitable)


def _ignore_wait() -> None:
    """Do nothing: no user waits for this."""
