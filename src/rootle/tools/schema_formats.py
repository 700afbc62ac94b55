"""JSON schemas of tools, in the forms that models expect."""

from __future__ import annotations

from typing import Any

from rootle.tools.tool import Parameter, Tool

Schema = dict[str, Any]  # Any: JSON


def describe_parameters(tool: Tool, *, is_strict: bool = False) -> Schema:
    """Return the JSON schema of the arguments of a tool: an object of strings and integers.

    In OpenAI's strict mode, all properties are required, but optional properties may be null.
    """
    return {
        "type": "object",
        "properties": {
            p.name: _describe_parameter(p, is_strict=is_strict) for p in tool.parameters
        },
        "required": [p.name for p in tool.parameters if p.is_required or is_strict],
        "additionalProperties": False,
    }


def _describe_parameter(parameter: Parameter, *, is_strict: bool) -> Schema:
    is_nullable = is_strict and not parameter.is_required
    schema: Schema = {
        "type": [parameter.type, "null"] if is_nullable else parameter.type,
        "description": parameter.description,
    }
    if parameter.type == "integer":
        schema |= {"minimum": parameter.minimum, "maximum": parameter.maximum}
    return schema


def as_openai(tool: Tool) -> Schema:
    """Return an element of `tools=` for OpenAI's Chat Completions API and compatible servers."""
    return {"type": "function", "function": _function(tool)}


def as_openai_response(tool: Tool) -> Schema:
    """Return an element of `tools=` for OpenAI's Responses API."""
    return {"type": "function", **_function(tool)}


def _function(tool: Tool) -> Schema:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": describe_parameters(tool, is_strict=True),
        "strict": True,
    }


def as_anthropic(tool: Tool) -> Schema:
    """Return an element of `tools=` for Anthropic's Messages API."""
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": describe_parameters(tool),
    }
