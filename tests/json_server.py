"""A local HTTP server whose answers and failures a test defines."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Request:
    """A request that the server received."""

    method: str
    path: str
    headers: Mapping[str, str]  # names in lower case
    body: Any


@dataclass(frozen=True)
class Reply:
    """An answer: `data` as JSON, or `raw` bytes. `drip_s` is a delay in seconds after each byte."""

    data: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    drip_s: float = 0.0
    hang: bool = False  # accept the request and never answer
    cut: bool = False  # close the connection after half of the body


Answer = Callable[[Request], Reply]


class JsonServer:
    """A server that answers each request with the result of `answer`, and records the request."""

    def __init__(
        self, answer: Answer, port: int = 0, context: ssl.SSLContext | None = None
    ) -> None:
        self.answer = answer
        self.requests: list[Request] = []
        self.connections = 0
        self.released = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        self._server.daemon_threads = True
        if context is not None:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                server.connections += 1
                super().setup()

            def log_message(self, *args: Any) -> None:
                pass

            def _serve(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                raw = self.rfile.read(length)
                headers = {name.lower(): value for name, value in self.headers.items()}
                kind = headers.get("content-type", "")
                is_form = kind.startswith("application/x-www-form-urlencoded")
                body = raw.decode() if is_form else json.loads(raw) if raw else None
                request = Request(self.command, self.path, headers, body)
                server.requests.append(request)
                server.send(self, server.answer(request))

            do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815 - names required by http.server

        return Handler

    def send(self, handler: BaseHTTPRequestHandler, reply: Reply) -> None:
        if reply.hang:
            self.released.wait(60)
            handler.close_connection = True
            return
        raw = json.dumps(reply.data).encode() if reply.raw is None else reply.raw
        handler.send_response(reply.status)
        headers = {"Content-Type": "application/json", "Content-Length": str(len(raw))}
        for name, value in {**headers, **reply.headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        try:
            self._send_body(handler, raw[: len(raw) // 2] if reply.cut else raw, reply.drip_s)
        except OSError:
            handler.close_connection = True  # the client closed the connection
        handler.close_connection = handler.close_connection or reply.cut

    def _send_body(self, handler: BaseHTTPRequestHandler, raw: bytes, drip_s: float) -> None:
        if not drip_s:
            handler.wfile.write(raw)
            return
        for byte in raw:
            handler.wfile.write(bytes([byte]))
            if self.released.wait(drip_s):
                return


@contextmanager
def serving(answer: Answer, **options: Any) -> Iterator[JsonServer]:
    server = JsonServer(answer, **options)
    try:
        yield server
    finally:
        server.close()


def completion(text: Any) -> Reply:
    """Return a response with all fields of the chat completions API."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
    return Reply({"id": "c-1", "object": "chat.completion", "choices": [choice], "usage": usage})
