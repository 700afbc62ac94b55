"""Cache of system answers, which can be scored again after labels are corrected."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.common.metrics import Answer, Hit


@dataclass(frozen=True)
class QuestionSet:
    """The questions of one benchmark about one folder."""

    benchmark: str  # "bench" or "labels"
    name: str  # name of the repository
    root: Path
    queries: tuple[str, ...]


class AnswerCache:
    """Answers on disk: one JSON file per system and repository."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def store(self, system: str, questions: QuestionSet, answers: Sequence[Answer]) -> None:
        path = self._path(system, questions)
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [[[hit.path, hit.ranges] for hit in answer.hits] for answer in answers]
        path.write_text(json.dumps(dict(zip(questions.queries, rows, strict=True))))

    def contains(self, system: str, questions: QuestionSet) -> bool:
        """Return whether every question has an answer."""
        path = self._path(system, questions)
        return path.exists() and set(questions.queries) <= json.loads(path.read_text()).keys()

    def load(self, system: str, questions: QuestionSet) -> list[Answer]:
        """Return the answers in the order of the questions."""
        rows = json.loads(self._path(system, questions).read_text())
        return [_parse_answer(rows[query]) for query in questions.queries]

    def _path(self, system: str, questions: QuestionSet) -> Path:
        folder = self._folder / re.sub(r"\W+", "-", system) / questions.benchmark
        return folder / f"{questions.name}.json"


def _parse_answer(rows: list[Any]) -> Answer:
    return Answer(
        tuple(Hit(path, tuple((start, end) for start, end in ranges)) for path, ranges in rows)
    )
