"""Write the tagged block of memories in a prompt, and remove it from text that comes back."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from rootle.errors import MemoryRefusedError
from rootle.memory.jsonl import MAX_FACT_CHARS, has_visible_text
from rootle.serialization.markdown import memory_as_text
from rootle.text.terms import encodable
from rootle.types import Memory

_OPEN: Final = (
    '<rootle-memory note="stored in earlier sessions, not written by the user now; if two '
    'contradict each other, the newer one applies; do not store them again">'
)
_CLOSE: Final = "</rootle-memory>"
_BLOCK: Final = re.compile(r"<rootle-memory\b.*?(?:</rootle-memory\s*>|\Z)", re.DOTALL)
_TAG: Final = re.compile(r"</?rootle-memory\b[^>]*>?")
# The start of a memory in an answer of `recall`, in case a model stores it again.
_RESULT_PREFIX: Final = re.compile(r"^(?:\d+\.|-)?\s*\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\]\s+")
_MAX_TOPIC_CHARS: Final = 8_000


def write_block(memories: Iterable[Memory], max_chars: int) -> str:
    """Return a block with the memories that fit into `max_chars`, newest last; "" if none fit."""
    left = max_chars - len(_OPEN) - len(_CLOSE) - 2
    chosen: list[tuple[str, str]] = []
    for memory in memories:
        line = f"- {memory_as_text(replace(memory, text=_TAG.sub('', memory.text)))}"
        if len(line) < left:
            chosen.append((memory.created_at, line))
            left -= len(line) + 1
    if not chosen:
        return ""
    return "\n".join([_OPEN, *(line for _, line in sorted(chosen)), _CLOSE])


def clean_topic(text: str) -> str:
    """Return a message or topic without blocks of memories, truncated to 8,000 characters."""
    return _BLOCK.sub(" ", encodable(text)).strip()[:_MAX_TOPIC_CHARS]


def clean_fact(fact: str) -> str:
    """Return a fact without stored memories that the model repeats in it.

    Raises MemoryRefusedError if the fact is empty, too long, or contains only memories.
    """
    if not has_visible_text(fact):
        raise MemoryRefusedError("fact is empty")
    text = _RESULT_PREFIX.sub("", _TAG.sub("", _BLOCK.sub(" ", encodable(fact))).strip())
    if not text:
        raise MemoryRefusedError("it contains only memories that are already stored")
    if len(text) > MAX_FACT_CHARS:
        raise MemoryRefusedError(
            f"it has {len(text)} characters, at most {MAX_FACT_CHARS} are allowed; split it into "
            "several facts, or shorten it"
        )
    return text
