"""Records that a watcher and other processes exchange."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WatcherState:
    """The state that a watcher reports about itself. Times are Unix times in seconds."""

    pid: int
    is_ready: bool  # whether it has compared the whole folder with the index since its start
    committed_at: float | None  # when the index last matched the folder
    generation: int
    waiting: int = 0  # files that have changed and are not indexed yet
    waiting_since: float | None = None
    is_paused: bool = False
    min_interval_s: float = 0.0
    error: str | None = None  # the last error; None after a successful update

    @property
    def is_throttled(self) -> bool:
        """Whether a user asked for fewer updates or none."""
        return self.is_paused or self.min_interval_s > 0


@dataclass(frozen=True, slots=True)
class WatcherCommand:
    """A request to index less often; the default values request normal operation."""

    is_paused: bool = False
    min_interval_s: float = 0.0
