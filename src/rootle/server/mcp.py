"""Tools as an MCP server: what a client is told of them, and what happens when it calls one."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from rootle import __version__
from rootle.errors import RootleError
from rootle.tools.adapters import parameters_of, text_of
from rootle.tools.tool import Answer, Tool, error

_LOG = logging.getLogger(__name__)

_INSTRUCTIONS: Final = (
    "Searches the code and documents of one folder on this machine, by meaning and by words. "
    "Its index is kept fresh by itself."
)
# Tools that run at the same time, and calls that may wait for their turn.
_AT_ONCE: Final = 8
_MAX_WAITING: Final = 1_000
_PROGRESS_S: Final = 0.2

_Context = ServerRequestContext[Any, Any]


class ToolServer:
    """Answers the requests of any number of clients.

    `first_index` tells how far an index that is being made for the first time is; None where it is
    made. `listed` is called when a client was told of the tools.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        first_index: Callable[[], tuple[int, int] | None],
        listed: Callable[[], None],
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._first_index = first_index
        self._listed = listed
        self._waiting = 0
        self._room = anyio.CapacityLimiter(_AT_ONCE)

    def as_mcp(self) -> Server[Any]:
        return Server(
            "rootle",
            version=__version__,
            title="rootle",
            instructions=_INSTRUCTIONS,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )

    async def _list(self, _: _Context, __: object) -> types.ListToolsResult:
        self._listed()
        return types.ListToolsResult(tools=[described(tool) for tool in self._tools.values()])

    async def _call(
        self, context: _Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool = self._tools.get(params.name)
        if tool is None:
            known = ", ".join(self._tools)
            raise MCPError(types.INVALID_PARAMS, f"unknown tool {params.name!r}; known: {known}")
        text = text_of(tool, params.arguments or {})
        if isinstance(text, Answer):
            return _result(text)
        if self._waiting >= _MAX_WAITING:
            return _result(error(f"{_MAX_WAITING:,} calls wait already; ask fewer at once"))
        self._waiting += 1
        try:
            return _result(await self._answered(context, tool, text))
        finally:
            self._waiting -= 1

    async def _answered(self, context: _Context, tool: Tool, text: str) -> Answer:
        """The tool's answer, by a thread of its own; a client that asked hears how it goes on."""
        async with anyio.create_task_group() as tasks:
            if (context.meta or {}).get("progress_token") is not None:
                tasks.start_soon(self._report, context)
            # Not abandoned where the client cancels: a flood of those would be one of threads.
            answer = await anyio.to_thread.run_sync(_run, tool, text, limiter=self._room)
            tasks.cancel_scope.cancel()
        return answer

    async def _report(self, context: _Context) -> None:
        said = -1
        while (progress := await anyio.to_thread.run_sync(self._first_index)) is not None:
            done, total = progress
            if total and done > said:  # the protocol wants it to rise
                said = done
                await context.session.report_progress(done, total, "making the index")
            await anyio.sleep(_PROGRESS_S)


def described(tool: Tool) -> types.Tool:
    """What a client is told: the plainest schema there is, which the strictest of them takes."""
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=parameters_of(tool),
        annotations=types.ToolAnnotations(
            read_only_hint=tool.is_read_only,
            destructive_hint=False,
            idempotent_hint=tool.is_idempotent,
            open_world_hint=tool.is_open_world,
        ),
    )


def _run(tool: Tool, text: str) -> Answer:
    started = time.perf_counter()
    try:
        answer = tool.run(text)
        _LOG.info("%s answered in %.0f ms", tool.name, (time.perf_counter() - started) * 1000)
        return answer
    except RootleError as problem:
        return error(str(problem))
    except Exception as bug:
        # The door: this call failed and its client is told so; the others go on.
        _LOG.exception("%s failed", tool.name)
        return error(f"{tool.name} failed by a fault of its own ({type(bug).__name__})")


def _result(answer: Answer) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=answer.text)],
        structured_content=dict(answer.data) or None,
        is_error=answer.is_error,
    )
