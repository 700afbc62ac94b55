"""Convert tools to plain functions and LangChain tools, and run the tool calls of models."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rootle.errors import MissingExtraError
from rootle.tools.schema_formats import describe_parameters
from rootle.tools.tool import Answer, Parameter, Tool, error


def as_langchain(tool: Tool) -> Any:  # Any: a StructuredTool, from an optional package
    """Return a LangChain tool. Its artifact is the data of the answer.

    Raise MissingExtraError if LangChain is not installed.
    """
    try:
        from langchain_core.tools import StructuredTool
    except ImportError as missing:
        raise MissingExtraError(
            "as_langchain needs LangChain: pip install langchain-core"
        ) from missing

    def run(**arguments: Any) -> tuple[str, Mapping[str, Any]]:  # Any: JSON
        answer = tool.call(arguments)
        return answer.text, answer.data

    return StructuredTool.from_function(
        run,
        name=tool.name,
        description=tool.description,
        args_schema=describe_parameters(tool),
        infer_schema=False,
        response_format="content_and_artifact",
    )


def as_function(tool: Tool) -> Callable[..., str]:
    """Return a function for frameworks that read its name, docstring and annotations."""
    types: dict[str, Any] = {p.name: _annotation(p) for p in tool.parameters}  # Any: types
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature(
        [
            inspect.Parameter(
                p.name,
                kind,
                default=inspect.Parameter.empty if p.is_required else None,
                annotation=types[p.name],
            )
            for p in tool.parameters
        ],
        return_annotation=str,
    )

    def function(*values: Any, **named: Any) -> str:  # Any: JSON
        return tool.call(signature.bind(*values, **named).arguments).text

    function.__name__ = function.__qualname__ = tool.name
    about = "".join(f"\n    {p.name}: {p.description}" for p in tool.parameters)
    function.__doc__ = f"{tool.description}\n\nArgs:{about}"
    function.__annotations__ = {**types, "return": str}
    function.__dict__["__signature__"] = signature
    return function


def _annotation(parameter: Parameter) -> object:
    type_: type = int if parameter.type == "integer" else str
    return type_ if parameter.is_required else type_ | None


def call_tool(tools: Sequence[Tool], name: str, arguments: str | Mapping[str, Any]) -> Answer:
    """Run a tool call of a model. `arguments` is an object or its JSON text.

    If the call is invalid, return an error that says how to call the tool.
    """
    tool = next((tool for tool in tools if tool.name == name), None)
    if tool is None:
        return error(f"unknown tool {name}; available: {', '.join(t.name for t in tools)}")
    parsed = _parse_object(arguments)
    if parsed is None:
        return error(f'{name} expects an object: {{"{tool.parameters[0].name}": "…"}}')
    return tool.call(parsed)


def _parse_object(arguments: str | Mapping[str, Any]) -> Mapping[str, Any] | None:
    if not isinstance(arguments, str):
        return arguments
    try:
        found = json.loads(arguments)
    except (ValueError, RecursionError):  # not JSON, or nested too deeply
        return None
    return found if isinstance(found, dict) else None
