"""Section 5.3 of the specification: episodes from a memory as additional context."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rootle.serialization.json import to_json


def test_5_3_memory_agent(repository: Path, make_app: Any) -> None:
    app = make_app(repository, memory_timeout_ms=60_000)
    app.index()
    episode = "On the phones retry_backoff drained the battery, so its base went from 0.1 to 0.5"
    app.memory.remember(episode)
    app.memory.remember("The user likes tabs")
    response = app.search("how long to wait before the next attempt")
    assert response.results[0].file_path == "src/net/retry.py"
    answer = to_json(response)
    (memory,) = answer["memories"]
    assert memory["text"] == episode
    assert memory["createdAt"].endswith("Z")
    assert all(episode not in result["snippet"] for result in answer["results"])
