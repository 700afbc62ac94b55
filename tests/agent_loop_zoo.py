"""A workspace for the agent-loop benchmark: one tiny repository and two tasks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.agent_loop import workspace
from benchmarks.agent_loop.tasks import AgentTask, read_tasks
from sample import write_tree

OTTER = '''\
"""Animals that live near rivers."""


def swim_upstream(speed: float) -> float:
    """Return the speed of an otter against the current of the river."""
    return speed - 2


def catch_fish(count: int) -> int:
    """Return how many fish an otter catches."""
    return count // 2
'''
_TASKS = [
    {
        "id": "z1", "repository": "zoo", "size": "small", "kind": "find",
        "task": "Find the code that computes how fast an otter is against the current.",
        "places": [["otter.py:4-6"]],
    },
    {
        "id": "z2", "repository": "zoo", "size": "small", "kind": "explain",
        "task": "Explain how otters eat.",
        "places": [["otter.py:4-6", "badger.py:1-2"], ["otter.py:9-11"]],
    },
]  # fmt: skip


def make_workspace(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, AgentTask]:
    """Create a workspace in a folder, make the commands use its tasks, and return the tasks."""
    write_tree(folder / "checkouts/zoo", {"otter.py": OTTER, "badger.py": "def dig():\n    ...\n"})
    (folder / "tasks").mkdir()
    (folder / "tasks/zoo.jsonl").write_text("\n".join(map(json.dumps, _TASKS)))
    tasks = read_tasks(folder / "tasks")
    monkeypatch.setattr(workspace, "read_tasks", lambda _: tasks)
    return tasks
