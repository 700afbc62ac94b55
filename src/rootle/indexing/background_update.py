"""An index update that runs in a background thread."""

from __future__ import annotations

import threading
from collections.abc import Callable

from rootle.errors import IndexStorageError, IngestError, RootleError, UnavailableError
from rootle.types import WarningCallback


class BackgroundUpdate:
    """Runs an update in a thread, one at a time. The caller serializes calls with a lock.

    If an update fails, `on_warning` receives a message.
    """

    def __init__(self, update: Callable[[], object], on_warning: WarningCallback) -> None:
        self._update = update
        self._on_warning = on_warning
        self._thread: threading.Thread | None = None
        self._failure: RootleError | None = None

    @property
    def is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="rootle-catch-up", daemon=True)
        self._thread.start()

    def raise_failure(self) -> None:
        """Raise the error of the last run, if any, but only once."""
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def join(self) -> None:
        """Wait until a running update has ended."""
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            self._update()
        except (UnavailableError, IndexStorageError, IngestError) as error:
            self._failure = error
            self._on_warning(f"searching the existing index, which may be stale: {error}")
