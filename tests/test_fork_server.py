"""The commands of tests are forked from a process that has imported rootle.

Without the fork, each command imports rootle again, and the tests take nearly twice as long.
"""

from __future__ import annotations

import signal
import subprocess

import pytest
from command import rootle, start_rootle
from forked_process import ForkedProcess

import rootle as imported

_PROGRAM = "import sys; print('rootle.search.agent' in sys.modules)"


@pytest.mark.parametrize("is_preloaded", [True, False])
def test_a_preloaded_command_has_imported_rootle(is_preloaded: bool) -> None:
    assert rootle(program=_PROGRAM, preloaded=is_preloaded).out == f"{is_preloaded}\n"


@pytest.mark.parametrize("is_preloaded", [True, False])
def test_a_command_imports_the_same_code_as_the_tests(is_preloaded: bool) -> None:
    found = rootle(program="import rootle; print(rootle.__file__)", preloaded=is_preloaded)
    assert found.out == f"{imported.__file__}\n"


def test_an_interpreter_variable_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    found = rootle(program="import sys; print(sys.warnoptions)", preloaded=True)
    assert found.out == "['error']\n"


_ECHO = """
import sys
sys.stdout.write(sys.stdin.readline())
sys.stdout.flush()
sys.stderr.write(f"rest {sys.stdin.read()}")
sys.exit(3)
"""


@pytest.mark.parametrize("is_preloaded", [True, False])
def test_a_started_command_has_pipes_signals_and_an_exit_code(is_preloaded: bool) -> None:
    def start() -> subprocess.Popen[bytes] | ForkedProcess:
        process = start_rootle(program=_ECHO, piped=(0, 1, 2), preloaded=is_preloaded)
        assert process.stdin is not None
        process.stdin.write(b"hello\n")
        process.stdin.flush()
        assert process.stdout is not None
        assert process.stdout.readline() == b"hello\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0)
        assert process.poll() is None
        return process

    ending, other = start(), start()
    assert ending.communicate(timeout=60) == (b"", b"rest ")
    assert ending.returncode == 3
    other.kill()
    other.communicate()
    assert other.wait() == -signal.SIGKILL
    other.terminate()  # has no effect on a process that has ended
