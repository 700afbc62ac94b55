"""A model server on loopback that searches with rootle, and a program that runs against it.

    unshare --net python -m agent_programs.model_server RECORD TIMEOUT_S QUESTIONS COMMAND…

The command runs in a network namespace that has only loopback. It asks the model at `URL`, which
calls the search tool once for each question of the JSON list QUESTIONS and then ends the turn. All
requests are written to the file RECORD, one per line. The exit code is that of the command, or 124
if the command was stopped after TIMEOUT_S seconds.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, Any, Final

from own_network import start_loopback

from agent_programs.anthropic_messages import AnthropicMessages
from agent_programs.exchange import ModelRequest, ToolCall, WireFormat
from agent_programs.gemini_content import GeminiContent
from agent_programs.openai_chat import OpenAIChat
from agent_programs.openai_responses import OpenAIResponses

_PORT: Final = 8080  # every port is free in a new network namespace
URL: Final = f"http://127.0.0.1:{_PORT}"
TIMED_OUT: Final = 124
MODEL: Final = "test-model"
_FORMATS: Final[Sequence[WireFormat]] = (
    AnthropicMessages(),
    OpenAIResponses(),
    OpenAIChat(),
    GeminiContent(),
)


def format_of(path: str) -> WireFormat | None:
    """Return the protocol that uses this path for requests to the model, or None."""
    plain = path.partition("?")[0]
    return next((wire for wire in _FORMATS if wire.accepts(plain)), None)


def next_call(request: ModelRequest, questions: Sequence[str]) -> ToolCall | None:
    """Return the next call of the model, or None if it ends the turn."""
    done = len(request.search_results)
    tool = request.search_tool
    if tool is None or done == len(questions):
        return None
    return ToolCall(f"call_{done}", tool, {"query": questions[done]})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    questions: Sequence[str]
    record: IO[str]
    lock = threading.Lock()

    def log_message(self, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._write_record(None)
        self._send_json({"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    def do_POST(self) -> None:
        body = self._read_json()
        self._write_record(body)
        wire = format_of(self.path)
        if wire is None:
            self._send_json({"input_tokens": 1, "totalTokens": 1})
            return
        call = next_call(wire.read(body), self.questions)
        if body.get("stream") or ":stream" in self.path:
            self._send("text/event-stream", "".join(wire.stream(call)))
        else:
            self._send_json(wire.whole(call))

    def _read_json(self) -> Any:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            return json.loads(raw or b"{}")
        chunks = []
        while size := int(self.rfile.readline(), 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return json.loads(b"".join(chunks))

    def _write_record(self, body: object) -> None:
        line = json.dumps({"method": self.command, "path": self.path, "body": body})
        with self.lock:
            self.record.write(line + "\n")
            self.record.flush()

    def _send_json(self, data: object) -> None:
        self._send("application/json", json.dumps(data))

    def _send(self, kind: str, text: str) -> None:
        raw = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)


def main(record: Path, timeout_s: float, questions: list[str], command: list[str]) -> int:
    start_loopback()
    with record.open("w") as lines:
        handler = type("Handler", (_Handler,), {"questions": questions, "record": lines})
        server = ThreadingHTTPServer(("127.0.0.1", _PORT), handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            return process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return TIMED_OUT
        finally:
            with suppress(ProcessLookupError):  # raised if all processes of the group have ended
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            server.shutdown()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), float(sys.argv[2]), json.loads(sys.argv[3]), sys.argv[4:]))
