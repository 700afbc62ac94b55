"""Run commands in child processes and measure their duration and peak memory."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SAMPLE_INTERVAL_S = 0.05
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class CommandError(Exception):
    """Raised when a measured command fails."""


@dataclass(frozen=True)
class CompletedCommand:
    """The measurements and the output of one command."""

    seconds: float
    peak_bytes: int | None
    output: str


def run_command(
    command: Sequence[str],
    env: Mapping[str, str],
    *,
    stdin: str = "",
    with_memory: bool = False,
) -> CompletedCommand:
    """Run a command. Raise CommandError for a traceback or an exit code other than 0 and 1.

    Both rootle and git exit with 1 if they find nothing. Output goes to files, so that the command
    never waits for a reader. Memory is sampled only on request, because sampling slows down short
    commands.
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
            command, stdin=given, stdout=out, stderr=err, env={**bytecode_environment(), **env}
        )
        sampler = MemorySampler(process.pid) if with_memory else None
        code = process.wait()
        seconds = time.perf_counter() - started
        peak = sampler.stop() if sampler else None
        out.seek(0)
        err.seek(0)
        errors = err.read().decode(errors="replace").strip()
        if code not in (0, 1) or "Traceback" in errors:
            last = errors.split("\n")[-1]
            raise CommandError(f"exit code {code}: {' '.join(command[:3])} …: {last}")
        return CompletedCommand(seconds, peak, out.read().decode(errors="replace"))


def bytecode_environment() -> dict[str, str]:
    """Return the environment with Python's bytecode cache enabled.

    pip compiles the packages that it installs; without the cache, every process would compile a
    checkout again.
    """
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


class MemorySampler(threading.Thread):
    """Thread that samples the peak memory of a process and its descendants from /proc.

    It records the sum of the proportional set sizes: a page shared by three processes counts as a
    third for each. This sum is expensive to read, so it is read only when the resident size has
    changed by more than 1 % and exceeds the peak so far.
    """

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._peak = self._last_resident = 0
        self._done = threading.Event()
        if os.path.exists("/proc/self/smaps_rollup"):
            self.start()

    def run(self) -> None:
        while not self._done.wait(SAMPLE_INTERVAL_S):
            pids = process_tree(self._pid)
            resident = sum(map(resident_bytes, pids))
            has_changed = abs(resident - self._last_resident) > self._last_resident / 100
            if has_changed and resident > self._peak:
                self._last_resident = resident
                self._peak = max(self._peak, sum(map(proportional_bytes, pids)))

    def stop(self) -> int | None:
        """Stop sampling; return the peak in bytes, or None if there was no sample."""
        self._done.set()
        return self._peak or None


def process_tree(pid: int) -> list[int]:
    """Return a process and all its descendants."""
    pids = [pid]
    for parent in pids:  # grows during the loop
        try:
            for thread in os.listdir(f"/proc/{parent}/task"):
                children = Path(f"/proc/{parent}/task/{thread}/children").read_text()
                pids += map(int, children.split())
        except OSError:  # the process has ended
            continue
    return pids


def resident_bytes(pid: int) -> int:
    """Return the resident set size, or 0 if the process has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES
    except (OSError, IndexError):
        return 0


def proportional_bytes(pid: int) -> int:
    """Return the proportional set size, or 0 if the process has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)


def cpu_seconds(pid: int) -> float:
    """Return the processor time of a process, user and system."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND
