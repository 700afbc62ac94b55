"""Checks after a round of the torture test: answers, memories, permissions and messages."""

from __future__ import annotations

import re
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.reliability.fault_injection import FILLER
from benchmarks.reliability.ranked_answers import (
    Answer,
    ask,
    comparable,
    comparison_config,
    describe_differences,
)
from benchmarks.reliability.services import McpServer, Reply, Searcher, Service
from rootle import open_app
from rootle.tools import create_tools

# Messages that a user should never see.
_CRASHES: Final = ("Traceback (most recent call last)", "panicked at", "Fatal Python error")
_MAX_SHOWN_CHARS: Final = 600
# The place, the name and the score of a result in an answer of `vectordb_search`.
_HEADER: Final = re.compile(r"^\d+\. (.+?)(?:, shown above)? \((\d+\.\d\d)\)$", re.MULTILINE)
_END_OF_PATH: Final = re.compile(r"[:#]")
_PAUSE_S: Final = 0.2
# An answer may be out of date for this time. The limit is generous, because the machine may be
# busy, and a failed write is retried only after some seconds.
_RECOVERY_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class ExpectedAnswers:
    """The answers of a new index to some questions."""

    answers: Mapping[str, Answer]
    tool_texts: Mapping[str, str]  # answers of `vectordb_search`


def expected_answers(root: Path, index_dir: Path, questions: Sequence[str]) -> ExpectedAnswers:
    """Build an index in `index_dir` and return its answers."""
    with open_app(root, index_dir=index_dir, config=comparison_config()) as app:
        app.index()
        answers = {answer["question"]: answer for answer in ask(app, questions)}
        search = next(tool for tool in create_tools(app) if tool.name == "vectordb_search")
        texts = {question: search(question) for question in questions}
    return ExpectedAnswers(answers, texts)


def compare_searcher(
    searcher: Searcher, expected: ExpectedAnswers, comparison: str
) -> Iterator[str]:
    """Yield a problem for each answer of a process that differs from that of a new index."""
    for question in expected.answers:
        reply = ask_until_current(searcher, question)
        if reply is None:
            yield f"{searcher.name} ended: {last_message(searcher)}"
            return
        if not reply.is_current:
            yield f"{searcher.name} does not recover: {reply.reason}"
            return
        if isinstance(searcher, McpServer):
            problems = tool_differences(question, reply.text, expected, comparison)
        else:
            problems = answer_differences(question, reply.data, expected, comparison)
        for line in problems:
            yield f"{searcher.name}: {line}"


def ask_until_current(searcher: Searcher, question: str) -> Reply | None:
    """Return the first current reply, or the reply at the time limit, or None if the process ended.

    For a while, a reply may report that it is degraded, for example because the index is stale.
    """
    deadline = time.monotonic() + _RECOVERY_S
    while (reply := searcher.ask(question)) is not None:
        if reply.is_current or time.monotonic() > deadline:
            return reply
        time.sleep(_PAUSE_S)
    return None


def answer_differences(
    question: str, response: Mapping[str, Any], expected: ExpectedAnswers, comparison: str
) -> tuple[str, ...]:
    """Return how a response differs from the answer of a new index."""
    found = comparable(question, response)
    return describe_differences([found], [expected.answers[question]], comparison)


def tool_differences(
    question: str, text: str, expected: ExpectedAnswers, comparison: str
) -> tuple[str, ...]:
    """Return how the headers in a text of `vectordb_search` differ from those of a new index.

    The lines below them are not compared, because a session receives each line only once.
    """
    found, wanted = (_HEADER.findall(one) for one in (text, expected.tool_texts[question]))
    if not wanted and expected.answers[question]["results"]:
        return (f"{question!r}: no header is recognized in the answer of the tool",)
    if comparison == "paths":
        found, wanted = (
            [_END_OF_PATH.split(one)[0] for one, _ in side] for side in (found, wanted)
        )
    if found == wanted:
        return ()
    return (f"{question!r}: {found!r}, in a new index {wanted!r}",)


def find_open_files(folder: Path) -> list[str]:
    """Return the files and folders that other users may read or write, with their modes."""
    found = []
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            mode = path.lstat().st_mode
            if mode & 0o077 and not stat.S_ISLNK(mode) and path.name != FILLER:
                found.append(f"{path.relative_to(folder)} has mode {stat.S_IMODE(mode):o}")
    return found


def find_crash(service: Service) -> str | None:
    """Return the message of a crash that a process wrote to standard error."""
    messages = service.messages
    for crash in _CRASHES:
        if crash in messages:
            shown = messages[messages.index(crash) :]
            return f"{service.name} crashed: …{shown[-_MAX_SHOWN_CHARS:]}"
    return None


def last_message(service: Service) -> str:
    """Return the exit code and the last line of the messages of a process."""
    lines = service.messages.strip().splitlines() or ["no message"]
    return f"exit code {service.process.poll()}, {lines[-1]}"
