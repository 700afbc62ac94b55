"""`rootle mcp` over real pipes, with normal, misbehaving and disconnecting clients."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from command import rootle
from mcp.shared.exceptions import MCPError
from mcp_process import (
    MISBEHAVING_TOOLS,
    Lines,
    Session,
    children_of,
    client_of,
    is_alive,
    lines_of,
    text_of,
)
from polling import TIMEOUT_S, wait_until
from sample import FILES, many_files, write, write_tree

from rootle.server.streams import MAX_LINE_BYTES
from rootle.text.terms import CHARS_PER_TOKEN

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(folder: Path, variables: dict[str, str]) -> Iterator[Lines]:
    """Return a server that has answered `initialize`; several tests send it messages."""
    with lines_of(folder, variables=variables) as server:
        server.initialize()
        yield server


def test_a_client_lists_the_tools_and_calls_one(session: Session) -> None:
    (search, *_) = session.tools()
    assert search.name == "vectordb_search"
    hints = search.annotations
    assert (hints.read_only_hint, hints.idempotent_hint) == (True, True)
    assert (hints.open_world_hint, hints.destructive_hint) == (False, False)
    answer = session.call(search.name, {"query": "retry_backoff"})
    assert not answer.is_error
    assert text_of(answer).startswith("1. src/net/retry.py:")
    assert answer.structured_content is None  # some clients would show a model only the data


def test_the_schemas_are_simple_and_short(session: Session) -> None:
    tools = [tool.model_dump(by_alias=True, exclude_none=True) for tool in session.tools()]
    for tool in tools:
        schema = tool["inputSchema"]
        assert set(schema) == {"type", "properties", "required", "additionalProperties"}
        assert (schema["type"], schema["additionalProperties"]) == ("object", False)
        (name,) = schema["required"]
        assert next(iter(schema["properties"])) == name
        for parameter in schema["properties"].values():
            assert set(parameter) - {"minimum", "maximum"} == {"type", "description"}
            assert parameter["type"] in ("string", "integer")
    assert len(json.dumps(tools)) / CHARS_PER_TOKEN < 1_500


def test_only_protocol_messages_reach_standard_output(misbehaving: Session, errors: Path) -> None:
    for _ in range(2):
        answer = misbehaving.call("noisy", {"text": "this"})
        assert text_of(answer) == "heard this"
    expected = ("printed by Python", "written by C", "echoed by a child")
    wait_until(lambda: all(map(errors.read_text().__contains__, expected)), "they are logged")


def test_a_bug_in_a_tool_fails_only_that_call(misbehaving: Session, errors: Path) -> None:
    answer = misbehaving.call("broken", {"text": "x"})
    assert answer.is_error
    assert text_of(answer) == "Error: broken failed because of a bug in it (KeyError)"
    answer = misbehaving.call("refusing", {"text": "x"})
    assert answer.is_error
    assert text_of(answer) == "Error: ask something else"
    assert not misbehaving.call("noisy", {"text": "x"}).is_error
    wait_until(lambda: "KeyError: 'x'" in errors.read_text(), "it is in the log")
    assert "Traceback" in errors.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, 'Error: "query" must be a string'),
        ({"query": 7}, 'Error: "query" must be a string'),
        ({"query": "x", "top_k": 3}, "Error: vectordb_search has no parameter 'top_k'; it has"),
        ({"query": " "}, "Error: query is empty"),
    ],
)
def test_invalid_arguments_are_an_error_for_the_model(
    session: Session, arguments: dict[str, Any], message: str
) -> None:
    answer = session.call("vectordb_search", arguments)
    assert answer.is_error
    assert text_of(answer).startswith(message)


def test_an_unknown_tool_is_a_protocol_error(session: Session) -> None:
    with pytest.raises(MCPError, match="known: vectordb_search"):
        session.call("grep", {"query": "x"})


def test_hundreds_of_concurrent_calls_are_answered(session: Session) -> None:
    questions = [{"query": f"retry_backoff {number % 7}"} for number in range(400)]
    answers = session.call_all([("vectordb_search", question) for question in questions])
    assert all("src/net/retry.py" in text_of(answer) for answer in answers)


def test_calls_beyond_the_limit_are_refused(repository: Path) -> None:
    with lines_of(repository, program=MISBEHAVING_TOOLS) as server:
        server.initialize()
        for number in range(1_001):
            call = {"name": "hanging", "arguments": {"text": ""}}
            request = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call}
            server.send(request)
        refused = server.receive()["result"]
        assert refused["isError"]
        assert "1,000 calls are running or waiting" in refused["content"][0]["text"]
        assert server.ask("ping", number=5_000)["id"] == 5_000


def test_a_client_that_reads_no_responses_is_blocked_until_it_reads(
    repository: Path,
) -> None:
    flood = 8_000
    pings = [{"jsonrpc": "2.0", "id": number, "method": "ping"} for number in range(flood)]
    lines = b"".join(json.dumps(ping).encode() + b"\n" for ping in pings)
    with lines_of(repository, program=MISBEHAVING_TOOLS) as server:
        server.initialize()
        sender = threading.Thread(target=server.send, args=(lines,))
        sender.start()
        sender.join(2)
        assert sender.is_alive()
        assert sorted(server.receive()["id"] for _ in range(flood)) == list(range(flood))
        sender.join()


def test_the_server_ends_when_its_output_is_closed(repository: Path) -> None:
    with lines_of(repository) as server:
        server.initialize()
        assert server.process.stdout is not None
        server.process.stdout.close()
        server.send({"jsonrpc": "2.0", "id": 2, "method": "ping"})
        assert server.process.wait(timeout=30) == 0


def test_two_servers_share_one_index_and_build_it_once(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "large", many_files(300, functions=20))
    call = {"name": "vectordb_search", "arguments": {"query": "flush the ledger"}}
    request = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call}
    with lines_of(root) as one, lines_of(root) as other:
        for server in (one, other):
            server.initialize()
        for server in (one, other):
            server.send(request)
        first, second = ask_until_complete(one, request), ask_until_complete(other, request)
        assert paths_of(first) == paths_of(second)
        generation = rootle("status", root, "--json").data["generation"]
        # Only one of the two servers watches the folder, but both find the changed file.
        write(root, "new.py", "def quagga_of_the_steppe(): ...\n", when_s=None)
        call["arguments"] = {"query": "quagga_of_the_steppe"}
        for server in (one, other):
            wait_until(partial(finds, server, request, "1. new.py:"), "it is found")
    # The generation counts the batches of the first index. If both servers had written all of them,
    # it would be about twice that of an index that only one server writes.
    alone = write_tree(tmp_path / "alone", many_files(300, functions=20))
    with lines_of(alone) as server:
        server.initialize()
        server.send(request)
        ask_until_complete(server, request)
        assert generation < 1.5 * rootle("status", alone, "--json").data["generation"]


def finds(server: Lines, request: dict[str, Any], what: str) -> bool:
    server.send(request)
    text: str = server.receive()["result"]["content"][0]["text"]
    return what in text


def paths_of(text: str) -> list[str]:
    """Return the paths of the results of an answer, best first."""
    return re.findall(r"^\d+\. ([^:]+):", text, re.MULTILINE)


def ask_until_complete(server: Lines, request: dict[str, Any]) -> str:
    """Return the text of the first answer that does not say that the index is being built."""
    for _ in range(600):
        result = server.receive()["result"]
        text: str = result["content"][0]["text"]
        if not result.get("isError") and "being built" not in text:
            return text
        time.sleep(0.1)
        server.send(request)
    pytest.fail("the index was never built")


# Blocks the first write to the index until a file exists.
_BLOCKED = """
import os, time
from rootle.ingest.index_writer import IndexWriter
write, gate = IndexWriter.write_batch, os.environ["GATE"]
def write_when_open(self, *arguments):
    while not os.path.exists(gate):
        time.sleep(0.01)
    write(self, *arguments)
