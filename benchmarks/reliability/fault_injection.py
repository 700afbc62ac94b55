"""Faults of the disk and of the clock, injected into processes by a preloaded library."""

from __future__ import annotations

import errno
import os
import shutil
import struct
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_SOURCE: Final = Path(__file__).with_name("faults.c")
_CONTROL: Final = struct.Struct("@iiiil")  # `struct control` in the source
_TMPFS_BYTES: Final = 256 << 20
FILLER: Final = "filler"  # the file that fills a disk


class FaultInjectionError(Exception):
    """Raised when faults cannot be injected on this machine, with the remedy."""


@dataclass(frozen=True, slots=True)
class Faults:
    """The faults that are injected at one time. By default there are none."""

    write_errno: int = 0
    read_errno: int = 0
    one_in: int = 1  # a call fails with the probability 1 / one_in
    short_writes: bool = False
    clock_shift_s: int = 0


NO_FAULTS: Final = Faults()
DISK_FULL: Final = Faults(write_errno=errno.ENOSPC)


class FaultInjector:
    """Injects faults into the processes that are started with its environment."""

    def __init__(self, work: Path, faulty_folder: Path) -> None:
        """Compile the library in `work`. Only calls on files in `faulty_folder` fail."""
        self._library = _compile(work)
        self._control = work / "faults"
        self.log = work / "faults.log"
        self._folder = faulty_folder
        self.inject(NO_FAULTS)

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables that preload the library."""
        return {
            "LD_PRELOAD": os.fspath(self._library),
            "FAULTS": os.fspath(self._control),
            "FAULT_FOLDER": os.fspath(self._folder),
            "FAULT_LOG": os.fspath(self.log),
        }

    def inject(self, faults: Faults) -> None:
        """Replace the current faults with these, also in processes that already run."""
        data = _CONTROL.pack(
            faults.write_errno, faults.read_errno, faults.one_in, faults.short_writes,
            faults.clock_shift_s,
        )  # fmt: skip
        # Written in place, because the processes have mapped the file.
        with open(self._control, "r+b" if self._control.exists() else "wb", buffering=0) as file:
            file.write(data)


class SmallDisk:
    """A folder on a small file system in memory, if this process may mount one."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700)
        self.folder = folder
        command = [
            "mount",
            "-t",
            "tmpfs",
            "-o",
            f"size={_TMPFS_BYTES},mode=700",
            "tmpfs",
            str(folder),
        ]
        self.is_mounted = (
            shutil.which("mount") is not None
            and subprocess.run(command, capture_output=True).returncode == 0
        )

    def fill(self, free_bytes: int) -> None:
        """Fill the disk until only this much space is free."""
        with open(self.folder / FILLER, "wb", buffering=0) as file:
            with suppress(OSError):
                while file.write(bytes(1 << 20)):
                    pass
            file.truncate(max(0, file.tell() - free_bytes))

    def free(self) -> None:
        """Delete the file that `fill` wrote."""
        (self.folder / FILLER).unlink(missing_ok=True)

    def unmount(self) -> None:
        if self.is_mounted:
            subprocess.run(["umount", "--lazy", self.folder], check=True)
            self.is_mounted = False


def _compile(work: Path) -> Path:
    """Return the library. Raise FaultInjectionError if it cannot be compiled."""
    compiler = shutil.which("gcc")
    if compiler is None:
        raise FaultInjectionError(
            "the injection of faults needs gcc (on Debian and Ubuntu: apt install gcc libc6-dev)"
        )
    library = work / "faults.so"
    command = [compiler, "-O1", "-shared", "-fPIC", "-o", str(library), str(_SOURCE), "-ldl"]
    compiled = subprocess.run(command, capture_output=True, text=True)
    if compiled.returncode:
        raise FaultInjectionError(f"{_SOURCE.name} cannot be compiled: {compiled.stderr.strip()}")
    return library
