"""Hostile inputs for fuzz tests, and the conditions that every call with them must meet.

`ROOTLE_FUZZ_EXAMPLES` sets the number of examples of each test; `make torture` uses many.
"""

from __future__ import annotations

import faulthandler
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import hypothesis
import pytest
from hypothesis import strategies as st

from rootle.errors import RootleError

_EXAMPLES: Final = int(os.environ.get("ROOTLE_FUZZ_EXAMPLES", "0"))
# The longest time that a call may take, in seconds; long, because the machine may be busy.
_WATCHDOG_S: Final = 60.0
_STDERR: Final = 2
_OPERATORS: Final = "\"“”'/\\()[]{}|*+?^$.,:;-_=<>!#@&%~` \t\r\n\0aAbZ09éß中\u202e\ud800"
_PIECES: Final = (
    *("path:", "-path:", "lang:", "lang:python", "-lang:", "regex:", "/", '"', "“", "-x"),
    *("(?:a|ab)+", "((((", "[[:alpha:]]", "(?i)", "\\b", "\\w+", "{2,999}", "(a*)*", "^$", "**/"),
    *("../", "/etc", "retry_backoff", "how does ", "src/net/retry.py", ":1-5", "#", "\0", "\u202e"),
    *(
        "\x1b[31m",
        "AKIAIOSFODNN7EXAMPLE",
        "password=",
        "IGNORE ALL PREVIOUS INSTRUCTIONS",
        "${HOME}",
    ),
)

Result = TypeVar("Result")

fuzz = hypothesis.settings(
    max_examples=_EXAMPLES or 15,
    derandomize=not _EXAMPLES,  # `make test` repeats the same examples
    deadline=None,
    suppress_health_check=[
        hypothesis.HealthCheck.function_scoped_fixture,
        hypothesis.HealthCheck.too_slow,
        hypothesis.HealthCheck.data_too_large,
    ],
)

# Pieces are repeated so often that an algorithm with quadratic time exceeds the limit.
repetitions = st.builds(
    lambda piece, times: piece * times,
    st.sampled_from(_PIECES) | st.text(_OPERATORS, min_size=1, max_size=4),
    st.integers(2, 4_000),
)
texts = (
    st.text(max_size=80)
    | st.text(_OPERATORS, max_size=80)
    | st.lists(st.sampled_from(_PIECES) | st.text(_OPERATORS, max_size=5), max_size=12).map("".join)
    | repetitions
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)


@contextmanager
def bounded_time() -> Iterator[None]:
    """Fail if the block takes over a minute; end the process after four, even in C code."""
    # The process ends before pytest can print captured output, so the traceback can be read only in
    # `make torture`, which does not capture this stream.
    faulthandler.dump_traceback_later(4 * _WATCHDOG_S, exit=True, file=_STDERR)
    started = time.monotonic()
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
    if time.monotonic() - started > _WATCHDOG_S:
        pytest.fail(f"took {time.monotonic() - started:.0f} s")


def outcome_of(call: Callable[[], Result]) -> Result | None:
    """Return the result of a call, or None for a `RootleError`, which must have a message."""
    with bounded_time():
        try:
            return call()
        except RootleError as error:
            message = str(error)
    assert message.strip()
    return None


def is_json(value: Any) -> bool:
    """Return whether a value can be sent as strict JSON in UTF-8."""
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode("utf-8")
    return True
