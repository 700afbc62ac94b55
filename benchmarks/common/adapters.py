"""Ask other search systems the same questions, through commands that read and write JSON lines.

The command reads one `{"query": …, "topK": 10}` per line and writes one answer per line:
`{"ms": …, "results": [{"filePath": …, "startLine": …, "endLine": …}]}`. Paths are relative to the
searched folder. Lines with `"meta"` are ignored.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.common.metrics import TOP_K, Answer, Hit


class AdapterError(Exception):
    """Raised when another system does not answer as specified."""


def parse_adapters(
    parser: argparse.ArgumentParser, entries: Iterable[str], reserved: Collection[str]
) -> dict[str, str]:
    """Map names to `--adapter` commands; exit if an entry is malformed or a name is reserved."""
    adapters = {}
    for entry in entries:
        name, _, command = entry.partition("=")
        if not name or "{root}" not in command or name in reserved:
            parser.error(f"--adapter {entry!r}: expected NAME=COMMAND with {{root}} in it")
        adapters[name] = command
    return adapters


def ask_adapter(command: str, root: Path, queries: Sequence[str]) -> list[Answer]:
    """Return another system's answers, one per query, in order."""
    words = [word.replace("{root}", str(root.absolute())) for word in shlex.split(command)]
    requests = [json.dumps({"query": query, "topK": TOP_K}) for query in queries]
    try:
        done = subprocess.run(
            words, input="\n".join(requests) + "\n", text=True, capture_output=True
        )
    except OSError as error:
        raise AdapterError(f"cannot be run: {error}") from error
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise AdapterError(f"exit code {done.returncode}: {lines[-1]}")
    try:
        records = [json.loads(line) for line in done.stdout.splitlines() if line.strip()]
        answers = [parse_answer(record) for record in records if "meta" not in record]
    except (ValueError, KeyError, TypeError) as error:
        raise AdapterError(f"malformed answer: {error!r}") from error
    if len(answers) != len(queries):
        raise AdapterError(f"{len(answers)} answers to {len(queries)} questions")
    return answers


def parse_answer(record: Mapping[str, Any]) -> Answer:
    """Return the answer in one JSON record, with at most ten hits."""
    hits = [
        Hit(one["filePath"], ((one["startLine"], one["endLine"]),)) for one in record["results"]
    ]
    return Answer(tuple(hits[:TOP_K]), record.get("ms") or 0.0)
