"""Call a reranker and validate its response."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rootle.errors import RerankError

if TYPE_CHECKING:
    from rootle.protocols import Hit, Reranker

# A document of this size and a question fit into 512 tokens, the limit of many models. Some servers
# refuse the whole request if one document is too long.
MAX_DOCUMENT_CHARS: Final = 1_500


def rerank_documents(reranker: Reranker, question: str, documents: Sequence[str]) -> list[Hit]:
    """Return the hits of a reranker, best first. Raise RerankError if the response is invalid."""
    if not documents:
        return []
    hits = sorted(reranker.rerank(question, documents), key=lambda hit: (-hit.score, hit.index))
    indexes = [hit.index for hit in hits]
    if len(set(indexes)) < len(indexes) or not set(indexes) <= set(range(len(documents))):
        raise RerankError(
            f"the reranker returned a document twice or an index above {len(documents) - 1}"
        )
    if not hits or not all(math.isfinite(hit.score) for hit in hits):
        raise RerankError("the reranker returned no scores, or a score that is not finite")
    return hits
