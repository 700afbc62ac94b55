"""The notes of an answer: suggestions, degradations and memories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rootle.serialization.brief import INDEX_DEGRADATIONS, describe_coverage
from rootle.serialization.memories import NOTICE, memory_as_text
from rootle.serialization.outside_text import NOTICE as NOTICE_OUTSIDE
from rootle.serialization.outside_text import has_external
from rootle.types import HISTORY_ADVICE, IndexCoverage, Memory, SearchResponse, Staleness

# The meaning of each kind of degradation for the reader of an answer.
CONSEQUENCES: Final = {
    "dense": "the vector index did not answer, so these results match by words only",
    "sparse": "the keyword index did not answer, so these results match by meaning only",
    "reranker": "the reranker did not answer",
    "memory": "the stored memories could not be read",
    "embedding": "a model other than the configured one was used",
    "images": "not all images were searched by their content",
    "pending": "some files can currently be found only by their words",
    "stale": "the index is older than the folder",
    "history": "not all commits are indexed",
}
# Memories are shown as notes after the passages; `recall` returns their whole text.
_MAX_MEMORY_CHARS: Final = 300
# Replaces HISTORY_ADVICE, which names a command, because an agent may have no terminal. The process
# that serves the agent indexes the commits in the background.
_BACKGROUND: Final = "the others are being indexed, so ask again for a complete answer"


def reword_note(note: str) -> str:
    """Return a note in a form whose advice an agent without a terminal can follow."""
    return note.replace(HISTORY_ADVICE, _BACKGROUND)


def list_index_notes(response: SearchResponse) -> list[str]:
    """Return the notes which say that the index lacks files.

    They come before the answer. Otherwise, "no definition of X was found in the indexed files"
    would be misunderstood.
    """
    return _describe_degradations(response, [one for one in response.degraded if _lacks_files(one)])


def list_notes(response: SearchResponse) -> list[str]:
    """Return the other notes on an answer. Low confidence is reported in the suggestions."""
    others = [one for one in response.degraded if not _lacks_files(one)]
    degraded = _describe_degradations(response, others)
    memories = [f"from memory ({NOTICE}): {_shorten(memory)}" for memory in response.memories]
    outside = [NOTICE_OUTSIDE] if has_external(response) else []
    return [*outside, *map(reword_note, response.suggestions), *degraded, *memories]


def _lacks_files(degradation: str) -> bool:
    return degradation in INDEX_DEGRADATIONS


def _describe_degradations(response: SearchResponse, names: Sequence[str]) -> list[str]:
    known = {**CONSEQUENCES}
    if response.staleness is not None:
        known["stale"] = _describe_staleness(response.staleness, response.coverage)
    if response.coverage is not None:
        covered = describe_coverage(response.coverage)
        known["partial"] = f"partial: the index is still being built, and {covered}"
    causes = [known.get(name, f"{name} was not available") for name in names]
    # A suggestion may already report the same problem, with more details.
    return [text for text in causes if not any(text in one for one in response.suggestions)]


def _describe_staleness(staleness: Staleness, coverage: IndexCoverage | None) -> str:
    # While the first index is being built, the files have not changed: they were never indexed.
    kind = "new or changed " if coverage is None else ""
    count = staleness.changed_files
    return f"{count} {kind}{'file is' if count == 1 else 'files are'} not indexed yet"


def _shorten(memory: Memory) -> str:
    text = " ".join(memory.text.split())
    if len(text) > _MAX_MEMORY_CHARS:
        text = f"{text[:_MAX_MEMORY_CHARS]}…"
    return memory_as_text(replace(memory, text=text))
