"""`rootle mcp` over stdio: time from the start of the process to its tools, and warm searches.

    python -m benchmarks.speed.mcp_server ROOT [--runs N] [--index-dir DIR] [--json FILE]

The index of ROOT is updated first. Starts of the server and imports of the SDK alone take turns, so
that disturbances of the machine affect both alike; figures are medians. The client is a pipe: the
start of a real client is not included.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Any

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
        (session, tools), start_ms = measure_ms(lambda: open_session(server))
        with session:
            server_times.append(start_ms / 1000)
            schema_bytes = len(json.dumps(tools))
    start_s, sdk_s = statistics.median(server_times), statistics.median(sdk_times)
    return {
        "start_s": start_s,
        "sdk_s": sdk_s,
        "above_sdk_s": start_s - sdk_s,
        "schema_bytes": schema_bytes,
    }


def measure_searches(server: Sequence[str]) -> dict[str, float]:
    """Return the percentiles of warm searches."""
    session, _ = open_session(server)
    with session:
        for query in WARM_UP:
            session.search(query)
        times = [measure_ms(partial(session.search, query))[1] for query in QUERIES]
    median, p95 = latency_percentiles(times)
    return {"search_p50_ms": median, "search_p95_ms": p95}


def format_figures(figures: Mapping[str, Any]) -> str:
    return "\n".join(f"{label:36}{form.format(figures[key]):>12}" for label, key, form in ROWS)


class Session:
    """One server process and its pipes."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._requests = 0

    def initialize(self) -> list[Any]:
        """Perform the handshake; return the tools."""
        self.request(
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "benchmark", "version": "1"},
        )
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return list(self.request("tools/list")["tools"])

    def search(self, query: str) -> None:
        answer = self.request("tools/call", name="vectordb_search", arguments={"query": query})
        if answer.get("isError"):
            sys.exit(f"{query}: {answer['content']}")

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request; return its result."""
        self._requests += 1
        self._send({"jsonrpc": "2.0", "id": self._requests, "method": method, "params": params})
        assert self._process.stdout is not None
        answer = json.loads(self._process.stdout.readline())
        if answer.get("id") != self._requests or "result" not in answer:
            sys.exit(f"{method}: {answer}")
        return dict(answer["result"])

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Closes both pipes and waits for the process.
        self._process.__exit__(kind, error, trace)


def open_session(server: Sequence[str]) -> tuple[Session, list[Any]]:
    """Start a server; return its session and tools."""
    session = Session(server)
    return session, session.initialize()


if __name__ == "__main__":
    main()
