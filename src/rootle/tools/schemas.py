"""JSON schemas of tools, in the forms that models expect."""

from __future__ import annotations

from typing import Any

from rootle.tools.tool import Tool

Schema = dict[str, Any]  # Any: JSON


def parameters_of(tool: Tool) -> Schema:
    """Return the JSON schema of the arguments of a tool: an object with exactly one string."""
    return {
        "type": "object",
        "properties": {
            tool.parameter: {"type": "string", "description": tool.parameter_description}
        },
        "required": [tool.parameter],
        "additionalProperties": False,
    }


def as_openai(tool: Tool) -> Schema:
    """Return an element of `tools=` for OpenAI chat completions and compatible servers."""
    return {"type": "function", "function": _function(tool)}


def as_openai_response(tool: Tool) -> Schema:
    """Return an element of `tools=` for OpenAI responses."""
    return {"type": "function", **_function(tool)}


def _function(tool: Tool) -> Schema:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": parameters_of(tool),
        "strict": True,
    }


def as_anthropic(tool: Tool) -> Schema:
    """Return an element of `tools=` for Anthropic messages."""
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": parameters_of(tool),
    }
