"""Keep the index of a server's folder up to date in the background."""

from __future__ import annotations

import logging
import threading
from typing import Final

from rootle.app import App
from rootle.errors import ConfigError, RootleError, UnavailableError

_LOG = logging.getLogger(__name__)

# The maximum delay before indexing starts. It starts earlier if a client lists the tools.
_MAX_DELAY_S: Final = 2.0
# The time between attempts while another process watches the folder, or watching fails.
_RETRY_INTERVAL_S: Final = 20.0


class BackgroundIndexing:
    """Watches the folder of an app, or waits until the process that watches it ends.

    If several servers serve one folder, only one of them watches it. Without a watcher, each query
    looks for changes itself.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self._may_begin = threading.Event()
        self._is_stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="rootle-background", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def begin(self) -> None:
        """Start indexing now. Until this call, the startup of the server has priority."""
        self._may_begin.set()

    def stop(self) -> None:
        """Stop the thread. A running watcher stops when the app is closed."""
        self._is_stopping.set()
        self._may_begin.set()
        self._thread.join()

    def _run(self) -> None:
        self._may_begin.wait(_MAX_DELAY_S)
        while not self._is_stopping.is_set():
            try:
                self._app.watch()
                return
            except ConfigError:
                return  # enableIndexing is false
            except UnavailableError as error:
                _LOG.info("not watching for now: %s", error)
            except (RootleError, OSError) as error:  # for example, no file handles are left
                _LOG.warning("cannot watch: %s", error)
            self._is_stopping.wait(_RETRY_INTERVAL_S)
