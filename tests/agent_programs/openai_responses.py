"""The OpenAI Responses protocol, which Codex speaks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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


class OpenAIResponses:
    def accepts(self, path: str) -> bool:
        return path.endswith("/responses")

    def read(self, body: Body) -> ModelRequest:
        prompt = [text_of(body.get("instructions") or "")]
        results, names = [], {}
        for item in body["input"]:
            kind = item.get("type", "message")
            if kind == "function_call":
                names[item["call_id"]] = item["name"]
            elif kind == "function_call_output":
                results.append(ToolResult(names[item["call_id"]], text_of(item["output"])))
            else:
                prompt.append(text_of(item.get("content", item)))
        # The model also reads the descriptions of tool groups.
        prompt += [
            tool.get("description", "")
            for tool in body.get("tools") or []
            if tool.get("type") == "namespace"
        ]
        return ModelRequest(list(_tools(body.get("tools") or [])), "\n".join(prompt), results)

    def stream(self, call: ToolCall | None) -> Iterable[str]:
        item = _item(call)
        response = {"id": "resp_1", "object": "response", "status": "in_progress", "output": []}
        events: list[dict[str, Any]] = [
            {"type": "response.created", "response": response},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": self.whole(call)},
        ]
        return [event(data, data["type"]) for data in events]

    def whole(self, call: ToolCall | None) -> Body:
        usage = {
            "input_tokens": 1,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 1,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 2,
        }
        response = {"id": "resp_1", "object": "response", "status": "completed", "usage": usage}
        return {**response, "output": [_item(call)]}


def _tools(listed: list[dict[str, Any]], namespace: str = "") -> Iterator[ListedTool]:
    for tool in listed:
        if tool.get("type") == "namespace":
            yield from _tools(tool["tools"], tool["name"])
        elif not tool.get("defer_loading"):
            name = tool.get("name", tool.get("type", ""))
            schema = tool.get("parameters") or {}
            yield ListedTool(name, tool.get("description", ""), schema, namespace)


def _item(call: ToolCall | None) -> dict[str, Any]:
    if call is None:
        content = [{"type": "output_text", "text": "Done.", "annotations": []}]
        head = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
        return {**head, "content": content}
    item = {
        "type": "function_call",
        "id": f"item_{call.id}",
        "call_id": call.id,
        "name": call.tool.name,
        "arguments": call.json,
        "status": "completed",
    }
    return {**item, "namespace": call.tool.namespace} if call.tool.namespace else item
