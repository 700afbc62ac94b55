"""Sessions: one task in one arm, with every call, its size and its time.

A session is a file of JSON lines, one per event, so that each call can come from another process.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.agent_loop.arms import ANSWER, ARMS, Toolset, describe_task
from benchmarks.agent_loop.tasks import AgentTask
from benchmarks.agent_loop.verdicts import judge, parse_answer

MAX_CALLS: Final = 40


class SessionError(Exception):
    """Raised for a command that is not possible in the current state of the session."""


@dataclass(frozen=True)
class ToolCall:
    """One call of a model. `seconds` is the time of the tool, without the start of a process."""

    tool: str
    arguments: Any  # a JSON value, or the text of invalid JSON
    chars: int
    seconds: float


@dataclass(frozen=True)
class SessionRecord:
    """A finished session. `places` is empty if the model gave no valid answer."""

    session: str
    task: str
    arm: str
    player: str
    introduction_chars: int
    calls: tuple[ToolCall, ...]
    places: tuple[str, ...]
    verdict: bool
    seconds: float  # from the introduction to the answer, including the model's time

    def to_line(self) -> str:
        """Return the record as a line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)


def read_records(paths: Iterable[Path]) -> list[SessionRecord]:
    """Return the records in files of JSON lines."""
    records = []
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            values = json.loads(line)
            values["calls"] = tuple(ToolCall(**call) for call in values["calls"])
            values["places"] = tuple(values["places"])
            records.append(SessionRecord(**values))
    return records


def parse_session_id(session: str) -> tuple[str, str, str]:
    """Return task, arm and player of "TASK.ARM" or "TASK.ARM.PLAYER"."""
    match = re.fullmatch(r"([\w-]+)\.([a-z]+)(?:\.([\w-]+))?", session)
    if match is None or match[2] not in ARMS:
        raise SessionError(f"{session}: a session is TASK.ARM or TASK.ARM.PLAYER, arms: {ARMS}")
    return match[1], match[2], match[3] or ""


class SessionLog:
    """Records one session in a file; the file exists from the start of the session."""

    def __init__(self, folder: Path, session: str, task: AgentTask) -> None:
        self.session = session
        self.task = task
        self.path = folder / f"{session}.jsonl"

    def start(self, toolset: Toolset) -> str:
        """Start the session and return everything that the model reads before its first call."""
        if self.path.exists():
            raise SessionError(f"{self.session} has been started already")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._append({"event": "start", "chars": toolset.introduction_chars(), "at": time.time()})
        definitions = [json.dumps(one, ensure_ascii=False) for one in toolset.definitions()]
        parts = [toolset.instructions, "Tools:", *definitions, describe_task(self.task)]
        return "\n\n".join(filter(None, parts))

    def call(self, toolset: Toolset, tool: str, arguments: Any) -> str:
        """Run a call, record it and return its whole output."""
        self.check_open()
        if len(self.calls()) >= MAX_CALLS:
            return f"Error: all {MAX_CALLS} calls are used; give your answer"
        started = time.perf_counter()
        output = toolset.call(tool, arguments)
        seconds = round(time.perf_counter() - started, 3)
        self._append({"event": "call", **asdict(ToolCall(tool, arguments, len(output), seconds))})
        return output

    def answer(self, places: Any) -> None:
        """Record the answer and close the session. Raise ValueError for an invalid answer."""
        self.check_open()
        parse_answer(self.task, places)
        self._append({"event": "answer", "places": places, "at": time.time()})

    def give_up(self) -> None:
        """Close the session without an answer."""
        self.check_open()
        self._append({"event": "answer", "places": [], "at": time.time()})

    def refuse_answer(self, arguments: Any, message: str) -> str:
        """Record an invalid answer as a call, because the model reads the error message."""
        output = f"Error: {message}"
        self._append({"event": "call", **asdict(ToolCall(ANSWER, arguments, len(output), 0.0))})
        return output

    def check_open(self) -> None:
        """Raise SessionError if the session has not been started or has been closed."""
        if not self.path.exists():
            raise SessionError(f"{self.session} has not been started")
        if self.is_closed():
            raise SessionError(f"{self.session} is closed")

    def is_closed(self) -> bool:
        """Return whether the session has an answer."""
        return self.path.exists() and self._events()[-1]["event"] == "answer"

    def calls(self) -> list[ToolCall]:
        """Return the calls so far, except refused answers."""
        return [call for call in self._all_calls() if call.tool != ANSWER]

    def record(self) -> SessionRecord:
        """Return the record of a closed session."""
        events = self._events()
        task, arm, player = parse_session_id(self.session)
        start, end = events[0], events[-1]
        return SessionRecord(
            self.session, task, arm, player, start["chars"], tuple(self._all_calls()),
            tuple(end["places"]), judge(self.task, end["places"]),
            round(end["at"] - start["at"], 1),
        )  # fmt: skip

    def _all_calls(self) -> list[ToolCall]:
        fields = ("tool", "arguments", "chars", "seconds")
        return [
            ToolCall(*(event[field] for field in fields))
            for event in self._events()
            if event["event"] == "call"
        ]

    def _events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.path.read_text(encoding="utf-8").splitlines()]

    def _append(self, event: dict[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(event, ensure_ascii=False) + "\n")
