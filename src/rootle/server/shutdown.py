"""A server lives as long as somebody wants it, and then ends, whatever hangs."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Final

_LOOK_S: Final = 0.5
# What was begun may be ended well within this time. After that nothing of the process is left, as
# after `kill -9`: the index is made for that, and worker processes end when their parent does.
_GRACE_S: Final = 3.0


def when_parent_dies(end: Callable[[], None]) -> None:
    """Have `end` called, on a thread of its own, when the process that started this one is gone.

    The end of standard input tells the same, unless somebody else holds its other side open.
    """
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK_S)
        end()

    threading.Thread(target=watch, name="rootle-parent", daemon=True).start()


def end_soon(grace_s: float = _GRACE_S) -> None:
    """The process ends within the grace, even where a tool or the client's pipe hangs."""
    timer = threading.Timer(grace_s, os._exit, [0])
    timer.daemon = True
    timer.start()
