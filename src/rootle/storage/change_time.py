"""Read the times at which a file was changed."""

from __future__ import annotations

import os
import sys
import time
from typing import Final

# The resolution of the change times that the kernel sets: one tick of its timer. On Linux, this is
# the resolution of CLOCK_REALTIME_COARSE, which has no name in the module `time`.
_LINUX_COARSE_CLOCK: Final = 5
_MAX_NS: Final = 2**63 - 1
CHANGE_TICK_NS: Final = (
    round(time.clock_getres(_LINUX_COARSE_CLOCK) * 1e9)
    if sys.platform.startswith("linux")
    else 10_000_000
)


def read_modification_time_ns(path: str | os.PathLike[str]) -> int:
    """Return the modification time of a file in Unix nanoseconds; 0 if there is no such file."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def modification_time_ns(info: os.stat_result) -> int:
    """Return the modification time of a file in Unix nanoseconds, limited to 64 bits.

    Damaged file systems and archives contain times after 2262, which databases cannot store.
    """
    return _limit(info.st_mtime_ns)


def change_time_ns(info: os.stat_result) -> int:
    """Return the time of the last change of a file's content or metadata, in Unix nanoseconds.

    Programs can set the modification time, but not this time. On Windows, `st_ctime` is the time of
    creation instead, so 0 is returned.
    """
    return _limit(info.st_ctime_ns) if os.name == "posix" else 0


def _limit(time_ns: int) -> int:
    return max(-_MAX_NS, min(time_ns, _MAX_NS))
