"""Tasks about repositories that no model knows, each with the places that an answer must cite."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.common.labels import Span, Target

FOLDER: Final = Path(__file__).parent
TASKS: Final = FOLDER / "tasks"
KINDS: Final = ("find", "explain", "change")
SIZES: Final = ("small", "large")


@dataclass(frozen=True)
class AgentTask:
    """A task. Each required place is a group of equivalent spans, one of which must be cited."""

    id: str
    repository: str
    size: str
    kind: str
    text: str
    required: tuple[Target, ...]

    def spans(self) -> Iterator[Span]:
        """Yield the spans of all required places."""
        for target in self.required:
            yield from target


def read_tasks(folder: Path = TASKS) -> dict[str, AgentTask]:
    """Map ids to the tasks in the files of a folder. Raise ValueError if a line is malformed."""
    found: dict[str, AgentTask] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            try:
                task = _parse_task(json.loads(line))
            except (KeyError, TypeError, ValueError) as error:
                raise ValueError(f"{path.name}:{number}: {error!r}") from error
            if task.id in found:
                raise ValueError(f"{path.name}:{number}: duplicate id {task.id}")
            found[task.id] = task
    return found


def _parse_task(record: Mapping[str, Any]) -> AgentTask:
    if record["kind"] not in KINDS or record["size"] not in SIZES:
        raise ValueError(f"kind must be one of {KINDS} and size one of {SIZES}")
    required = tuple(
        tuple(parse_place(text) for text in alternatives) for alternatives in record["places"]
    )
    if not required or not all(required):
        raise ValueError("each task needs places")
    return AgentTask(
        record["id"], record["repository"], record["size"], record["kind"], record["task"], required
    )


def parse_place(text: str) -> Span:
    """Return the span that "path:first-last" or "path:line" names. Raise ValueError otherwise."""
    match = re.fullmatch(r"(?:\./)?(.+?):(\d{1,7})(?:-(\d{1,7}))?", text.strip())
    if match is None:
        raise ValueError(f'a place must look like "folder/file.py:12-34", not {text!r}')
    first = int(match[2])
    last = int(match[3]) if match[3] else first
    if not 1 <= first <= last:
        raise ValueError(f"{text!r}: the first line must not follow the last line")
    return Span(match[1], first, last)
