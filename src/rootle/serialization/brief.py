"""Shorten a response to a few results and lines if it probably does not answer the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rootle.serialization.memories import memories_of_shown
from rootle.text.terms import WORD
from rootle.text.word_stems import find_stems
from rootle.types import PARTIAL_HISTORY, IndexCoverage, SearchResponse, SearchResult

# These values of `degraded` mean that the index lacks files. They are reported before the results,
# because statements such as "X is not defined" are then true only for the indexed files.
INDEX_DEGRADATIONS: Final = ("partial", "stale")
CORRECTED: Final = "no indexed text has the name "  # the start of the note on a corrected name
WEAK_RESULTS: Final = 3
_MAX_LINES: Final = 4


def describe_coverage(coverage: IndexCoverage) -> str:
    """Say how much of the folder an answer from an unfinished index covers."""
    done, total = coverage.searched_bytes / 1e6, coverage.total_bytes / 1e6
    return f"this answer covers {done:.1f} of {total:.1f} MB; ask again for a complete answer"


def is_weak(response: SearchResponse) -> bool:
    """Return whether a response has results that probably do not answer the question."""
    return response.confident is False and bool(response.results)


def has_notes_first(response: SearchResponse) -> bool:
    """Return whether the notes of a response are shown before its results.

    Without them, the results would be misleading if the response is weak, if only some commits were
    searched, or if rootle searched for a name other than the one in the question.
    """
    is_corrected = any(note.startswith(CORRECTED) for note in response.suggestions)
    return is_weak(response) or is_corrected or PARTIAL_HISTORY in response.degraded


def shorten_weak(response: SearchResponse, question: str = "") -> SearchResponse:
    """Return a weak response with its best results, shortened; any other response unchanged.

    Each result keeps the lines that have the most words of the question.
    """
    if not is_weak(response):
        return response
    kept = response.results[:WEAK_RESULTS]
    memories = memories_of_shown(response.memories, {result.file_path for result in kept})
    results = tuple(_shorten(result, question) for result in kept)
    return replace(response, results=results, memories=memories)


def describe_cut(response: SearchResponse) -> str | None:
    """Return a message that says how many results `shorten_weak` keeps.

    Return None if it removes no results.
    """
    count = len(response.results)
    if not is_weak(response) or count <= WEAK_RESULTS:
        return None
    return f"the best {WEAK_RESULTS} of {count} results follow"


def _shorten(result: SearchResult, question: str) -> SearchResult:
    """Return a result with only a few lines of its best span; unchanged if it has context."""
    if result.context is not None:
        return result
    lines = result.snippet.split("\n")
    first = _find_best_window(lines, question)
    start = result.start_line + first
    return replace(
        result,
        snippet="\n".join(lines[first : first + _MAX_LINES]),
        start_line=start,
        end_line=min(result.end_line, start + _MAX_LINES - 1),
        more_spans=(),
    )


def _find_best_window(lines: Sequence[str], question: str) -> int:
    """Return the index of the first of the lines that together have the most words of a question.

    If several windows have the same number, it is that of the first one with the fewest lines
    without any word.
    """
    found = find_stems(lines, question)

    def value(first: int) -> tuple[int, int, int]:
        window = range(first, min(first + _MAX_LINES, len(lines)))
        stems = frozenset[str]().union(*(found.get(at + 1, frozenset()) for at in window))
        return len(stems), sum(bool(WORD.search(lines[at])) for at in window), -first

    starts = range(max(1, len(lines) - _MAX_LINES + 1))
    return max((at for at in starts if lines[at].strip()), key=value, default=0)
