"""`remember` and `recall`: a fact in, the facts that fit a topic out."""

from __future__ import annotations

from typing import Any, Final

from rootle.app import App
from rootle.errors import MemoryRefusedError, RootleError
from rootle.serialization.json import to_json
from rootle.serialization.markdown import memory_as_text
from rootle.text.terms import encodable
from rootle.tools.tool import Answer, Tool, error
from rootle.types import Memory

_RECALL: Final = (
    "Look up what was remembered in earlier sessions: the user's wishes, decisions, people, "
    "projects, what was learnt about a file. Ask before you guess at any of these. Each memory has "
    "the time when it was told; nothing is overwritten, so of two that contradict each other the "
    "newer one holds. If nothing comes back, say that you do not know. "
    "What the code says is found by search or grep, not here."
)
_REMEMBER: Final = (
    "Keep one fact for later sessions, in a sentence that stands for itself: a wish of the user, a "
    "decision and its reason, a trap in a file (name the file). When something changes, remember "
    "how it is now; the newer one holds. Not for secrets, for what the code says anyway, or for "
    "what matters only today."
)


def recall(app: App) -> Tool:
    """The tool over the memories of an app's user."""
    return Tool(
        name="recall",
        title="Recall what was remembered",
        description=_RECALL,
        parameter="topic",
        parameter_description="A topic or question, e.g. how the user likes test output",
        run=lambda topic: _recall(app, topic),
    )


def remember(app: App) -> Tool:
    """The tool that adds to these."""
    return Tool(
        name="remember",
        title="Remember a fact",
        description=_REMEMBER,
        parameter="fact",
        parameter_description="The fact, in one sentence with all names in it",
        run=lambda fact: _remember(app, fact),
        is_read_only=False,
        is_idempotent=False,
    )


def _recall(app: App, topic: str) -> Answer:
    if not topic.strip():
        return error("topic is empty")
    try:
        memories = app.memory.recall(topic)
    except RootleError as problem:
        return error(f"memory recall failed: {problem}")
    data = {"memories": [_as_data(memory) for memory in memories]}
    if not memories:
        return Answer("No relevant memories found.", data)
    lines = [f"{at}. {memory_as_text(memory)}" for at, memory in enumerate(memories, start=1)]
    return Answer(encodable("\n".join(lines)), data)


def _remember(app: App, fact: str) -> Answer:
    try:
        remembered = app.memory.remember(fact)
    except MemoryRefusedError as problem:
        message = str(problem)
        return error(message if message == "fact is empty" else f"not remembered: {message}")
    except RootleError as problem:
        return error(f"memory remember failed: {problem}")
    memory = remembered.memory
    said = ["Remembered."]
    if memory is not None and memory.count > 1:
        said = [f"Remembered; it was told {memory.count} times now."]
    if remembered.masked:
        said.append(f"Secrets are not kept, so this was masked: {', '.join(remembered.masked)}.")
    data = {
        "memory": None if memory is None else _as_data(memory),
        "masked": list(remembered.masked),
    }
    return Answer(" ".join(said), data)


def _as_data(memory: Memory) -> dict[str, Any]:  # Any: JSON
    """A memory as data, without what only its store has a use for."""
    data: dict[str, Any] = to_json(memory)
    data["about"] = [f"{one.path}#{one.symbol}".rstrip("#") for one in memory.about]
    return data
