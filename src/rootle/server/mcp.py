"""An MCP server that lists tools and runs the calls of clients."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.lowlevel
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from rootle import __version__
from rootle.errors import RootleError
from rootle.server.instructions import instructions_for
from rootle.tools.schema_formats import describe_parameters
from rootle.tools.tool import Answer, Tool, error

_LOG = logging.getLogger(__name__)

# Claude Code hides the tools of a server until the model searches for them, except those that have
# this key. Other clients ignore it.
_META: Final[dict[str, Any]] = {"anthropic/alwaysLoad": True}
_ALWAYS_LOADED: Final = ("vectordb_search", "vectordb_read")
# The maximum number of running calls, and the maximum number of running and waiting calls.
_MAX_RUNNING: Final = 8
_MAX_PENDING: Final = 1_000
_PROGRESS_INTERVAL_S: Final = 0.2

_Context = ServerRequestContext[Any, Any]


class ToolServer:
    """Answers the requests of any number of clients.

    The tools search `folder`. While the first index is being built, `index_progress` returns the
    number of bytes that have been read and the total number; afterwards, it returns None. `on_list`
    is called when a client lists the tools.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        index_progress: Callable[[], tuple[int, int] | None],
        on_list: Callable[[], None],
        folder: Path,
    ) -> None:
        self._folder = folder
        self._tools = {tool.name: tool for tool in tools}
        self._index_progress = index_progress
        self._on_list = on_list
        self._pending = 0
        self._limiter = anyio.CapacityLimiter(_MAX_RUNNING)

    def as_mcp(self) -> Server[Any]:
        return Server(
            "rootle",
            version=__version__,
            title="rootle",
            instructions=instructions_for(self._folder, self._tools),
            on_list_tools=self._list,
            on_call_tool=self._call,
        )

    async def _list(self, _: _Context, __: object) -> types.ListToolsResult:
        self._on_list()
        return types.ListToolsResult(tools=[as_mcp_tool(tool) for tool in self._tools.values()])

    async def _call(
        self, context: _Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool = self._tools.get(params.name)
        if tool is None:
            known = ", ".join(self._tools)
            raise MCPError(types.INVALID_PARAMS, f"unknown tool {params.name!r}; known: {known}")
        arguments = params.arguments or {}
        if self._pending >= _MAX_PENDING:
            return _result(
                error(f"{_MAX_PENDING:,} calls are running or waiting; send fewer at once")
            )
        self._pending += 1
        try:
            answer = await self._run_tool(context, tool, arguments)
            # The answer to a canceled call is not sent.
            await anyio.lowlevel.checkpoint_if_cancelled()
            answer.on_received()
            return _result(answer)
        finally:
            self._pending -= 1

    async def _run_tool(
        self, context: _Context, tool: Tool, arguments: Mapping[str, Any]
    ) -> Answer:
        """Run a tool in a thread; report progress to a client that requested it."""
        async with anyio.create_task_group() as tasks:
            if (context.meta or {}).get("progress_token") is not None:
                tasks.start_soon(self._report_progress, context)
            # A canceled call keeps its slot until the tool returns. Otherwise a client could start
            # any number of threads.
            answer = await anyio.to_thread.run_sync(_run, tool, arguments, limiter=self._limiter)
            tasks.cancel_scope.cancel()
        return answer

    async def _report_progress(self, context: _Context) -> None:
        reported = -1
        while (progress := await anyio.to_thread.run_sync(self._index_progress)) is not None:
            done, total = progress
            if total and done > reported:
                # MCP requires that progress increases with each notification
                reported = done
                await context.session.report_progress(done, total, "building the index")
            await anyio.sleep(_PROGRESS_INTERVAL_S)


def as_mcp_tool(tool: Tool) -> types.Tool:
    """Return the description of a tool for clients, with a schema that strict clients accept."""
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=describe_parameters(tool),
        annotations=types.ToolAnnotations(
            read_only_hint=tool.is_read_only,
            destructive_hint=False,
            idempotent_hint=tool.is_idempotent,
            open_world_hint=tool.is_open_world,
        ),
        _meta=_META if tool.name in _ALWAYS_LOADED else None,
    )


def _run(tool: Tool, arguments: Mapping[str, Any]) -> Answer:
    started = time.perf_counter()
    try:
        answer = tool.prepare(arguments)
        _LOG.info("%s answered in %.0f ms", tool.name, (time.perf_counter() - started) * 1000)
        return answer
    except RootleError as problem:
        return error(str(problem))
    except Exception as bug:
        # An unexpected error must not end the server, so only this call fails.
        _LOG.exception("%s failed", tool.name)
        return error(f"{tool.name} failed because of a bug in it ({type(bug).__name__})")


def _result(answer: Answer) -> types.CallToolResult:
    """Return only the text of an answer, without its data.

    Some clients would show a model the data instead of the text, and others would show it both.
    """
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=answer.text)], is_error=answer.is_error
    )
