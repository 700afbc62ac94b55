"""The processes that use one index at the same time: commands, sessions and a watcher."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

from benchmarks.reliability.ranked_answers import LIMIT
from rootle.tools.search_notes import CONSEQUENCES

# A process that does not reply within this time has hung. Long, because the machine may be busy.
WATCHDOG_S: Final = 120.0
_STARTUP_S: Final = 60.0


class HangError(Exception):
    """Raised when a process does not reply, with its command."""


# The notes by which an answer of `vectordb_search` reports that it is not complete or not current.
_DEGRADATIONS: Final = (
    *CONSEQUENCES.values(),
    *("not indexed yet", "the index is still being built", "was not available"),
)


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply from a process: JSON data, the text of a tool, or an error message."""

    data: Mapping[str, Any] = field(default_factory=dict)  # Any: JSON
    text: str = ""
    error: str = ""

    @property
    def is_current(self) -> bool:
        """Whether this is an answer that claims to be complete and current."""
        return not self.reason

    @property
    def reason(self) -> str:
        """Why this is not a current answer; empty if it is."""
        degraded = [*self.data.get("degraded", ())]
        degraded += [message for message in _DEGRADATIONS if message in self.text]
        return self.error or ", ".join(degraded)


@dataclass(frozen=True, slots=True)
class Place:
    """The folders and the environment that all processes share."""

    root: Path
    index_dir: Path
    logs: Path  # folder for the standard error streams
    environment: Mapping[str, str]


