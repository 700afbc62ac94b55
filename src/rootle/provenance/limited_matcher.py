"""Match two sequences in bounded time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from difflib import Match, SequenceMatcher
from itertools import accumulate
from typing import Final

# The maximum number of comparisons for two sequences, which take about half a second. The number
# for files of 10,000 lines in real repositories is below 1,000,000. If lines are repeated often,
# the number can grow with the cube of the length.
_MAX_STEPS: Final = 5_000_000
_MIN_POPULAR: Final = 200  # shorter sequences have no elements that are too frequent


class LimitedMatcher(SequenceMatcher[str]):
    """A `SequenceMatcher` that stops looking for matches after a number of comparisons."""

    def __init__(
        self,
        old: Sequence[str],
        new: Sequence[str],
        is_junk: Callable[[str], bool] | None = None,
        *,
        autojunk: bool = True,
    ) -> None:
        super().__init__(is_junk, old, new, autojunk)
        self._left = _MAX_STEPS
        self.is_complete = True  # whether all matches were looked for
        counts = Counter(new)
        # `SequenceMatcher` does not compare elements that are junk, or more frequent than this.
        most = len(new) // 100 + 1 if autojunk and len(new) >= _MIN_POPULAR else len(new)
        for one in [one for one in counts if counts[one] > most or (is_junk and is_junk(one))]:
            del counts[one]
        # The item at index n is the number of comparisons for the first n elements of `old`.
        self._steps = list(accumulate((1 + counts[one] for one in old), initial=0))

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> Match:
        """Return the longest match in two ranges; an empty one after too many comparisons."""
        end = len(self._steps) - 1 if ahi is None else ahi
        self._left -= self._steps[end] - self._steps[alo]
        if self._left < 0:
            self.is_complete = False
            return Match(alo, blo, 0)
        return super().find_longest_match(alo, ahi, blo, bhi)
