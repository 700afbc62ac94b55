"""`rootle mcp` over stdio: time from process start to the tool list, and latency of warm searches.

    python -m benchmarks.speed.mcp_server ROOT [--runs N] [--index-dir DIR] [--json FILE]

The index of ROOT is updated first. Server starts alternate with imports of the SDK alone, so that
other load on the machine affects both alike; both times are medians. The client is a pipe: the
start of a real client is not included.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import IO, Any

from benchmarks.common.arguments import INDEX_DIR, JSON, ROOT, RUNS, command_parser
from benchmarks.common.reports import write_json
from benchmarks.common.rootle_search import measure_ms
from benchmarks.common.statistics import latency_percentiles
from benchmarks.speed.queries import QUERIES, WARM_UP

IMPORT_SDK = "import mcp.server.lowlevel.server"
ROOTLE = [sys.executable, "-m", "rootle"]
ROWS = (
    ("chunks", "chunks", "{:,}"),
    ("process start to tool list, s", "start_s", "{:.3f}"),
    ("import of the SDK alone, s", "sdk_s", "{:.3f}"),
    ("  difference, s", "above_sdk_s", "{:.3f}"),
    ("all tool schemas, bytes of JSON", "schema_bytes", "{:,}"),
    ("vectordb_search warm p50, ms", "search_p50_ms", "{:.1f}"),
    ("vectordb_search warm p95, ms", "search_p95_ms", "{:.1f}"),
)


def main() -> None:
    parser = command_parser(__doc__, ROOT, RUNS, INDEX_DIR, JSON)
    parser.set_defaults(runs=15)
    args = parser.parse_args()
    options = [str(args.root)]
    if args.index_dir is not None:
        options += ["--index-dir", str(args.index_dir)]
    subprocess.run([*ROOTLE, "index", *options], check=True)
    status = subprocess.run(
        [*ROOTLE, "status", "--json", *options], check=True, capture_output=True
    )
    server = [*ROOTLE, "mcp", "--root", *options]
    figures = {"chunks": json.loads(status.stdout)["chunks"], **measure_starts(server, args.runs)}
    figures |= measure_searches(server)
    print(format_figures(figures))
    write_json(args.json, figures)


def measure_starts(server: Sequence[str], runs: int) -> dict[str, float]:
    """Return the median times to start the server and to import the SDK."""
    server_times, sdk_times, schema_bytes = [], [], 0
    for _ in range(runs):
        _, sdk_ms = measure_ms(
            lambda: subprocess.run([sys.executable, "-c", IMPORT_SDK], check=True)
        )
        sdk_times.append(sdk_ms / 1000)
        started = time.perf_counter()
        with open_session(server) as session:
            server_times.append(time.perf_counter() - started)
            schema_bytes = len(json.dumps(session.tools))
    start_s, sdk_s = statistics.median(server_times), statistics.median(sdk_times)
    return {
        "start_s": start_s,
        "sdk_s": sdk_s,
        "above_sdk_s": start_s - sdk_s,
        "schema_bytes": schema_bytes,
    }


def measure_searches(server: Sequence[str]) -> dict[str, float]:
    """Return the percentiles of warm searches."""
    with open_session(server) as session:
        for query in WARM_UP:
            session.search(query)
        times = [measure_ms(partial(session.search, query))[1] for query in QUERIES]
    median, p95 = latency_percentiles(times)
    return {"search_p50_ms": median, "search_p95_ms": p95}


def format_figures(figures: Mapping[str, Any]) -> str:
    return "\n".join(f"{label:36}{form.format(figures[key]):>12}" for label, key, form in ROWS)


class Session:
    """An initialized session with a server process."""

    def __init__(self, requests: IO[bytes], responses: IO[bytes]) -> None:
        """Perform the handshake over the pipes of a new process."""
        self._requests = requests
        self._responses = responses
        self._count = 0
        self.request(
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "benchmark", "version": "1"},
        )
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.tools = list(self.request("tools/list")["tools"])

    def search(self, query: str) -> None:
        answer = self.request("tools/call", name="vectordb_search", arguments={"query": query})
        if answer.get("isError"):
            sys.exit(f"{query}: {answer['content']}")

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request; return its result."""
        self._count += 1
        self._send({"jsonrpc": "2.0", "id": self._count, "method": method, "params": params})
        answer = json.loads(self._responses.readline())
        if answer.get("id") != self._count or "result" not in answer:
            sys.exit(f"{method}: {answer}")
        return dict(answer["result"])

    def _send(self, message: Mapping[str, Any]) -> None:
        self._requests.write(json.dumps(message).encode() + b"\n")
        self._requests.flush()


@contextmanager
def open_session(server: Sequence[str]) -> Iterator[Session]:
    """Start a server; on exit, close its pipes and wait for it to end."""
    pipe = subprocess.PIPE
    with subprocess.Popen(server, stdin=pipe, stdout=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield Session(process.stdin, process.stdout)


if __name__ == "__main__":
    main()
