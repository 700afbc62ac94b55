"""Has the index of a server's folder kept fresh beside the answering."""

from __future__ import annotations

import logging
import threading
from typing import Final

from rootle.app import App
from rootle.errors import ConfigError, RootleError, UnavailableError

_LOG = logging.getLogger(__name__)

# A client is told of the tools before any work begins, if it asks within this time.
_HEAD_START_S: Final = 2.0
# How long to leave it to the process that watches, or to a system that refuses.
_TURN_S: Final = 20.0


class BackgroundIndexing:
    """Of several servers on one folder one watches it; the others wait for their turn.

    Questions do without: where nobody watches they look at the folder themselves.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self._may_begin = threading.Event()
        self._is_ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="rootle-upkeep", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def begin(self) -> None:
        """Nobody waits for the server to start any more."""
        self._may_begin.set()

    def stop(self) -> None:
        """Begin nothing more; what watches by now ends when the app is closed."""
        self._is_ending.set()
        self._may_begin.set()
        self._thread.join()

    def _run(self) -> None:
        self._may_begin.wait(_HEAD_START_S)
        while not self._is_ending.is_set():
            try:
                self._app.watch()
                return
            except ConfigError:
                return  # enableIndexing is false
            except UnavailableError as error:
                _LOG.info("not watching for now: %s", error)
            except RootleError as error:
                _LOG.warning("cannot watch: %s", error)
            self._is_ending.wait(_TURN_S)
