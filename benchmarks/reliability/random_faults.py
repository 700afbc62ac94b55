"""Inject random faults of a given kind, for example into the disk, the clock or the index files."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Final

from benchmarks.reliability.fault_injection import (
    DISK_FULL,
    NO_FAULTS,
    FaultInjector,
    Faults,
    SmallDisk,
)

_MAX_SHIFT_S: Final = 10 * 365 * 86_400
_MAX_DAMAGED_BYTES: Final = 16


class RandomFaults:
    """Begins and ends faults that affect the files of one folder."""

    KINDS: Final = (
        "none", "disk-full", "write-errors", "read-errors", "short-writes", "clock", "damage"
    )  # fmt: skip

    def __init__(
        self, rng: Random, injector: FaultInjector, disk: SmallDisk, index_dir: Path
    ) -> None:
        self._rng = rng
        self._injector = injector
        self._disk = disk
        self._index_dir = index_dir
        self._begin: Mapping[str, Callable[[], object]] = {
            "none": self.end,
            "disk-full": self._fill_disk,
            "write-errors": self._fail_writes,
            "read-errors": self._fail_reads,
            "short-writes": self._shorten_writes,
            "clock": self._shift_clock,
            "damage": self._damage_file,
        }

    def begin(self, kind: str) -> None:
        """Begin a random fault of this kind, one of `KINDS`."""
        self._begin[kind]()

    def end(self) -> None:
        """End the fault. Damaged files stay damaged."""
        self._injector.inject(NO_FAULTS)
        self._disk.free()

    def _fill_disk(self) -> None:
        if self._disk.is_mounted and self._rng.random() < 0.5:
            self._disk.fill(self._rng.randrange(1 << 18))
        else:
            self._injector.inject(DISK_FULL)

    def _fail_writes(self) -> None:
        self._injector.inject(Faults(errno.EIO, one_in=self._rng.choice((3, 30, 300))))

    def _fail_reads(self) -> None:
        self._injector.inject(Faults(0, errno.EIO, one_in=self._rng.choice((10, 100))))

    def _shorten_writes(self) -> None:
        self._injector.inject(Faults(short_writes=True))

    def _shift_clock(self) -> None:
        shift_s = self._rng.randrange(-_MAX_SHIFT_S, _MAX_SHIFT_S)
        self._injector.inject(Faults(clock_shift_s=shift_s))

    def _damage_file(self) -> None:
        """Overwrite some bytes of a file of the index, while processes use it."""
        for path in self._rng.sample(found := sorted(self._index_dir.rglob("*")), len(found)):
            with suppress(FileNotFoundError):  # a process has just replaced it
                if path.is_file() and (size := path.stat().st_size):
                    _overwrite(path, self._rng.randrange(size), self._rng)
                    return


def _overwrite(path: Path, offset: int, rng: Random) -> None:
    """Write random bytes without changing the size: a shorter file would break memory mappings."""
    size = path.stat().st_size
    file = os.open(path, os.O_WRONLY)
    try:
        os.pwrite(file, rng.randbytes(min(_MAX_DAMAGED_BYTES, size - offset)), offset)
    finally:
        os.close(file)
