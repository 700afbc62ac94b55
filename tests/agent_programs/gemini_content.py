"""The Gemini protocol, which Gemini CLI speaks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agent_programs.exchange import (
    Body,
    ListedTool,
    ModelRequest,
    ToolCall,
    ToolResult,
    event,
    text_of,
)


class GeminiContent:
    def accepts(self, path: str) -> bool:
        return path.endswith((":generateContent", ":streamGenerateContent"))

    def read(self, body: Body) -> ModelRequest:
        tools = [
            ListedTool(item["name"], item.get("description", ""), _schema(item))
            for group in body.get("tools", [])
            for item in group.get("functionDeclarations", [])
        ]
        prompt, results = [], []
        contents = [*body.get("contents", []), body.get("systemInstruction", {})]
        for part in (part for content in contents for part in content.get("parts", [])):
            if response := part.get("functionResponse"):
                results.append(ToolResult(response["name"], _output(response["response"])))
            elif "functionCall" not in part:
                prompt.append(text_of(part))
        return ModelRequest(tools, "\n".join(prompt), results)

    def stream(self, call: ToolCall | None) -> Iterable[str]:
        return [event(self.whole(call))]

    def whole(self, call: ToolCall | None) -> Body:
        part: dict[str, Any] = {"text": "Done."}
        if call is not None:
            part = {"functionCall": {"name": call.tool.name, "args": dict(call.arguments)}}
        content = {"role": "model", "parts": [part]}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        candidate = {"content": content, "finishReason": "STOP", "index": 0}
        return {"candidates": [candidate], "usageMetadata": usage}


def _schema(function: dict[str, Any]) -> dict[str, Any]:
    return function.get("parametersJsonSchema") or function.get("parameters") or {}


def _output(response: dict[str, Any]) -> str:
    """Return the only value of a response, or the whole response if it has several."""
    return text_of(next(iter(response.values())) if len(response) == 1 else response)
