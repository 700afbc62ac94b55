"""What an agent calls: a name, a description for its model, one text in, an answer out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rootle.text.terms import encodable


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool says: a text for the model, and the same as data for programs."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)  # Any: JSON
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool with its single text parameter, and what it does to the world.

    `run` answers with a text that begins with "Error: " where the model can do something about it;
    a bug raises.
    """

    name: str
    title: str  # for people, where a program lists its tools
    description: str
    parameter: str
    parameter_description: str
    run: Callable[[str], Answer]
    is_read_only: bool = True
    is_idempotent: bool = True
    is_open_world: bool = False  # reaches beyond this machine

    def __call__(self, text: str) -> str:
        """The answer's text."""
        return self.run(text).text


def error(message: str) -> Answer:
    """What a model is told where a tool cannot answer; names in it may be of any bytes."""
    message = encodable(message)
    return Answer(f"Error: {message}", {"error": message}, is_error=True)
