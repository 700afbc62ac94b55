"""What systems answered, kept on the disk: corrected labels are counted again without asking."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.quality.public_benchmark import Answer, Found


@dataclass(frozen=True)
class Repository:
    """Questions about one folder; `judge` counts the answers to them, in order."""

    name: str
    part: str
    root: Path
    questions: tuple[str, ...]
    judge: Callable[[Sequence[Answer]], object]


class Answers:
    """What systems answered, kept as one JSON file for each system and repository."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, system: str, repo: Repository, answers: Sequence[Answer]) -> None:
        path = self._path(system, repo)
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [[[one.path, one.spans] for one in answer.results] for answer in answers]
        path.write_text(json.dumps(dict(zip(repo.questions, rows, strict=True))))

    def has(self, system: str, repo: Repository) -> bool:
        path = self._path(system, repo)
        return path.exists() and set(repo.questions) <= json.loads(path.read_text()).keys()

    def of(self, system: str, repo: Repository) -> list[Answer]:
        kept = json.loads(self._path(system, repo).read_text())
        return [answer_of(kept[question]) for question in repo.questions]

    def _path(self, system: str, repo: Repository) -> Path:
        benchmark = "bench" if repo.part == "bench" else "labels"
        return self._folder / re.sub(r"\W+", "-", system) / benchmark / f"{repo.name}.json"


def answer_of(rows: list) -> Answer:
    return Answer(tuple(Found(path, tuple(map(tuple, spans))) for path, spans in rows), 0.0)