IndexWriter.write_batch = write_when_open
from rootle.cli.main import entry
entry()
"""


def test_tools_are_listed_and_progress_is_reported_during_the_first_index(
    repository: Path, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    reports: list[tuple[float, float | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        assert message == "building the index"
        reports.append((progress, total))
        gate.touch()

    async def talk() -> None:
        async with client_of(repository, program=_BLOCKED, GATE=str(gate)) as client:
            assert (await client.list_tools()).tools
            answer = await client.call_tool(
                "vectordb_search", {"query": "retry_backoff"}, progress_callback=on_progress
            )
            assert text_of(answer).startswith("1. src/net/retry.py:")

    asyncio.run(talk())
    assert reports[0] == (0, sum(len(text.encode()) for text in FILES.values()))


def test_malformed_messages_are_refused_and_the_session_continues(repository: Path) -> None:
    with lines_of(repository) as server:
        for garbage, code in (
            (b"hello\n", -32700),
            (b"\xff\xfe\x00 {}\n", -32700),
            (b'{"jsonrpc": "2.0", "id": 1, "method"\n', -32700),
            (b"[" * 100_000 + b"\n", -32700),
            (b'"' + b"x" * (MAX_LINE_BYTES + 1_000_000) + b'"\n', -32700),
            (b"[1, 2]\n", -32600),
            (b"17\n", -32600),
        ):
            server.send(garbage)
            answer = server.receive()
            assert (answer["id"], answer["error"]["code"]) == (None, code), garbage[:40]
        server.send({"jsonrpc": "2.0", "id": 9})
        assert server.receive()["id"] == 9
        server.send(b"\n  \r\n")
        server.initialize()
        whole = b'{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}\n'
        for half in (whole[:20], whole[20:]):
            server.send(half)
        assert server.receive()["result"]["tools"]


def test_secrets_in_malformed_messages_are_not_logged(repository: Path) -> None:
    token = b"ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    with lines_of(repository) as server:
        assert server.process.stderr is not None
        for start in (b'{"query": "', b'{"method": "tools/call", "params": {"query": "token '):
            server.send(start + token + b'"\n')
            assert server.receive()["error"]["code"] == -32700
            while b"the line is not JSON" not in (line := server.process.stderr.readline()):
                assert line
            assert b"ghp_" not in line


@pytest.mark.parametrize(
    ("request_id", "answered"),
    [(1.0, 1), (1.5, None), (None, None), (True, None), ({}, None), ([1], None)],
)
def test_a_request_with_an_invalid_id_is_refused(
    request_id: object, answered: int | None, server: Lines
) -> None:
    server.send({"jsonrpc": "2.0", "id": request_id, "method": "tools/list"})
    refusal = server.receive()
    assert (refusal["id"], refusal["error"]["code"]) == (answered, -32600)
    assert "the id of a request must be a string or an integer" in refusal["error"]["message"]
    server.send({"jsonrpc": "2.0", "id": request_id, "method": "notifications/initialized"})
    assert server.ask("ping", 8)["id"] == 8


@pytest.mark.parametrize("request_id", [7, "seven"])
@pytest.mark.parametrize("is_first", [True, False])
def test_a_request_that_is_too_long_gets_an_error_with_its_id(
    request_id: int | str, is_first: bool, server: Lines
) -> None:
    """The client of the SDK ignores responses without an id, so it would wait forever."""
    call = {"name": "vectordb_search", "arguments": {"query": '","id":1}' * 1_000_000}}
    request: dict[str, Any] = {"method": "tools/call", "params": call}
    own = {"jsonrpc": "2.0", "id": request_id}
    server.send({**own, **request} if is_first else {**request, **own})
    answer = server.receive()
    assert answer["id"] == request_id
    assert "longer than 4194304 bytes" in answer["error"]["message"]
    assert server.ask("ping", 8)["id"] == 8


def test_the_client_of_the_sdk_accepts_the_error_for_a_long_request(session: Session) -> None:
    with pytest.raises(MCPError, match="longer than 4194304 bytes"):
        session.call("vectordb_search", {"query": "x" * (MAX_LINE_BYTES + 1)})


def test_the_answer_to_a_cancelled_call_does_not_count_as_shown(repository: Path) -> None:
    pausing = """
