"""Ask a reranker, and take from it nothing but an order of the documents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rootle.errors import RerankError

if TYPE_CHECKING:
    from rootle.protocols import Hit, Reranker

# Of a document no more than a model with room for 512 tokens takes beside a question; where one
# text is too long for it, some servers read none.
READ_CHARS: Final = 1_500


def ask_reranker(reranker: Reranker, question: str, documents: Sequence[str]) -> list[Hit]:
    """What it says, best first; raises RerankError for what cannot be an order of the documents."""
    if not documents:
        return []
    hits = sorted(reranker.rerank(question, documents), key=lambda hit: (-hit.score, hit.index))
    indexes = [hit.index for hit in hits]
    if len(set(indexes)) < len(indexes) or not set(indexes) <= set(range(len(documents))):
        raise RerankError(f"the reranker names documents twice or beyond {len(documents) - 1}")
    if not hits or not all(math.isfinite(hit.score) for hit in hits):
        raise RerankError("the reranker gives no score, or one that is no number")
    return hits
