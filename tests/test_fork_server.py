"""The commands of tests are forked from a process that has imported rootle.

Without the fork, each command imports rootle again, and the tests take nearly twice as long.
"""

from __future__ import annotations

import pytest
from command import rootle

_PROGRAM = "import sys; print('rootle.search.agent' in sys.modules)"


@pytest.mark.parametrize("is_preloaded", [True, False])
def test_a_preloaded_command_has_imported_rootle(is_preloaded: bool) -> None:
    assert rootle(program=_PROGRAM, preloaded=is_preloaded).out == f"{is_preloaded}\n"


def test_an_interpreter_variable_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    found = rootle(program="import sys; print(sys.warnoptions)", preloaded=True)
    assert found.out == "['error']\n"
