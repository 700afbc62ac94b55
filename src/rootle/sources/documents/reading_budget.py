"""A limit on the total time that is spent on documents that cannot be read."""

from __future__ import annotations

from typing import Final

from rootle.sources.files.skip_rules import READER_FAILED, TOO_MUCH_MEMORY, TOO_SLOW

# Two documents on which the reader hangs use up this time.
_MAX_SECONDS: Final = 60.0
_FAILURES: Final = frozenset({READER_FAILED, TOO_MUCH_MEMORY, TOO_SLOW})
# A document that is skipped for a reason outside _FAILURES, for example because it has no text, is
# counted only if it takes this long. A scanned PDF file of a thousand pages takes a few seconds.
_SLOW_S: Final = 10.0


class ReadingBudget:
    """Counts the seconds of failed attempts, by format.

    Each reader of a folder has a budget of its own, and is used for one update in one process.
    """

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}

    def is_spent(self, document_format: str) -> bool:
        """Return whether documents of a format are no longer read."""
        return self._seconds.get(document_format, 0.0) >= _MAX_SECONDS

    def count_failure(self, document_format: str, reason: str, seconds: float) -> None:
        """Count the time of a document that is skipped for this reason."""
        if reason in _FAILURES or seconds >= _SLOW_S:
            spent = self._seconds.get(document_format, 0.0)
            self._seconds[document_format] = spent + seconds
