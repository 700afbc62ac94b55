"""A tool that an agent calls with one text, and its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rootle.text.terms import encodable


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a tool: text for the model, and the same content as data for programs."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)  # Any: JSON
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool with a single text parameter.

    For errors that a model can react to, `run` returns an answer that begins with "Error: ". Bugs
    raise exceptions.
    """

    name: str
    title: str  # for people
    description: str  # for the model
    parameter: str
    parameter_description: str
    run: Callable[[str], Answer]
    is_read_only: bool = True
    is_idempotent: bool = True
    is_open_world: bool = False  # reaches beyond this machine

    def __call__(self, text: str) -> str:
        """Return the text of the answer."""
        return self.run(text).text


def error(message: str) -> Answer:
    """Return an error as an answer. File names in the message may contain any bytes."""
    message = encodable(message)
    return Answer(f"Error: {message}", {"error": message}, is_error=True)
