"""The advice on how to phrase a query, which every text for models repeats."""

from __future__ import annotations

from typing import Final

QUERY_ADVICE: Final = (
    "What to find, in the words that the code, its comments or its documents would use, "
    "then likely names."
)
