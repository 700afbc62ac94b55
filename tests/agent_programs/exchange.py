"""One request to a model and its answer, in a form that is independent of the wire format."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

SEARCH_TOOL = "vectordb_search"

Body = Mapping[str, Any]  # Any: JSON


@dataclass(frozen=True)
class ListedTool:
    """A tool that a program offers to the model; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    # The group of a tool in the OpenAI Responses API; other protocols have no groups.
    namespace: str = ""


@dataclass(frozen=True)
class ToolResult:
    """The output of one call, as the text that the model reads."""

    tool: str
    text: str


@dataclass(frozen=True)
class ModelRequest:
    """The content of one request: `prompt` is all text apart from tools and their results."""

    tools: Sequence[ListedTool]
    prompt: str
    results: Sequence[ToolResult]

    @property
    def search_tool(self) -> ListedTool | None:
        return next((tool for tool in self.tools if SEARCH_TOOL in tool.name), None)

    @property
    def search_results(self) -> list[str]:
        return [result.text for result in self.results if SEARCH_TOOL in result.tool]


@dataclass(frozen=True)
class ToolCall:
    """A call that the model makes."""

    id: str
    tool: ListedTool
    arguments: Mapping[str, Any]

    @property
    def json(self) -> str:
        return json.dumps(self.arguments)


class WireFormat(Protocol):
    """One of the protocols that model servers speak."""

    def accepts(self, path: str) -> bool:
        """Return whether a request to this path asks the model."""
        ...

    def read(self, body: Body) -> ModelRequest: ...

    def stream(self, call: ToolCall | None) -> Iterable[str]:
        """Return server-sent events that make one call, or end the turn."""
        ...

    def whole(self, call: ToolCall | None) -> Body:
        """Return the answer of `stream` as one JSON object, for a request without streaming."""
        ...


def text_of(content: object) -> str:
    """Return the text of a string or of text blocks; return any other value as JSON."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(text_of(block) for block in content)
    if isinstance(content, dict) and isinstance(content.get("text"), str):
        return str(content["text"])
    return json.dumps(content, ensure_ascii=False)


def event(data: object, kind: str = "") -> str:
    """Return one server-sent event."""
    head = f"event: {kind}\n" if kind else ""
    return f"{head}data: {json.dumps(data)}\n\n"