import sys, time
from rootle.server import mcp
run = mcp._run
def run_and_pause(tool, arguments):
    answer = run(tool, arguments)
    print("the answer is ready", file=sys.stderr, flush=True)
    time.sleep(0.5)
    return answer
mcp._run = run_and_pause
from rootle.cli.main import entry
entry()
"""
    with lines_of(repository, program=pausing) as server:
        server.initialize()
        params = {"name": "vectordb_search", "arguments": {"query": "retry_backoff"}}
        server.send({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params})
        assert server.process.stderr is not None
        while b"the answer is ready" not in (line := server.process.stderr.readline()):
            assert line
        cancel = {"method": "notifications/cancelled", "params": {"requestId": 7}}
        server.send({"jsonrpc": "2.0", **cancel})
        first = server.ask("tools/call", 8, **params)
        params["arguments"] = {"query": "def retry_backoff(attempt)"}
        second = server.ask("tools/call", 9, **params)
    assert (first["id"], second["id"]) == (8, 9)
    assert "return base * 2**attempt" in first["result"]["content"][0]["text"]
    assert "shown above" in second["result"]["content"][0]["text"]


def test_a_full_standard_error_does_not_block_the_server(repository: Path) -> None:
    flooding = MISBEHAVING_TOOLS.replace(
        "def noisy(text):", "def noisy(text):\n    os.write(2, b'x' * 1_000_000)"
    )
    with lines_of(repository, program=flooding) as server:
        server.initialize()
        for number in (2, 3):
            answer = server.ask("tools/call", number, name="noisy", arguments={"text": "this"})
            assert answer["result"]["content"][0]["text"] == "heard this"


def test_the_server_and_its_workers_end_when_the_input_ends_during_indexing(
    tmp_path: Path,
) -> None:
    root = write_tree(tmp_path / "large", many_files(400, functions=20))
    with lines_of(root) as server:
        server.initialize()
        assert server.ask("tools/list", 2)["result"]["tools"]
        workers = wait_until(lambda: children_of(server.process.pid), "workers index")
        assert server.process.stdin is not None
        server.process.stdin.close()
        assert server.process.wait(timeout=30) == 0
        wait_until(lambda: not any(map(is_alive, workers)), "workers end")
    assert rootle("search", "flush the ledger", "--root", root).code == 0


def test_the_server_ends_although_a_tool_hangs(repository: Path) -> None:
    with lines_of(repository, program=MISBEHAVING_TOOLS) as server:
        server.initialize()
        call = {"name": "hanging", "arguments": {"text": ""}}
        server.send({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call})
        assert server.process.stdin is not None
        server.process.stdin.close()
        assert server.process.wait(timeout=30) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_server_although_a_tool_hangs(repository: Path, number: int) -> None:
    with lines_of(repository, program=MISBEHAVING_TOOLS) as server:
        server.initialize()
        call = {"name": "hanging", "arguments": {"text": ""}}
        server.send({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call})
        server.send({"jsonrpc": "2.0", "id": 3, "method": "ping"})
        server.receive()
        server.process.send_signal(number)
        assert server.process.wait(timeout=30) == 0


# Starts a process that keeps standard error open, and prints how long it takes to end the relay.
_RELAY = """
import os, subprocess, sys, time
from rootle.server import stderr_relay
stderr_relay._FLUSH_TIMEOUT_S = 30.0
with stderr_relay.relay_stderr():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    os.write(2, b"a \\0 zero byte")
    started_s = time.monotonic()
