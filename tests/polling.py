"""Wait for a condition that another thread or process fulfills."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

import pytest

TIMEOUT_S: Final = 60.0  # long, because the machine may be busy


def wait_until(condition: Callable[[], Any], description: str) -> Any:  # Any: the condition's value
    """Return the first true value of a condition; fail the test after a timeout."""
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.02)
    pytest.fail(f"did not happen within {TIMEOUT_S:.0f} s: {description}")
