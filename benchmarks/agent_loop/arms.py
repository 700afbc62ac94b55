"""The two arms of the comparison: the tools and the introduction that a model gets in each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.agent_loop.file_tools import (
    ModelTool,
    ToolCallError,
    file_tools,
    object_schema,
)
from benchmarks.agent_loop.tasks import AgentTask
from benchmarks.agent_loop.verdicts import MAX_LINES, MAX_PLACES
from rootle import App, Config, open_app
from rootle.agents.instructions_block import add_block
from rootle.server.mcp import ToolServer, as_mcp_tool
from rootle.tools import Tool, call_tool, create_tools

ARMS: Final = ("grep", "rootle")
ANSWER: Final = "answer"
SEARCH_TOOLS: Final = ("vectordb_search", "vectordb_read")
_ANSWERS: Final = {
    "find": "the place that does this (a second one if you are not sure)",
    "explain": "the places where the parts that you describe are implemented",
    "change": "the places that must change or that the change depends on",
}


@dataclass(frozen=True)
class Toolset:
    """The tools of one session, and the other texts that the model reads."""

    tools: Mapping[str, ModelTool]
    instructions: str

    def definitions(self) -> list[dict[str, Any]]:
        """Return the definitions of all tools."""
        return [tool.definition() for tool in self.tools.values()]

    def introduction_chars(self) -> int:
        """Return the number of characters that the model reads before its task."""
        definitions = json.dumps(self.definitions(), ensure_ascii=False)
        return len(definitions) + len(self.instructions)

    def call(self, name: str, arguments: str | Mapping[str, Any]) -> str:
        """Return the output of a tool, or a message for the model if the call is invalid."""
        tool = self.tools.get(name)
        if tool is None:
            return f"Error: unknown tool {name}; available: {', '.join(self.tools)}"
        try:
            return tool.run(_parse_arguments(arguments))
        except (ToolCallError, OSError) as error:
            return f"Error: {error}"


def open_toolset(task: AgentTask, arm: str, root: Path, index_dir: Path) -> Toolset:
    """Return the tools of an arm for a task. The index must exist for the arm "rootle"."""
    tools = {tool.name: tool for tool in file_tools(root)}
    instructions = ""
    if arm == "rootle":
        found = search_tools(open_app(root, index_dir=index_dir, config=Config()))
        tools |= {tool.name: adapt_tool(tool, found) for tool in found}
        instructions = server_instructions(found, root) + "\n\n" + add_block("")
    answer = _answer_tool(task)
    return Toolset({**tools, answer.name: answer}, instructions)


def search_tools(app: App) -> list[Tool]:
    """Return the tools that search and read code; those for memories and the web are omitted."""
    return [tool for tool in create_tools(app) if tool.name in SEARCH_TOOLS]


def server_instructions(tools: Sequence[Tool], root: Path) -> str:
    """Return the instructions that rootle's MCP server sends to a client."""
    return ToolServer(tools, lambda: None, lambda: None, root).as_mcp().instructions or ""


def adapt_tool(tool: Tool, tools: Sequence[Tool]) -> ModelTool:
    """Return one of rootle's tools with the description and the output of rootle's MCP server."""
    listed = as_mcp_tool(tool)
    return ModelTool(
        tool.name,
        listed.description or "",
        listed.input_schema,
        lambda arguments: call_tool(tools, tool.name, arguments).text,
    )


def describe_task(task: AgentTask) -> str:
    """Return the prompt of a task, which is the same in both arms."""
    limit = MAX_PLACES[task.kind]
    return (
        "You work in a repository that you have never seen. Use only the given tools. Read as "
        f"little as you need. Then call `{ANSWER}` once with {_ANSWERS[task.kind]}: at most "
        f'{limit} places, each as "path:first-last" with at most {MAX_LINES} lines.\n\n'
        f"Task: {task.text}"
    )


def _answer_tool(task: AgentTask) -> ModelTool:
    places = {
        "type": "array", "items": {"type": "string"},
        "description": f'at most {MAX_PLACES[task.kind]}, each as "path:first-last"',
    }  # fmt: skip

    def refuse(_: Mapping[str, Any]) -> str:
        raise ToolCallError("this call ends the session and is not a search")

    return ModelTool(
        ANSWER, "Give the final answer.", object_schema("places", places=places), refuse
    )


def _parse_arguments(arguments: str | Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(arguments, str):
        return arguments
    try:
        found = json.loads(arguments)
    except (ValueError, RecursionError) as error:
        raise ToolCallError(f"the arguments are not JSON: {error}") from error
    if not isinstance(found, dict):
        raise ToolCallError("the arguments must be a JSON object")
    return found
