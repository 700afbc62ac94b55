"""A training pair: a query and the text that answers it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

KINDS: Final = (
    "doc", "bare", "name", "path", "scope", "message", "test", "tested", "mention", "gist",
    "heading", "sentence", "fence", "commit", "body",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TextPair:
    """A query and its answer; pairs with equal `answer_id` are never each other's negatives."""

    query: str
    answer: str
    kind: str  # one of KINDS
    answer_id: int  # number of the answering chunk or text within its project