print(time.monotonic() - started_s)
child.kill()
"""


def test_a_child_process_that_keeps_standard_error_open_does_not_delay_the_end() -> None:
    ended = subprocess.run([sys.executable, "-c", _RELAY], capture_output=True, check=True)
    assert float(ended.stdout) < 15
    assert ended.stderr == b"a \0 zero byte"


def test_sigterm_ends_the_server(repository: Path) -> None:
    with lines_of(repository) as server:
        server.initialize()
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=30) == 0


# Starts a server on a pipe that another process keeps open, prints its process id, and waits.
_PARENT = """
import subprocess, sys, time
source, root = sys.argv[1:]
server = subprocess.Popen(
    [sys.executable, "-m", "rootle", "mcp", "--root", root], stdin=int(source)
)
print(server.pid, flush=True)
time.sleep(3600)
"""


def test_the_server_ends_when_its_parent_is_killed_and_its_input_stays_open(
    repository: Path,
) -> None:
    source, sink = os.pipe()
    parent = subprocess.Popen(
        [sys.executable, "-c", _PARENT, str(source), str(repository)],
        stdout=subprocess.PIPE,
        pass_fds=[source],
    )
    os.close(source)
    with open(sink, "wb") as hold, parent:
        assert parent.stdout is not None
        server = int(parent.stdout.readline())
        hello = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
        hold.write(hello)
        hold.flush()
        assert b'"id":1' in parent.stdout.readline()
        parent.kill()
        wait_until(lambda: not is_alive(server), "the server ends")


# A client that starts a call, prints a line, and waits.
_CLIENT = """
import asyncio, os, sys
from mcp import Client, StdioServerParameters, stdio_client

