"""Child processes of rootle that are forked from the fork server.

Rootle reads each page of a site and each added source in a new interpreter, whose imports take most
of its time. In a forked child, the same program runs with the same limits. Tests of the start, of
crashes and of the limits use new interpreters.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from command import start_rootle
from forked_process import ForkedProcess

from rootle.sources.external import child_process
from rootle.web import html_child_process


def fork_children(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork the processes that convert web pages and read added folders and archives."""
    for module in (child_process, html_child_process):
        monkeypatch.setattr(module, "subprocess", _FORKING)


def _start(words: Sequence[str], **_: Any) -> subprocess.Popen[bytes] | ForkedProcess:
    program = words[words.index("-c") + 1]
    return start_rootle(program=program, piped=(0, 1), preloaded=True)


def _run(
    words: Sequence[str], *, timeout: float, **settings: Any
) -> subprocess.CompletedProcess[bytes]:
    process = _start(words)
    assert process.stdin is not None
    process.stdin.write(settings["input"])
    output, _errors = process.communicate(timeout=timeout)
    return subprocess.CompletedProcess(words, process.returncode or 0, output)


_FORKING = SimpleNamespace(
    Popen=_start,
    run=_run,
    PIPE=subprocess.PIPE,
    DEVNULL=subprocess.DEVNULL,
    TimeoutExpired=subprocess.TimeoutExpired,
)
