"""A fast filter that finds the patterns that can match a text, by the literals that they require.

RE2 derives the literals from the patterns, and finds all literals in one pass.
"""

from __future__ import annotations

from collections.abc import Sequence


class LiteralFilter:
    """Finds the patterns that can match a text. It never leaves out a pattern that matches."""

    def __init__(self, patterns: Sequence[str]) -> None:
        """Create a filter for patterns in the syntax of `re`.

        The patterns are matched against lower-case text with single spaces.
        """
        import re2

        options = re2.Options()
        options.log_errors = False
        self._filter = re2.Filter()
        self._filtered: list[int] = []
        self._always: list[int] = []  # patterns with unsupported syntax, such as lookaheads
        for index, pattern in enumerate(patterns):
            if "{," in pattern:  # a repetition for `re`, but plain text for RE2
                self._always.append(index)
                continue
            try:
                # In RE2, \d matches only ASCII digits. \p{Nd} matches the same digits as `re`.
                self._filter.Add(pattern.replace(r"\d", r"\p{Nd}"), options)
            except re2.error:
                self._always.append(index)
            else:
                self._filtered.append(index)
        self._filter.Compile()

    def possible(self, plain: str) -> list[int]:
        """Return the indexes of the patterns that can match a text, in order."""
        # UTF-8 cannot encode lone surrogates, but no pattern contains a surrogate.
        found = self._filter.Match(plain.encode("utf-8", "replace"), potential=True) or []
        return sorted([*(self._filtered[at] for at in found), *self._always])
