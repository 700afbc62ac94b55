"""Run a command, and know how long it took and how much memory all its processes had together."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

SAMPLE_S = 0.05
PAGE = os.sysconf("SC_PAGE_SIZE")


class CommandError(Exception):
    """A measured command failed."""


@dataclass(frozen=True)
class Run:
    """What one command did."""

    seconds: float
    peak_bytes: int | None
    output: str


def run(
    command: list[str], env: Mapping[str, str], *, stdin: str = "", with_memory: bool = False
) -> Run:
    """Run a command to its end; raises CommandError for an exit code other than 0 and 1.

    1 is "found nothing" for rootle as for git. Output goes to files, so that nobody waits for a
    reader; memory is watched only when asked, so that short commands are timed undisturbed.
    """
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        given.write(stdin.encode())
        given.seek(0)
        started = time.perf_counter()
        process = subprocess.Popen(
            command, stdin=given, stdout=out, stderr=err, env={**compiling_environment(), **env}
        )
        watch = MemoryWatch(process.pid) if with_memory else None
        code = process.wait()
        seconds = time.perf_counter() - started
        peak = watch.stop() if watch else None
        out.seek(0)
        err.seek(0)
        said = err.read().decode(errors="replace").strip()
        if code not in (0, 1) or "Traceback" in said:
            last = said.split("\n")[-1]
            raise CommandError(f"exit code {code}: {' '.join(command[:3])} …: {last}")
        return Run(seconds, peak, out.read().decode(errors="replace"))


def compiling_environment() -> dict[str, str]:
    """The environment without what forbids Python to keep the bytecode of what it imports.

    What pip installs is compiled; a checkout would be compiled anew by every process.
    """
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


class MemoryWatch(threading.Thread):
    """The peak of the memory of a process and all below it, sampled from /proc.

    Counted is the proportional set size: a page that three processes share is a third for each.
    It is costly to read, so the plain resident size says when it is worth reading again: when
    that changed by a hundredth and lies above the peak so far.
    """

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._peak = self._last_resident = 0
        self._done = threading.Event()
        if os.path.exists("/proc/self/smaps_rollup"):
            self.start()

    def run(self) -> None:
        while not self._done.wait(SAMPLE_S):
            pids = process_tree(self._pid)
            resident = sum(map(resident_bytes, pids))
            moved = abs(resident - self._last_resident) > self._last_resident / 100
            if moved and resident > self._peak:
                self._last_resident = resident
                self._peak = max(self._peak, sum(map(proportional_bytes, pids)))

    def stop(self) -> int | None:
        self._done.set()
        return self._peak or None


def process_tree(pid: int) -> list[int]:
    pids = [pid]
    for parent in pids:  # grows while it is walked
        try:
            for thread in os.listdir(f"/proc/{parent}/task"):
                children = Path(f"/proc/{parent}/task/{thread}/children").read_text()
                pids += map(int, children.split())
        except OSError:  # gone meanwhile
            continue
    return pids


def resident_bytes(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def proportional_bytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)
