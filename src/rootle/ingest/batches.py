"""Group the documents of a run into batches, each of which is written in one transaction."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Final, Literal

from rootle.ingest.workers.jobs import ReadResult

# The runs during which an index can be searched. In these runs, each batch is also committed to the
# derived indexes, so that a run that was interrupted continues after the last batch. "first run,
# rarely" commits only when the text has doubled, which costs hardly any time.
Stages = Literal["never", "first run, rarely", "first run", "always"]

# The size of a batch. Worker processes read the next documents while a batch is written. A crash
# loses the batch and these documents.
_BATCH_CHARS: Final = 2_000_000
# While searches wait for an index, its first batch has this size (about ten commits). Each further
# batch is twice as large as the previous one. Thus the first documents can be searched soon, even
# on a slow machine, and only a few batches are small.
_FIRST_BATCH_CHARS: Final = 50_000
_GROWTH: Final = 2
# The text after which a run that commits rarely commits for the first time. A smaller index is
# complete within seconds.
_FIRST_COMMIT_CHARS: Final = 10_000_000
# On a slow machine, a batch ends after this time, whatever its size. A process that ends earlier
# than the run, as one search on the command line does, loses what it has read since the last batch.
_MAX_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """The limits at which a batch ends. The document that reaches a limit belongs to the batch."""

    first_chars: int  # the size of the first batch; further batches grow to `max_chars`
    max_chars: int
    max_s: float = math.inf  # the time since the first document of the batch, in seconds


def choose_limits(*, in_stages: bool) -> BatchLimits:
    """Return the limits of a run; `in_stages` means that the index can be searched meanwhile."""
    if in_stages:
        return BatchLimits(min(_FIRST_BATCH_CHARS, _BATCH_CHARS), _BATCH_CHARS, _MAX_S)
    return BatchLimits(_BATCH_CHARS, _BATCH_CHARS)


class CommitSchedule:
    """Decides after which batches of a run the derived indexes are committed."""

    def __init__(self, in_stages: Stages, *, is_first_run: bool) -> None:
        is_first_stage = in_stages.startswith("first run") and is_first_run
        self.has_stages = is_first_stage or in_stages == "always"
        self._is_rare = in_stages == "first run, rarely"
        self._written = 0
        self._next = _FIRST_COMMIT_CHARS

    @property
    def limits(self) -> BatchLimits:
        """The limits of the batches."""
        return choose_limits(in_stages=self.has_stages and not self._is_rare)

    def is_due_after(self, batch: Sequence[ReadResult]) -> bool:
        """Return whether to commit after this batch, which has just been written."""
        if not self._is_rare or not self.has_stages:
            return self.has_stages
        self._written += sum(result.facts.chars for result in batch)
        if self._written < self._next:
            return False
        self._next = _GROWTH * self._written
        return True


def make_batches(
    results: Iterator[ReadResult], limits: BatchLimits, clock: Callable[[], float] = monotonic
) -> Iterator[list[ReadResult]]:
    """Yield the results in batches, in order. `clock` returns a time in seconds."""
    batch: list[ReadResult] = []
    max_chars, chars, started_s = limits.first_chars, 0, 0.0
    for result in results:
        if not batch:
            started_s = clock()
        batch.append(result)
        chars += result.facts.chars
        if chars >= max_chars or clock() - started_s >= limits.max_s:
            yield batch
            batch, chars = [], 0
            max_chars = min(_GROWTH * max_chars, limits.max_chars)
    if batch:
        yield batch
