"""Write the tagged block of memories for a prompt, and remove such blocks from other texts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from rootle.errors import MemoryRefusedError
from rootle.memory.jsonl import MAX_FACT_CHARS, has_visible_text
from rootle.serialization.memories import NOTICE, memory_as_text, unquote_line
from rootle.text.terms import encodable
from rootle.types import Memory

_OPEN: Final = (
    f'<rootle-memory note="{NOTICE}; the user did not write this now; if two contradict each '
    'other, the newer one applies; do not store them again">'
)
_CLOSE: Final = "</rootle-memory>"
_BLOCK: Final = re.compile(r"<rootle-memory\b.*?(?:</rootle-memory\s*>|\Z)", re.DOTALL)
_TAG: Final = re.compile(r"</?rootle-memory\b[^>]*>?")
_MAX_TOPIC_CHARS: Final = 8_000


def write_block(memories: Iterable[Memory], max_chars: int) -> str:
    """Return a block with the memories that fit into `max_chars`, newest last; "" if none fits."""
    left = max_chars - len(_OPEN) - len(_CLOSE) - 2
    chosen: list[tuple[str, str]] = []
    for memory in memories:
        line = f"- {memory_as_text(memory)}"
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
    """Return a fact without the stored memories that the model repeated in it.

    Raise MemoryRefusedError if the fact is empty, too long, or contains only memories.
    """
    if not has_visible_text(fact):
        raise MemoryRefusedError("fact is empty")
    # A model may repeat a line from an answer of `recall`.
    text = unquote_line(_TAG.sub("", _BLOCK.sub(" ", encodable(fact))).strip())
    if not has_visible_text(text):
        raise MemoryRefusedError("it contains only memories that are already stored")
    if len(text) > MAX_FACT_CHARS:
        raise MemoryRefusedError(
            f"it has {len(text)} characters, at most {MAX_FACT_CHARS} are allowed; split it into "
            "several facts, or shorten it"
        )
    return text
