"""A local server with OpenAI's chat API that expands questions with recorded words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final

_BEFORE: Final = "Question: "
_AFTER: Final = "\nQuery:"


@contextmanager
def serve_expansions(words: Mapping[str, str]) -> Iterator[str]:
    """Yield the URL of a server on this machine. `words` maps each known question to its reply.

    Unknown questions get the status 404.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found = words.get(_read_question(body))
            content = {"choices": [{"message": {"role": "assistant", "content": found}}]}
            data = json.dumps(content).encode()
            self.send_response(404 if found is None else 200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _read_question(body: Any) -> str:  # Any: JSON
    text = str(body["messages"][-1]["content"])
    return text.removeprefix(_BEFORE).removesuffix(_AFTER)
