"""Pairs out of documents: headings, sentences and the text or code around them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Final

from training.corpus.chunks import Place
from training.corpus.text_cleaning import is_prose, plain_text, sentences
from training.pairs.code_pairs import Definitions, mention_pairs
from training.pairs.training_pair import Pair

SENTENCES: Final = 2  # of a place
MENTIONS: Final = 3
MIN_REST: Final = 80

_FENCE: Final = re.compile(r"^(```|~~~)[^\n]*\n(.*?)^\1", re.MULTILINE | re.DOTALL)


def prose_pairs(place: Place, rng: random.Random, definitions: Definitions) -> Iterator[Pair]:
    """All pairs of one section of a document."""
    prose = _FENCE.sub("\n\n", place.text)
    if place.scope:
        title = place.scope[-1]
        heading = title if len(title.split()) > 1 else " ".join(place.scope[-2:])
        body = place.text.replace(title, " ", 1)
        if len(heading) >= 6 and len(body) >= MIN_REST:
            yield Pair(heading, place.answer(body), "heading", place.number)
    said = [sentence for sentence in sentences(plain_text(prose)) if is_prose(sentence)]
    for sentence in rng.sample(said, min(SENTENCES, len(said))):
        # White space was made single: the sentence is found by its words.
        pattern = r"\s+".join(map(re.escape, sentence.split()))
        rest = re.sub(pattern, " ", place.text, count=1)
        if MIN_REST <= len(rest) < len(place.text):
            yield Pair(sentence, place.answer(rest), "sentence", place.number)
    for sentence in rng.sample(said, min(MENTIONS, len(said))):
        yield from mention_pairs(sentence, place.number, definitions)
    yield from _fence_pairs(place)


def _fence_pairs(place: Place) -> Iterator[Pair]:
    for match in _FENCE.finditer(place.text):
        before = place.text[: match.start()].rstrip().rpartition("\n\n")[2]
        question = " ".join(plain_text(before).split())
        if is_prose(question) and len(match[2]) >= 40:
            yield Pair(question, match[2], "fence", place.number)
