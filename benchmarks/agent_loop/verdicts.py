"""Judge whether an answer cites every required place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from benchmarks.agent_loop.tasks import AgentTask, parse_place
from benchmarks.common.labels import Span

MAX_LINES: Final = 60  # per cited place: a citation of a whole file would prove nothing
MAX_PLACES: Final = {"find": 2, "explain": 6, "change": 6}


def parse_answer(task: AgentTask, places: Any) -> tuple[Span, ...]:
    """Return the cited spans. Raise ValueError with a message for the model if they are invalid."""
    if not isinstance(places, list) or not all(isinstance(place, str) for place in places):
        raise ValueError('"places" must be a list of strings such as "folder/file.py:12-34"')
    limit = MAX_PLACES[task.kind]
    if not 1 <= len(places) <= limit:
        raise ValueError(f"cite 1 to {limit} places, not {len(places)}")
    spans = tuple(parse_place(place) for place in places)
    for place, span in zip(places, spans, strict=True):
        if span.end_line - span.start_line >= MAX_LINES:
            raise ValueError(f"{place}: cite at most {MAX_LINES} lines per place")
    return spans


def is_success(task: AgentTask, cited: Sequence[Span]) -> bool:
    """Return whether every required place, or an equivalent, overlaps one of the cited spans."""
    return all(
        any(_overlap(one, other) for one in cited for other in target) for target in task.required
    )


def judge(task: AgentTask, places: Any) -> bool:
    """Return the verdict on a recorded answer; an invalid or missing answer is a failure."""
    try:
        return is_success(task, parse_answer(task, places))
    except ValueError:
        return False


def _overlap(one: Span, other: Span) -> bool:
    return (
        one.path == other.path
        and one.start_line <= other.end_line
        and other.start_line <= one.end_line
    )
