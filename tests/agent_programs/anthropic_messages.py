"""The Anthropic Messages protocol, which Claude Code speaks."""

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


class AnthropicMessages:
    def accepts(self, path: str) -> bool:
        return path.endswith("/messages")

    def read(self, body: Body) -> ModelRequest:
        prompt = [text_of(body.get("system", ""))]
        results, names = [], {}
        for block in _blocks(body):
            if block["type"] == "tool_use":
                names[block["id"]] = block["name"]
            elif block["type"] == "tool_result":
                name = names.get(block["tool_use_id"], "")
                results.append(ToolResult(name, text_of(block.get("content", ""))))
            else:
                prompt.append(text_of(block))
        tools = [
            ListedTool(tool["name"], tool.get("description", ""), tool.get("input_schema", {}))
            for tool in body.get("tools", [])
            # The model sees the description of a deferred tool only after a search for tools.
            if not tool.get("defer_loading")
        ]
        return ModelRequest(tools, "\n".join(prompt), results)

    def stream(self, call: ToolCall | None) -> Iterable[str]:
        block, delta, reason = _content(call)
        message = {**_message(reason), "content": [], "stop_reason": None}
        events: list[dict[str, Any]] = [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": reason, "stop_sequence": None},
                "usage": {"output_tokens": 1},
            },
            {"type": "message_stop"},
        ]
        return [event(data, data["type"]) for data in events]

    def whole(self, call: ToolCall | None) -> Body:
        block, delta, reason = _content(call)
        filled = {"text": delta["text"]} if call is None else {"input": dict(call.arguments)}
        return {**_message(reason), "content": [{**block, **filled}]}


def _blocks(body: Body) -> Iterable[dict[str, Any]]:
    for message in body["messages"]:
        content = message["content"]
        yield from [{"type": "text", "text": content}] if isinstance(content, str) else content


def _content(call: ToolCall | None) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Return an empty content block, the delta that fills it, and the stop reason."""
    if call is None:
        return {"type": "text", "text": ""}, {"type": "text_delta", "text": "Done."}, "end_turn"
    block = {"type": "tool_use", "id": call.id, "name": call.tool.name, "input": {}}
    return block, {"type": "input_json_delta", "partial_json": call.json}, "tool_use"


def _message(reason: str) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "test-model",
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
