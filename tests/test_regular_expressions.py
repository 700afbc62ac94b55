"""No pattern needs more than linear time, unless its texts are short.

A pattern with which a module searches is also tried at the later positions of a text.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

import rootle

_PROGRAM = Path(__file__).with_name("regex_growth.py")
_WATCHDOG_S = 180  # for one pattern, or for the import of all modules on a busy machine


@pytest.mark.slow
def test_the_patterns_take_linear_time() -> None:
    slow: dict[str, str] = {}
    first: int | None = 0
    while first is not None:
        first = _measure(first, slow)

    assert slow == {}


def _measure(first: int, slow: dict[str, str]) -> int | None:
    """Measure the patterns, starting at `first`; return where to continue, or None at the end.

    A pattern that does not finish is added to the slow ones.
    """
    command = [sys.executable, str(_PROGRAM), str(first)]
    at, name = first, ""
    # The pipe has no buffer, because `select` does not see lines that are already in a buffer.
    environment = {**os.environ, "PYTHONPATH": str(Path(rootle.__file__).parents[1])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0, env=environment) as process:
        assert process.stdout is not None
        while select.select([process.stdout], [], [], _WATCHDOG_S)[0]:
            line = process.stdout.readline()
            assert line, f"ended at {name}"
            kind, *facts = json.loads(line)
            if kind == "end":
                return None
            if kind == "start":
                at, name = facts
            else:
                slow[facts[0]] = kind if kind == "unknown" else str(facts[1:])
        process.kill()
    slow[name] = "does not finish"
    return at + 1