async def talk():
    command = ["-c", sys.argv[2], "mcp", "--root", sys.argv[1]]
    server = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))
    async with Client(stdio_client(server)) as client:
        await client.list_tools()
        call = asyncio.create_task(client.call_tool("hanging", {"text": ""}))
        await asyncio.sleep(0.1)
        print("started", flush=True)
        await call

asyncio.run(talk())
"""


def test_the_server_ends_when_its_client_is_killed_during_a_call(repository: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _CLIENT, repository, MISBEHAVING_TOOLS], stdout=subprocess.PIPE
    ) as client:
        assert client.stdout is not None
        assert client.stdout.readline() == b"started\n"
        (server,) = children_of(client.pid)
        client.kill()
        wait_until(lambda: not is_alive(server), "the server ends")


def test_a_search_does_not_import_the_sdk(repository: Path) -> None:
    program = (
        "import sys\n"
        "from rootle.cli.main import main\n"
        "main()\n"
        "sdk = ('mcp', 'mcp_types', 'pydantic', 'starlette', 'uvicorn', 'anyio')\n"
        "print([name for name in sdk if name in sys.modules], file=sys.stderr)"
    )
    assert rootle("search", "retry", "--root", repository, program=program).err == "[]\n"


def test_the_environment_sets_the_log_level(repository: Path) -> None:
    def talk(level: str) -> bytes:
        with lines_of(repository, variables={"ROOTLE_LOG": level}) as server:
            server.initialize()
            call = {"name": "vectordb_search", "arguments": {"query": "retry_backoff"}}
            assert "src/net/retry.py" in str(server.ask("tools/call", 2, **call))
            errors: bytes = server.process.communicate(timeout=TIMEOUT_S)[1]
        return errors

    assert b"vectordb_search answered in" in talk("info")
    assert talk("error") == b""


@pytest.mark.parametrize("place", ["home", "parent", "link", "/"])
@pytest.mark.parametrize("way", ["working folder", "CLAUDE_PROJECT_DIR", "--root"])
def test_all_files_of_the_user_are_not_served(
    place: str, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "users/me"
    write(home, "diary.md", "The quagga is a secret.\n")
    (tmp_path / "link").symlink_to(home)
    monkeypatch.setenv("HOME", str(home))
    folders = {"home": home, "parent": home.parent, "link": tmp_path / "link", "/": Path("/")}
    folder = folders[place]
    started_in = folder if way == "working folder" else tmp_path
    if way == "CLAUDE_PROJECT_DIR":
        monkeypatch.setenv(way, str(folder))
    # If the guard breaks, a test must not index the machine that it runs on.
    options = ("--set", "enableIndexing=false")
    root = folder if way == "--root" else None
    with lines_of(root, *options, started_in=started_in) as server:
        server.initialize()
        tools = server.ask("tools/list", 2)["result"]["tools"]
        assert tools
        for number, tool in enumerate(tools, 3):
            (name,) = tool["inputSchema"]["required"]
            call = {"name": tool["name"], "arguments": {name: "quagga"}}
            answer = server.ask("tools/call", number, **call)["result"]
            assert answer["isError"]
            text = answer["content"][0]["text"]
            assert f"{folder.resolve() if way == 'working folder' else folder}," in text
            assert "add `--root FOLDER`" in text
    assert not list(tmp_path.rglob("*.sqlite*"))


def test_an_invalid_configuration_is_reported_in_each_answer_until_it_is_corrected(
    repository: Path, tmp_path: Path
) -> None:
    file = tmp_path / "rootle.json"
    file.write_text('{"searchAgent": {"defaultLimit": nonsense}}')
    with lines_of(repository, "--config", str(file)) as server:
        server.initialize()
        names = [tool["name"] for tool in server.ask("tools/list", 2)["result"]["tools"]]
        assert "vectordb_search" in names
        calls = [
            ("vectordb_search", {"query": "retry_backoff"}),
            ("vectordb_read", {"source": "src/net/retry.py:4"}),
        ]
        for number, (name, arguments) in enumerate(calls, 3):
            answer = server.ask("tools/call", number, name=name, arguments=arguments)["result"]
            assert answer["isError"]
            assert answer["content"][0]["text"].startswith(f"Error: {file}, line 1: ")
        file.write_text('{"searchAgent": {"defaultLimit": 1}}')
        for number, (name, arguments) in enumerate(calls, 5):
            answer = server.ask("tools/call", number, name=name, arguments=arguments)["result"]
            assert "src/net/retry.py" in answer["content"][0]["text"]
            assert not answer.get("isError")


def test_all_files_of_the_user_are_not_served_after_a_correction_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "diary.md", "The quagga is a secret.\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    file = write(tmp_path, "rootle.json", "nonsense")
    with lines_of(tmp_path, "--config", str(file)) as server:
        server.initialize()
        file.write_text("{}")
        call = {"name": "vectordb_search", "arguments": {"query": "quagga"}}
        answer = server.ask("tools/call", 2, **call)["result"]
        assert answer["isError"]
        assert "add `--root FOLDER`" in answer["content"][0]["text"]


def test_all_files_of_the_user_are_served_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "diary.md", "The quagga is a secret.\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    with lines_of(tmp_path, "--yes") as server:
        server.initialize()
        call = {"name": "vectordb_search", "arguments": {"query": "quagga"}}
        answer = server.ask("tools/call", 2, **call)["result"]
        # a note on short queries comes first
        assert "\n1. diary.md:" in answer["content"][0]["text"]


def test_the_project_of_claude_code_is_served(repository: Path, tmp_path: Path) -> None:
    variables = {"HOME": str(tmp_path), "CLAUDE_PROJECT_DIR": str(repository)}
    with lines_of(None, started_in=tmp_path, variables=variables) as server:
        server.initialize()
        call = {"name": "vectordb_search", "arguments": {"query": "retry_backoff"}}
        answer = server.ask("tools/call", 2, **call)["result"]
        assert answer["content"][0]["text"].startswith("1. src/net/retry.py")
