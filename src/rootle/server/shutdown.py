"""End the process of a server when it is no longer needed, even if a part of it hangs."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Final

_POLL_INTERVAL_S: Final = 0.5
# The time within which running work must finish. Then the process exits as if killed by `kill -9`,
# which does not damage the index. Worker processes end with their parent.
GRACE_PERIOD_S: Final = 3.0


def call_when_parent_exits(callback: Callable[[], None]) -> None:
    """Call a function, in another thread, when the parent process has ended.

    Usually, standard input ends at that time too, but another process may keep the write end of its
    pipe open.
    """
    parent = os.getppid()

    def poll() -> None:
        while os.getppid() == parent:
            time.sleep(_POLL_INTERVAL_S)
        callback()

    threading.Thread(target=poll, name="rootle-parent", daemon=True).start()


def exit_after_grace_period(grace_period_s: float = GRACE_PERIOD_S) -> None:
    """End the process after the grace period, even if a tool or the client's pipe hangs."""
    timer = threading.Timer(grace_period_s, os._exit, [0])
    timer.daemon = True
    timer.start()
