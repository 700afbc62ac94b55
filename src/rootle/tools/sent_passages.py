"""The passages that a client has already received, so that they need not be sent again."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

# Number of answers whose passages are remembered. A client may have removed older answers from its
# context.
_MAX_ANSWERS: Final = 10


@dataclass(frozen=True, slots=True)
class AnswerPassages:
    """The passages of one answer: the path of each, and its lines by their numbers."""

    _passages: list[tuple[str, Mapping[int, str]]] = field(default_factory=list)

    def add(self, path: str, lines: Mapping[int, str]) -> None:
        """Add lines of a file."""
        self._passages.append((path, dict(lines)))

    def contains(self, path: str, lines: Mapping[int, str]) -> bool:
        """Return whether a single passage contains all these lines, with the same numbers."""
        return bool(lines) and any(
            of == path and all(sent.get(number) == text for number, text in lines.items())
            for of, sent in self._passages
        )


class SentPassages:
    """Records the recent answers that one client has received. Thread-safe."""

    def __init__(self) -> None:
        self._answers: deque[tuple[str, AnswerPassages]] = deque(maxlen=_MAX_ANSWERS)
        self._lock = threading.Lock()

    def add_answer(self, query: str, passages: AnswerPassages) -> None:
        """Record the answer to a query. The oldest answer may be forgotten."""
        with self._lock:
            self._answers.append((_normalize(query), passages))

    def has_answered(self, query: str) -> bool:
        """Return whether a recorded answer is the answer to this query.

        A client that repeats a query no longer has the answer: the client may have removed the
        answer from its context, or the answer may have been sent to another agent that uses the
        same server.
        """
        wanted = _normalize(query)
        with self._lock:
            return any(answered == wanted for answered, _ in self._answers)

    def contains(self, path: str, lines: Mapping[int, str]) -> bool:
        """Return whether a passage of a recorded answer contains all these lines."""
        with self._lock:
            answers = [passages for _, passages in self._answers]
        return any(passages.contains(path, lines) for passages in answers)


def _normalize(query: str) -> str:
    return " ".join(query.split()).casefold()
