"""Tools as plain functions and LangChain tools, and calls made by models."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rootle.errors import MissingExtraError
from rootle.tools.schemas import parameters_of
from rootle.tools.tool import Answer, Tool, error


def as_langchain(tool: Tool) -> Any:  # Any: a StructuredTool, from an optional package
    """Return a LangChain tool whose artifact is the answer's data.

    Raise MissingExtraError if LangChain is not installed.
    """
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
    """Return a function for frameworks that read its name, docstring and annotations."""
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
    """Run a tool call of a model. `arguments` is an object or its JSON text.

    For an invalid call, return an error that says how to call the tool.
    """
    tool = next((tool for tool in tools if tool.name == name), None)
    if tool is None:
        return error(f"unknown tool {name}; available: {', '.join(t.name for t in tools)}")
    parsed = _parse_object(arguments)
    if parsed is None:
        return error(f'{name} expects an object: {{"{tool.parameter}": "…"}}')
    text = parse_argument(tool, parsed)
    return text if isinstance(text, Answer) else tool.run(text)


def parse_argument(tool: Tool, arguments: Mapping[str, Any]) -> str | Answer:
    """Return the only argument of a tool, or an error answer if the arguments are invalid."""
    for name in arguments:
        if name != tool.parameter:
            return error(
                f'{tool.name} has no parameter {name!r}; its only parameter is "{tool.parameter}"'
            )
    text = arguments.get(tool.parameter)
    return text if isinstance(text, str) else error(f'"{tool.parameter}" must be a string')


def _parse_object(arguments: str | Mapping[str, Any]) -> Mapping[str, Any] | None:
    if not isinstance(arguments, str):
        return arguments
    try:
        found = json.loads(arguments)
    except (ValueError, RecursionError):  # not JSON, or nested too deeply
        return None
    return found if isinstance(found, dict) else None
