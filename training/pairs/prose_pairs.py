"""Training pairs from documents: headings, sentences and the text or code around them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Final

from training.corpus.source_chunks import SourceChunk
from training.corpus.text_cleaning import is_prose, plain_text, split_sentences
from training.pairs.code_pairs import Definitions, mention_pairs
from training.pairs.text_pair import TextPair

# Limits for one chunk.
MAX_SENTENCES: Final = 2
MAX_MENTIONING_SENTENCES: Final = 3
MIN_HEADING_CHARS: Final = 6
MIN_REST_CHARS: Final = 80
MIN_FENCE_CHARS: Final = 40

_FENCE: Final = re.compile(r"^(```|~~~)[^\n]*\n(.*?)^\1", re.MULTILINE | re.DOTALL)


def prose_pairs(
    chunk: SourceChunk, rng: random.Random, definitions: Definitions
) -> Iterator[TextPair]:
    """Yield all pairs from one section of a document."""
    prose = _FENCE.sub("\n\n", chunk.text)
    if chunk.scope:
        title = chunk.scope[-1]
        heading = title if len(title.split()) > 1 else " ".join(chunk.scope[-2:])
        body = chunk.text.replace(title, " ", 1)
        if len(heading) >= MIN_HEADING_CHARS and len(body) >= MIN_REST_CHARS:
            yield TextPair(heading, chunk.prepend_path(body), "heading", chunk.number)
    sentences = [one for one in split_sentences(plain_text(prose)) if is_prose(one)]
    for sentence in rng.sample(sentences, min(MAX_SENTENCES, len(sentences))):
        # The sentence has single spaces; the text may have any white space.
        pattern = r"\s+".join(map(re.escape, sentence.split()))
        rest = re.sub(pattern, " ", chunk.text, count=1)
        if MIN_REST_CHARS <= len(rest) < len(chunk.text):
            yield TextPair(sentence, chunk.prepend_path(rest), "sentence", chunk.number)
    for sentence in rng.sample(sentences, min(MAX_MENTIONING_SENTENCES, len(sentences))):
        yield from mention_pairs(sentence, chunk.number, definitions)
    yield from _fence_pairs(chunk)


def _fence_pairs(chunk: SourceChunk) -> Iterator[TextPair]:
    """Yield pairs of a fenced code block and the paragraph above it."""
    for match in _FENCE.finditer(chunk.text):
        before = chunk.text[: match.start()].rstrip().rpartition("\n\n")[2]
        query = " ".join(plain_text(before).split())
        if is_prose(query) and len(match[2]) >= MIN_FENCE_CHARS:
            yield TextPair(query, match[2], "fence", chunk.number)
