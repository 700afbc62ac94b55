"""Let a model do the tasks of the agent loop through an OpenAI-compatible endpoint.

    python -m benchmarks.agent_loop.play WORK --endpoint URL --model NAME

Each task is one conversation per arm, and each session is recorded as if it had been played with
`session`. Sessions that are already closed are skipped, so an interrupted run can be repeated. If
the endpoint fails, the session is deleted and the command stops: a failure of the endpoint is not a
failure of the model. The variable OPENAI_API_KEY is sent if it is set.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

from benchmarks.agent_loop.arms import ANSWER, ARMS, Toolset, describe_task
from benchmarks.agent_loop.chat import ChatEndpoint, EndpointError, Message, as_chat_tool
from benchmarks.agent_loop.session_log import MAX_CALLS, SessionError, SessionLog
from benchmarks.agent_loop.workspace import WORK, Workspace, open_workspace
from benchmarks.common.arguments import TASKS, command_parser, name_list

# How many times a model is reminded to call a tool. After one more message without a call, the
# session ends without an answer.
_MAX_REMINDERS: Final = 2
_REMINDER: Final = f"Call a tool. When you know the places, call `{ANSWER}`."


def main() -> None:
    parser = command_parser(__doc__, WORK, TASKS.with_settings(metavar="IDS"))
    parser.add_argument("--endpoint", required=True, metavar="URL", help="e.g. http://host:8080/v1")
    parser.add_argument("--model", required=True, metavar="NAME")
    parser.add_argument("--arms", type=name_list, default=list(ARMS), metavar="ARMS")
    parser.add_argument("--timeout", type=float, default=300.0, metavar="S", help="per request")
    args = parser.parse_args()
    key = os.environ.get("OPENAI_API_KEY", "")
    endpoint = ChatEndpoint(args.endpoint, args.model, args.timeout, key)
    workspace = open_workspace(args.work)
    try:
        for session in _list_sessions(workspace, args):
            log = workspace.open_log(session)
            if not log.is_closed():
                print(play_session(endpoint, workspace.open_tools(log), log), flush=True)
    except (SessionError, EndpointError) as error:
        sys.exit(f"Error: {error}")


def _list_sessions(workspace: Workspace, args: Any) -> Iterator[str]:
    player = re.sub(r"[^\w-]+", "-", args.model)
    for task in sorted(args.tasks or workspace.tasks):
        for arm in args.arms:
            yield f"{task}.{arm}.{player}"


def play_session(endpoint: ChatEndpoint, toolset: Toolset, log: SessionLog) -> str:
    """Play one session to its end and return a line about it."""
    log.path.unlink(missing_ok=True)  # left by an interrupted run
    log.start(toolset)
    try:
        _converse(endpoint, toolset, log)
    except EndpointError:
        log.path.unlink()
        raise
    record = log.record()
    verdict = "success" if record.verdict else "failure"
    return f"{log.session}: {verdict}, {len(log.calls())} calls, {record.seconds:.0f} s"


def _converse(endpoint: ChatEndpoint, toolset: Toolset, log: SessionLog) -> None:
    tools = [as_chat_tool(definition) for definition in toolset.definitions()]
    messages: list[Message] = [{"role": "user", "content": describe_task(log.task)}]
    if toolset.instructions:
        messages.insert(0, {"role": "system", "content": toolset.instructions})
    reminders = 0
    for _ in range(MAX_CALLS + _MAX_REMINDERS):
        message = endpoint.complete(messages, tools)
        messages.append({"role": "assistant", **message})
        calls = message.get("tool_calls") or []
        if not calls:
            reminders += 1
            if reminders > _MAX_REMINDERS:
                break
            messages.append({"role": "user", "content": _REMINDER})
        for call in calls:
            messages.append(_run_call(toolset, log, call))
            if log.is_closed():
                return
    log.give_up()


def _run_call(toolset: Toolset, log: SessionLog, call: Any) -> Message:
    """Run a tool call of the model, even a malformed one, and return the output as a message."""
    call = call if isinstance(call, Mapping) else {}
    function = call.get("function")
    function = function if isinstance(function, Mapping) else {}
    name, arguments = str(function.get("name") or ""), function.get("arguments") or {}
    output = _answer(log, arguments) if name == ANSWER else log.call(toolset, name, arguments)
    return {"role": "tool", "tool_call_id": str(call.get("id") or ""), "content": output}


def _answer(log: SessionLog, arguments: Any) -> str:
    try:
        found = json.loads(arguments) if isinstance(arguments, str) else arguments
        log.answer(found.get("places") if isinstance(found, Mapping) else None)
    except (ValueError, RecursionError) as error:
        return log.refuse_answer(arguments, str(error))
    return "recorded"


if __name__ == "__main__":
    main()
