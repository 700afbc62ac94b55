"""A pair: what somebody might ask, and the text that answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

KINDS: Final = (
    "doc", "bare", "name", "path", "scope", "message", "test", "tested", "mention", "gist",
    "heading", "sentence", "fence", "commit", "body",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pair:
    """Pairs with one `answer` number stand for the same place, and are no negatives."""

    question: str
    answer: str
    kind: str  # one of KINDS
    place: int  # a number for the chunk or text that answers, within its project
