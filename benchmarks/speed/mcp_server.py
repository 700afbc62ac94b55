"""`rootle mcp` over stdio: from the start of the process to its tools, and warm searches.

    python -m benchmarks.speed.mcp_server FOLDER [--runs N] [--index-dir DIR] [--json FILE]

The index of FOLDER is brought up to date first. Starts of the server and imports of the SDK alone
take turns, so that what disturbs the machine disturbs both alike; figures are medians. The client
is a pipe: what a client needs to start itself is not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.speed.queries import QUESTIONS, WARM_UP

SDK = "import mcp.server.lowlevel.server"
ROWS = (
    ("chunks", "chunks", "{:,}"),
    ("process start to tool list, s", "start_s", "{:.3f}"),
    ("importing the SDK alone, s", "sdk_s", "{:.3f}"),
    ("  more than that, s", "above_sdk_s", "{:.3f}"),
    ("all tool schemas, bytes of JSON", "schema_bytes", "{:,}"),
    ("vectordb_search warm p50, ms", "search_p50_ms", "{:.1f}"),
    ("vectordb_search warm p95, ms", "search_p95_ms", "{:.1f}"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--index-dir", help="keep the index there (default: the user's cache)")
    parser.add_argument("--json", type=Path, metavar="FILE")
    args = parser.parse_args()
    where = (
        [str(args.folder)]
        if args.index_dir is None
        else [str(args.folder), "--index-dir", args.index_dir]
    )
    rootle = [sys.executable, "-m", "rootle"]
    subprocess.run([*rootle, "index", *where], check=True)
    status = subprocess.run([*rootle, "status", "--json", *where], check=True, capture_output=True)
    server = [*rootle, "mcp", "--root", *where]
    figures = {"chunks": json.loads(status.stdout)["chunks"], **starts(server, args.runs)}
    figures |= searches(server)
    for label, key, form in ROWS:
        print(f"{label:36}{form.format(figures[key]):>12}")
    if args.json:
        args.json.write_text(json.dumps(figures, indent=1) + "\n")


def starts(server: list[str], runs: int) -> dict[str, Any]:
    taken, alone, size = [], [], 0
    for _ in range(runs):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", SDK], check=True)
        alone.append(time.perf_counter() - started)
        started = time.perf_counter()
        with Session(server) as session:
            tools = session.greet()
            taken.append(time.perf_counter() - started)
            size = len(json.dumps(tools))
    start_s, sdk_s = statistics.median(taken), statistics.median(alone)
    return {
        "start_s": start_s,
        "sdk_s": sdk_s,
        "above_sdk_s": start_s - sdk_s,
        "schema_bytes": size,
    }


def searches(server: list[str]) -> dict[str, Any]:
    with Session(server) as session:
        session.greet()
        for question in WARM_UP:
            session.search(question)
        times = []
        for question in QUESTIONS:
            started = time.perf_counter()
            session.search(question)
            times.append((time.perf_counter() - started) * 1000)
    return {
        "search_p50_ms": statistics.median(times),
        "search_p95_ms": statistics.quantiles(times, n=20)[-1],
    }


class Session:
    """One server and its pipes."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(os.environ)
        )
        self.number = 0

    def greet(self) -> list[dict[str, Any]]:
        """The handshake; returns the tools."""
        self.ask(
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "benchmark", "version": "1"},
        )
        self.tell({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return list(self.ask("tools/list")["tools"])

    def search(self, question: str) -> None:
        answer = self.ask("tools/call", name="vectordb_search", arguments={"query": question})
        if answer.get("isError"):
            sys.exit(f"{question}: {answer['content']}")

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self.number += 1
        self.tell({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        answer = json.loads(self.process.stdout.readline())
        if answer.get("id") != self.number or "result" not in answer:
            sys.exit(f"{method}: {answer}")
        return dict(answer["result"])

    def tell(self, message: dict[str, Any]) -> None:
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


if __name__ == "__main__":
    main()
