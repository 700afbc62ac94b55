"""Play a session of the agent loop from a shell, one command per tool call.

    python -m benchmarks.agent_loop.session WORK start SESSION
    python -m benchmarks.agent_loop.session WORK call SESSION TOOL JSON
    python -m benchmarks.agent_loop.session WORK answer SESSION '["path:first-last"]'
    python -m benchmarks.agent_loop.session WORK collect FILE

SESSION is TASK.ARM or TASK.ARM.PLAYER. `start` prints the tools and the task, and `call` prints
exactly the output of a tool. All characters except those of the task are counted. `answer` closes
the session. JSON may be "-" for standard input. Before a call of one of rootle's tools, the process
repeats the session's earlier calls of these tools, so that a tool that avoids repetition behaves as
it would in a single process. The repeated calls are not counted. `collect` writes all closed
sessions to a file of JSON lines for `report`.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.agent_loop.arms import SEARCH_TOOLS, Toolset
from benchmarks.agent_loop.session_log import SessionError, SessionLog
from benchmarks.agent_loop.workspace import WORK, Workspace, open_workspace
from benchmarks.common.arguments import command_parser

# This search runs before the searches of the session. It loads the model and the index, which a
# running server has already loaded.
_WARM_UP = {"query": "license"}


def main() -> None:
    args = _parse_arguments()
    try:
        workspace = open_workspace(args.work)
        if args.command == "collect":
            collect(workspace, args.file)
            return
        log = workspace.open_log(args.session)
        print(run_command(args, workspace, log))
    except (SessionError, ValueError) as error:
        sys.exit(f"Error: {error}")


def run_command(args: argparse.Namespace, workspace: Workspace, log: SessionLog) -> str:
    """Run `start`, `call` or `answer` and return what the model sees."""
    if args.command == "start":
        return log.start(workspace.open_tools(log))
    arguments = _parse_json(sys.stdin.read() if args.json == "-" else args.json)
    if args.command == "answer":
        return _answer(log, arguments)
    log.check_open()
    toolset = workspace.open_tools(log)
    if args.tool in SEARCH_TOOLS and args.tool in toolset.tools:
        repeat_calls(toolset, workspace.open_tools(log), log)
    return log.call(toolset, args.tool, arguments)


def repeat_calls(toolset: Toolset, warm_up: Toolset, log: SessionLog) -> None:
    """Bring a new process into the state that a server would have after the earlier calls."""
    warm_up.call("vectordb_search", _WARM_UP)
    for call in log.calls():
        if call.tool in SEARCH_TOOLS:
            toolset.call(call.tool, call.arguments)


def collect(workspace: Workspace, file: Path) -> None:
    """Write the records of all closed sessions, in the order of their ids."""
    logs = [
        workspace.open_log(path.name.removesuffix(".jsonl"))
        for path in sorted((workspace.folder / "sessions").glob("*.jsonl"))
    ]
    closed = [log for log in logs if log.is_closed()]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{log.record().to_line()}\n" for log in closed), encoding="utf-8")
    print(f"{len(closed)} sessions written, {len(logs) - len(closed)} not closed")


def _answer(log: SessionLog, arguments: Any) -> str:
    places = arguments.get("places") if isinstance(arguments, dict) else arguments
    log.check_open()
    try:
        log.answer(places)
    except ValueError as error:
        return log.refuse_answer(arguments, str(error))
    return "Answer recorded; the session is closed."


def _parse_json(text: str) -> Any:
    """Return the value of JSON text, or invalid JSON as text, which the tool then refuses."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _parse_arguments() -> argparse.Namespace:
    parser = command_parser(__doc__, WORK)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("start", "call", "answer"):
        command = commands.add_parser(name)
        command.add_argument("session", metavar="SESSION")
        if name == "call":
            command.add_argument("tool", metavar="TOOL")
        if name != "start":
            command.add_argument("json", metavar="JSON")
    commands.add_parser("collect").add_argument("file", type=Path, metavar="FILE")
    return parser.parse_args()


if __name__ == "__main__":
    main()
