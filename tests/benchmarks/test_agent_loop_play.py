"""The agent-loop benchmark with a model endpoint: a local server speaks the protocol or fails."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_loop_zoo import make_workspace
from benchmarks.agent_loop import chat, play
from benchmarks.agent_loop.session_log import SessionRecord
from benchmarks.agent_loop.workspace import Workspace
from json_server import JsonServer, Reply, Request, serving

Answers = Callable[..., JsonServer]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    return Workspace(tmp_path, make_workspace(tmp_path, monkeypatch))


@pytest.fixture
def answers() -> Iterator[Answers]:
    """Return a function that starts a model server, which sends the given replies in order."""
    running: list[Any] = []

    def start(*replies: Reply) -> JsonServer:
        waiting = iter(replies)
        context = serving(lambda _: next(waiting))
        running.append(context)
        server: JsonServer = context.__enter__()
        return server

    yield start
    for context in running:
        context.__exit__(None, None, None)


def says(content: str | None = None, **calls: Any) -> Reply:
    """Return a completion with tool calls; an argument of type `str` is sent unchanged."""
    made = [
        {
            "id": f"call-{name}", "type": "function",
            "function": {
                "name": name,
                "arguments": value if isinstance(value, str) else json.dumps(value),
            },
        }
        for name, value in calls.items()
    ]  # fmt: skip
    message = {"role": "assistant", "content": content, "tool_calls": made or None}
    return Reply({"choices": [{"message": message}]})


def run(workspace: Workspace, server: JsonServer, session: str, **options: Any) -> SessionRecord:
    endpoint = chat.ChatEndpoint(f"{server.url}/v1", "otter-1", retry_delay_s=0.0, **options)
    log = workspace.open_log(session)
    play.play_session(endpoint, workspace.open_tools(log), log)
    return log.record()


def contents(request: Request) -> list[str]:
    return [message["content"] for message in request.body["messages"]]


ANSWER = {"places": ["otter.py:4-6"]}


def test_a_model_uses_tools_and_answers(workspace: Workspace, answers: Answers) -> None:
    server = answers(says(grep={"pattern": "swim"}), says("I know", answer=ANSWER))
    record = run(workspace, server, "z1.grep.otter-1", api_key="key")
    assert record.verdict
    assert [(call.tool, call.chars) for call in record.calls] == [("grep", 52)]
    first, second = server.requests
    assert first.path == "/v1/chat/completions"
    assert first.headers["authorization"] == "Bearer key"
    assert [tool["function"]["name"] for tool in first.body["tools"]] == ["grep", "read", "answer"]
    assert second.body["messages"][-1] == {
        "role": "tool", "tool_call_id": "call-grep",
        "content": "otter.py:4:def swim_upstream(speed: float) -> float:",
    }  # fmt: skip


def test_the_arm_with_rootle_receives_its_instructions(
    workspace: Workspace, answers: Answers
) -> None:
    server = answers(
        says(vectordb_search={"query": "otter against the current"}), says(answer=ANSWER)
    )
    record = run(workspace, server, "z1.rootle")
    assert record.verdict
    system = server.requests[0].body["messages"][0]
    assert system["role"] == "system"
    assert "vectordb_search" in system["content"]
    assert "otter.py" in contents(server.requests[1])[-1]
    assert record.calls[0].chars == len(contents(server.requests[1])[-1])


def test_malformed_calls_are_answered_and_counted(workspace: Workspace, answers: Answers) -> None:
    broken = {"choices": [{"message": {"tool_calls": [{"id": "x"}, "nonsense"]}}]}
    server = answers(
        says(grep="{broken"),
        says(grep="[]"),
        says(bark={"pattern": "a"}),
        Reply(broken),
        says(answer="{broken"),
        says(answer={"places": "otter.py:4"}),
        says(answer=ANSWER),
    )
    record = run(workspace, server, "z1.grep")
    assert record.verdict
    assert len(record.calls) == 7
    assert all(call.chars > 10 for call in record.calls)
    assert "the arguments are not JSON" in contents(server.requests[1])[-1]
    assert "unknown tool bark" in contents(server.requests[3])[-1]


def test_a_model_that_only_talks_is_reminded_and_fails(
    workspace: Workspace, answers: Answers
) -> None:
    server = answers(says("Hm."), says("Well."), says("It is in otter.py."))
    record = run(workspace, server, "z1.grep")
    assert not record.verdict
    assert record.places == ()
    assert (
        contents(server.requests[2]).count("Call a tool. When you know the places, call `answer`.")
        == 2
    )


@pytest.mark.slow
def test_a_model_that_never_answers_is_stopped(workspace: Workspace, answers: Answers) -> None:
    server = answers(*[says(read={"path": "badger.py"})] * 60)
    record = run(workspace, server, "z1.grep")
    assert not record.verdict
    assert len(record.calls) == 40


def test_a_server_error_is_retried(workspace: Workspace, answers: Answers) -> None:
    server = answers(Reply({"error": "busy"}, status=500), Reply(status=429), says(answer=ANSWER))
    assert run(workspace, server, "z1.grep").verdict


@pytest.mark.parametrize(
    ("replies", "problem"),
    [
        ([Reply({"error": "broken"}, status=500)] * 3, "HTTP 500: .*broken"),
        ([Reply({"error": "no such model"}, status=404)], "HTTP 404: .*no such model"),
        ([Reply({"choices": []})], "not a chat completion"),
        ([Reply(raw=b"<html>")], "not a chat completion: <html>"),
        ([Reply({"choices": [{"message": "hello"}]})], "not an object"),
        ([Reply({"choices": []}, cut=True)] * 3, "IncompleteRead"),
        ([Reply(hang=True)] * 3, "timed out"),
    ],
)
def test_a_failure_of_the_endpoint_is_no_failure_of_the_model(
    workspace: Workspace, answers: Answers, replies: list[Reply], problem: str
) -> None:
    server = answers(says(grep={"pattern": "swim"}), *replies)
    with pytest.raises(chat.EndpointError, match=problem):
        run(workspace, server, "z1.grep", timeout_s=0.2 if replies[0].hang else 5.0)
    assert not workspace.open_log("z1.grep").path.exists()


def test_the_command_plays_both_arms_and_continues_later(
    workspace: Workspace,
    answers: Answers,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server = answers(says(answer=ANSWER), Reply(status=404), says(answer={"places": ["x.py:1"]}))
    arguments = [str(workspace.folder), "--endpoint", server.url, "--model", "otter/1"]
    monkeypatch.setattr(sys, "argv", ["play", *arguments, "--tasks", "z1"])
    with pytest.raises(SystemExit, match="HTTP 404"):
        play.main()
    play.main()
    output = capsys.readouterr().out
    assert "z1.grep.otter-1: success, 0 calls" in output
    assert "z1.rootle.otter-1: failure, 0 calls" in output
