"""An app whose configuration is invalid when the server starts, and may be corrected later."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack

from rootle.app import App
from rootle.errors import ConfigError
from rootle.server.background_indexing import BackgroundIndexing
from rootle.tools.registry import create_tools
from rootle.tools.sent_passages import SentPassages
from rootle.tools.tool import Answer, Arguments, Tool, error


class CorrectedApp:
    """Opens an app as soon as its configuration is valid, and calls its tools. Thread-safe."""

    def __init__(self, open_configured: Callable[[], AbstractContextManager[App]]) -> None:
        """`open_configured` raises ConfigError if the configuration is invalid."""
        self._open_configured = open_configured
        self._lock = threading.Lock()
        self._stack = ExitStack()
        self._app: App | None = None
        self._tools: dict[str, Tool] = {}

    def call(self, name: str, arguments: Arguments) -> Answer:
        """Return the answer of a tool, or the error in the configuration."""
        try:
            self._open()
        except ConfigError as problem:
            return error(
                f"{problem}; rootle cannot be used with this configuration: tell the user to "
                "correct it, and then repeat the call"
            )
        tool = self._tools.get(name)
        if tool is None:
            return error(f"the configuration does not enable {name}")
        return tool.execute(arguments)

    def index_progress(self) -> tuple[int, int] | None:
        """Return the progress of the first index; None if none is being built."""
        return None if self._app is None else self._app.index_progress()

    def close(self) -> None:
        """Close the app if it is open."""
        with self._lock:
            self._stack.close()

    def _open(self) -> None:
        with self._lock:
            if self._app is not None:
                return
            with ExitStack() as stack:  # closes the app if its tools cannot be created
                app = stack.enter_context(self._open_configured())
                tools = create_tools(app, SentPassages())
                indexing = BackgroundIndexing(app)
                indexing.start()
                stack.callback(indexing.stop)
                indexing.begin()
                self._stack = stack.pop_all()
            self._tools = {tool.name: tool for tool in tools}
            self._app = app
