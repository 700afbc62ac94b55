"""Advice on how to phrase a query, shared by all texts for models.

The wording was chosen by measurement (docs/research/agent-queries.md).
"""

from __future__ import annotations

from typing import Final

QUERY_ADVICE: Final = (
    "The passage that you expect to find: write the comment or docstring that would stand above "
    "the code (or the sentence of the document), then its signature with likely names."
)
