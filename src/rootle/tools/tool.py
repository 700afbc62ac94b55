"""A tool that an agent calls, its parameters, and its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from rootle.text.terms import encodable

# The values of a call, without the optional parameters that were left out.
Arguments = Mapping[str, str | int]


def _do_nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a tool: text for the model, and the same content as data for programs."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)  # Any: JSON
    is_error: bool = False
    # Call this function when the client has received the answer, so that later answers can refer to
    # this answer.
    on_received: Callable[[], None] = field(default=_do_nothing, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a tool. An integer has an inclusive range."""

    name: str
    description: str
    type: Literal["string", "integer"] = "string"
    is_required: bool = True
    minimum: int = 1
    maximum: int = 1_000_000


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool whose first parameter is a required string.

    For errors that a model can react to, the answer begins with "Error: ". Bugs raise exceptions.
    """

    name: str
    title: str  # for users
    description: str  # for the model
    parameters: tuple[Parameter, ...]
    execute: Callable[[Arguments], Answer]
    is_read_only: bool = True
    is_idempotent: bool = True
    is_open_world: bool = False  # whether the tool accesses anything beyond this machine

    def __call__(self, text: str, **optional: str | int | None) -> str:
        """Return the text of the answer."""
        return self.run(text, **optional).text

    def run(self, text: str, **optional: str | int | None) -> Answer:
        """Return the answer for a call. `text` is the first parameter; pass the others by name."""
        return self.call({self.parameters[0].name: text, **optional})

    def call(self, arguments: Mapping[str, Any]) -> Answer:  # Any: JSON from a model
        """Return the answer for the arguments of a call.

        An optional parameter with the value None or "" is treated as left out. If arguments are
        invalid, the answer is an error that says how to call the tool.
        """
        answer = self.prepare(arguments)
        answer.on_received()
        return answer

    def prepare(self, arguments: Mapping[str, Any]) -> Answer:  # Any: JSON from a model
        """Return the same answer as `call`, without calling `on_received`.

        The caller calls `on_received` if it delivers the answer.
        """
        given: dict[str, str | int] = {}
        known = {parameter.name: parameter for parameter in self.parameters}
        for name, value in arguments.items():
            parameter = known.get(name)
            if parameter is None:
                return error(f"{self.name} has no parameter {name!r}; it has {_list_names(known)}")
            if value is None or (value == "" and not parameter.is_required):
                continue
            read = _read_integer(value) if parameter.type == "integer" else value
            if problem := _find_problem(parameter, read):
                return error(f'"{name}" must be {problem}')
            given[name] = read
        for parameter in self.parameters:
            if parameter.is_required and parameter.name not in given:
                return error(f'"{parameter.name}" must be a string')
        return self.execute(given)


_MAX_DIGITS: Final = 9


def _read_integer(value: Any) -> Any:
    """Convert "5" and 5.0, as some models write integers. Return other values unchanged."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= _MAX_DIGITS:
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _find_problem(parameter: Parameter, value: object) -> str:
    """Return a description of the valid values, or "" if this value is valid."""
    if parameter.type == "string":
        return "" if isinstance(value, str) else "a string"
    limits = f"an integer from {parameter.minimum} to {parameter.maximum}"
    if isinstance(value, bool) or not isinstance(value, int):
        return limits
    return "" if parameter.minimum <= value <= parameter.maximum else limits


def _list_names(names: Mapping[str, Parameter]) -> str:
    quoted = [f'"{name}"' for name in names]
    return f"only {quoted[0]}" if len(quoted) == 1 else ", ".join(quoted)


def error(message: str) -> Answer:
    """Return an error as an answer. File names in the message may contain any bytes."""
    message = encodable(message)
    return Answer(f"Error: {message}", {"error": message}, is_error=True)
