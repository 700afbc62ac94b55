"""No pattern needs more than linear time for a text that begins with its match.

Patterns with which the modules for any text search are also tried at the later positions.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
from pathlib import Path

import pytest

_PROGRAM = Path(__file__).with_name("regex_growth.py")
# Patterns that take quadratic time, but are used only for short texts.
_SHORT_TEXTS = {
    "rootle.history.removal_scores._NAME": "the first 1,000 characters of a query",
    "rootle.rank.question.intent._USE_OF_NAME": "the first 300 characters of a question",
    "rootle.syntax.assignments._KEY_BEFORE": "at most 500 characters before a name",
    "rootle.syntax.declared.expressions._CAST": "an expression of limited length",
    "rootle.syntax.declared.expressions._NEW": "an expression of limited length",
    "rootle.text.secret_values._NAME_BEFORE": "at most 40 characters before a name",
}
_WATCHDOG_S = 60  # for one pattern, which takes at most a second in linear time


@pytest.mark.slow
def test_the_patterns_take_linear_time() -> None:
    slow: dict[str, str] = {}
    first: int | None = 0
    while first is not None:
        first = _measure(first, slow)

    assert {name: facts for name, facts in slow.items() if name not in _SHORT_TEXTS} == {}


def _measure(first: int, slow: dict[str, str]) -> int | None:
    """Measure the patterns from a position on, and return where to continue; None at the end.

    A pattern that does not finish is added to the slow ones.
    """
    command = [sys.executable, str(_PROGRAM), str(first)]
    at, name = first, ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
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
                slow[facts[0]] = str(facts[1:])
        process.kill()
    slow[name] = "does not finish"
    return at + 1
