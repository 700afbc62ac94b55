"""A tool as each framework wants it: a function, a JSON schema, the call that a model asks for."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rootle.errors import MissingExtraError
from rootle.tools.tool import Answer, Tool, error

Shape = dict[str, Any]  # Any: JSON


def parameters_of(tool: Tool) -> Shape:
    """The JSON schema of what a tool takes: an object with one text, and nothing else."""
    return {
        "type": "object",
        "properties": {
            tool.parameter: {"type": "string", "description": tool.parameter_description}
        },
        "required": [tool.parameter],
        "additionalProperties": False,
    }


def as_openai(tool: Tool) -> Shape:
    """For `tools=` of OpenAI's chat completions, and of the many servers that speak like it."""
    return {"type": "function", "function": _function(tool)}


def as_openai_response(tool: Tool) -> Shape:
    """For `tools=` of OpenAI's responses."""
    return {"type": "function", **_function(tool)}


def _function(tool: Tool) -> Shape:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": parameters_of(tool),
        "strict": True,
    }


def as_anthropic(tool: Tool) -> Shape:
    """For `tools=` of Anthropic's messages."""
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": parameters_of(tool),
    }


def as_langchain(tool: Tool) -> Any:  # Any: a StructuredTool, of a package that need not be there
    """A LangChain tool; its artifact is the answer's data. Raises MissingExtraError without it."""
    try:
        from langchain_core.tools import StructuredTool
    except ImportError as missing:
        raise MissingExtraError(
            "as_langchain needs LangChain: pip install langchain-core"
        ) from missing

    def run(**arguments: str) -> tuple[str, Mapping[str, Any]]:
        answer = tool.run(arguments[tool.parameter])
        return answer.text, answer.data

    return StructuredTool.from_function(
        run,
        name=tool.name,
        description=tool.description,
        args_schema=parameters_of(tool),
        infer_schema=False,
        response_format="content_and_artifact",
    )


def as_function(tool: Tool) -> Callable[..., str]:
    """A plain function for frameworks that read its name, docstring and annotations."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameter = inspect.Parameter(tool.parameter, kind, annotation=str)
    signature = inspect.Signature([parameter], return_annotation=str)

    def function(*values: str, **named: str) -> str:
        return tool(signature.bind(*values, **named).arguments[tool.parameter])

    function.__name__ = function.__qualname__ = tool.name
    about = f"Args:\n    {tool.parameter}: {tool.parameter_description}"
    function.__doc__ = f"{tool.description}\n\n{about}"
    function.__annotations__ = {tool.parameter: str, "return": str}
    function.__dict__["__signature__"] = signature
    return function


def call_tool(tools: Sequence[Tool], name: str, arguments: str | Mapping[str, Any]) -> Answer:
    """Answer a call as a model makes it: a name, and the arguments as an object or as its JSON.

    A call that is wrong is answered with an error text, from which a model learns the right one.
    """
    tool = next((tool for tool in tools if tool.name == name), None)
    if tool is None:
        return error(f"there is no tool {name}; there are: {', '.join(t.name for t in tools)}")
    given = _object(arguments)
    if given is None:
        return error(f'{name} takes an object: {{"{tool.parameter}": "…"}}')
    text = text_of(tool, given)
    return text if isinstance(text, Answer) else tool.run(text)


def text_of(tool: Tool, arguments: Mapping[str, Any]) -> str | Answer:
    """The one text that a tool takes; an answer that says what is wrong where it is not that."""
    for name in arguments:
        if name != tool.parameter:
            return error(f'{tool.name} takes "{tool.parameter}" alone, not {name!r}')
    text = arguments.get(tool.parameter)
    return text if isinstance(text, str) else error(f'"{tool.parameter}" must be a text')


def _object(arguments: str | Mapping[str, Any]) -> Mapping[str, Any] | None:
    if not isinstance(arguments, str):
        return arguments
    try:
        found = json.loads(arguments)
    except (ValueError, RecursionError):  # no JSON, or a nest without end
        return None
    return found if isinstance(found, dict) else None
