"""A fast test before patterns: which of them can match a text, by the literals that they require.

RE2 derives the literals from the patterns, and finds all of them in one pass.
"""

from __future__ import annotations

from collections.abc import Sequence


class LiteralFilter:
    """Find the patterns that can match a text. A pattern that matches is never left out."""

    def __init__(self, patterns: Sequence[str]) -> None:
        """Take patterns that are matched by `re` against lower-case text with single spaces."""
        import re2

        options = re2.Options()
        options.log_errors = False
        self._filter = re2.Filter()
        self._filtered: list[int] = []
        self._always: list[int] = []  # patterns that RE2 does not support, such as lookarounds
        for index, pattern in enumerate(patterns):
            if "{," in pattern:  # a repetition for `re`, but plain text for RE2
                self._always.append(index)
                continue
            try:
                # RE2 derives literals from small classes; its \d has the digits of ASCII only.
                self._filter.Add(pattern.replace(r"\d", r"\p{Nd}"), options)
            except re2.error:
                self._always.append(index)
            else:
                self._filtered.append(index)
        self._filter.Compile()

    def possible(self, plain: str) -> list[int]:
        """Return the indexes of the patterns that can match a text, in order."""
        # A text can contain lone surrogates, which UTF-8 cannot encode; no pattern contains any.
        found = self._filter.Match(plain.encode("utf-8", "replace"), potential=True) or []
        return sorted([*(self._filtered[at] for at in found), *self._always])