class Service:
    """A `rootle` process, which may be killed and started again."""

    def __init__(self, place: Place, name: str, arguments: Sequence[str], umask: int) -> None:
        self.name = name
        self.arguments = arguments
        self.log = place.logs / f"{name}-{time.monotonic_ns()}.txt"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "rootle", *arguments],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, cwd=place.root,
                env={**os.environ, **place.environment}, umask=umask, bufsize=0,
            )  # fmt: skip
        self._received = b""

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    @property
    def messages(self) -> str:
        """Everything that the process has written to standard error."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def kill(self) -> None:
        """End the process with SIGKILL."""
        self.process.send_signal(signal.SIGKILL)
        self.close()

    def stop(self) -> None:
        """End the process the way a user or a client does."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.terminate()
        try:
            self.process.wait(WATCHDOG_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise HangError(f"{self.name} does not end after SIGTERM") from None
        self.close()

    def close(self) -> None:
        """Wait for the end of the process, and close its pipes."""
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()

    def send_line(self, data: object) -> bool:
        """Send one JSON line; return False if the process has ended."""
        try:
            _stream(self.process.stdin).write(json.dumps(data).encode() + b"\n")
        except BrokenPipeError:
            return False
        return True

    def read_line(self, timeout_s: float = WATCHDOG_S) -> Any | None:  # Any: JSON
        """Return the next JSON line, or None if the process has ended."""
        stream = _stream(self.process.stdout)
        deadline = time.monotonic() + timeout_s
        while b"\n" not in self._received:
            left_s = deadline - time.monotonic()
            if left_s <= 0 or not select.select([stream], [], [], left_s)[0]:
                raise HangError(f"{self.name} did not reply within {timeout_s:.0f} s")
            read = stream.read(1 << 20)
            if not read:
                return None
            self._received += read
        line, _, self._received = self._received.partition(b"\n")
        return json.loads(line)


class Searcher(Service, ABC):
    """A process that answers questions until it is stopped."""

    @abstractmethod
    def send(self, question: str) -> bool:
        """Send a question; return False if the process has ended."""

    @abstractmethod
    def receive(self) -> Reply | None:
        """Return the reply to the oldest question, or None if the process has ended."""

    def ask(self, question: str) -> Reply | None:
        """Return the reply to a question, or None if the process has ended."""
        return self.receive() if self.send(question) else None


class BatchSearcher(Searcher):
    """`rootle search --batch`: a long-lived app without a watcher."""

    def __init__(self, place: Place, umask: int) -> None:
        super().__init__(place, "batch", ("search", "--batch", *_folders(place)), umask)

    def send(self, question: str) -> bool:
        return self.send_line({"textQuery": question, "limit": LIMIT})

    def receive(self) -> Reply | None:
        line = self.read_line()
        return None if line is None else _reply(line)


class McpServer(Searcher):
    """`rootle mcp`, used through lines on its standard streams."""

    def __init__(self, place: Place, umask: int) -> None:
        super().__init__(place, "mcp", ("mcp", *_folders(place)), umask)
        self._count = 0
        self._request("initialize", {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "torture", "version": "1"},
        })  # fmt: skip
        self.receive()
        self.send_line({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, question: str) -> bool:
        return self._call("vectordb_search", "query", question)

    def receive(self) -> Reply | None:
        while (message := self.read_line()) is not None:
            if message.get("id") == self._count:
                return _tool_reply(message)
        return None

    def remember(self, fact: str) -> bool:
        """Return whether the server acknowledged the fact."""
        reply = self.receive() if self._call("remember", "fact", fact) else None
        return reply is not None and not reply.error

    def recall(self, topic: str) -> tuple[str, ...] | None:
        """Return lines with the memories for a topic, or None after a failure."""
        reply = self.receive() if self._call("recall", "topic", topic) else None
        if reply is None or reply.error:
            return None
        return tuple(reply.text.splitlines())

    def _call(self, tool: str, parameter: str, text: str) -> bool:
        return self._request("tools/call", {"name": tool, "arguments": {parameter: text}})

    def _request(self, method: str, params: Mapping[str, object]) -> bool:
        self._count += 1
        return self.send_line(
            {"jsonrpc": "2.0", "id": self._count, "method": method, "params": params}
        )


class Watcher(Service):
    """`rootle watch`."""

    def __init__(self, place: Place, umask: int) -> None:
        arguments = ("watch", "--json", str(place.root), "--index-dir", str(place.index_dir))
        super().__init__(place, "watch", arguments, umask)
        deadline = time.monotonic() + _STARTUP_S
        while self.is_alive and "watching" not in self.messages and time.monotonic() < deadline:
            time.sleep(0.02)


class Command(Service):
    """A command that ends on its own."""

    def __init__(self, place: Place, words: Sequence[str], umask: int) -> None:
        super().__init__(place, words[0], words, umask)

    def finish(self) -> tuple[int, str]:
        """Return the exit code and the output."""
        try:
            out, _ = self.process.communicate(timeout=WATCHDOG_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise HangError(f"rootle {self.name} did not end in {WATCHDOG_S:.0f} s") from None
        return self.process.returncode, out.decode("utf-8", errors="replace")


def search_command(place: Place, question: str, umask: int) -> Command:
    """Start `rootle search --json`."""
    options = ("--json", "--limit", str(LIMIT), *_folders(place))
    return Command(place, ("search", *options, "--", question), umask)


def index_command(place: Place, umask: int, *options: str) -> Command:
    """Start `rootle index`."""
    folders = (str(place.root), "--index-dir", str(place.index_dir))
    return Command(place, ("index", *folders, *options), umask)


def memory_command(place: Place, umask: int, action: str, *words: str) -> Command:
    """Start `rootle memory`."""
    return Command(place, ("memory", action, *_folders(place), *words), umask)


def _folders(place: Place) -> tuple[str, ...]:
    return "--root", str(place.root), "--index-dir", str(place.index_dir)


def _reply(data: Mapping[str, Any]) -> Reply:
    return Reply(error=data["error"]) if "error" in data else Reply(data)


def _tool_reply(message: Mapping[str, Any]) -> Reply:
    if "error" in message:
        return Reply(error=message["error"]["message"])
    result = message["result"]
    text = "\n".join(part["text"] for part in result.get("content", ()))
    return Reply(error=text) if result.get("isError") else Reply(text=text)


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise TypeError("the process has no pipe")
    return stream
