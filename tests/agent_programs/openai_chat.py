"""The OpenAI Chat Completions protocol, which OpenCode, Qwen Code and Copilot CLI speak."""

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


class OpenAIChat:
    def accepts(self, path: str) -> bool:
        return path.endswith("/chat/completions")

    def read(self, body: Body) -> ModelRequest:
        functions = [tool["function"] for tool in body.get("tools") or []]
        tools = [
            ListedTool(item["name"], item.get("description", ""), item.get("parameters", {}))
            for item in functions
        ]
        prompt, results = [], []
        names: dict[str, str] = {}
        for message in body["messages"]:
            for call in message.get("tool_calls") or []:
                names[call["id"]] = call["function"]["name"]
            content = text_of(message.get("content") or "")
            if message["role"] == "tool":
                results.append(ToolResult(names[message["tool_call_id"]], content))
            else:
                prompt.append(content)
        return ModelRequest(tools, "\n".join(prompt), results)

    def stream(self, call: ToolCall | None) -> Iterable[str]:
        message, reason = _message(call)
        yield event(_chunk("chat.completion.chunk", {"delta": message, "finish_reason": None}))
        yield event(_chunk("chat.completion.chunk", {"delta": {}, "finish_reason": reason}))
        yield "data: [DONE]\n\n"

    def whole(self, call: ToolCall | None) -> Body:
        message, reason = _message(call)
        return _chunk("chat.completion", {"message": message, "finish_reason": reason})


def _message(call: ToolCall | None) -> tuple[dict[str, Any], str]:
    if call is None:
        return {"role": "assistant", "content": "Done."}, "stop"
    function = {"name": call.tool.name, "arguments": call.json}
    item = {"index": 0, "id": call.id, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [item]}, "tool_calls"


def _chunk(kind: str, choice: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "chat_1",
        "object": kind,
        "created": 1_700_000_000,
        "model": "test-model",
        "choices": [{"index": 0, **choice}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
