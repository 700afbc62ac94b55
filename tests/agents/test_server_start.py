"""The entries in agent configurations start a server that answers."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tomllib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from install_sample import Install
from mcp import Client, StdioServerParameters, stdio_client
from ruamel.yaml import YAML
from sample import make_repository

pytestmark = pytest.mark.slow

# For each agent: its file, the parser of the file, and the keys of the entry.
READERS: dict[str, tuple[str, Callable[[str], Any], tuple[str, ...]]] = {
    "claude-code": (".claude.json", json.loads, ("mcpServers", "rootle")),
    "codex": (".codex/config.toml", tomllib.loads, ("mcp_servers", "rootle")),
    "goose": ("config/goose/config.yaml", YAML(typ="safe").load, ("extensions", "rootle")),
    "opencode": ("config/opencode/opencode.json", json.loads, ("mcp", "rootle")),
    "vscode": ("config/Code/User/mcp.json", json.loads, ("servers", "rootle")),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repository(tmp_path_factory.mktemp("server") / "repository")


@pytest.fixture
def _no_agents() -> None:
    """Override the fixture that empties the PATH, because the server needs git."""


@pytest.mark.parametrize("agent", READERS)
def test_the_entry_starts_a_server_that_answers(
    agent: str, install: Install, home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    this_python = [sys.executable, "-m", "rootle"]
    monkeypatch.setattr("rootle.agents.launch_command.installed_command", lambda: this_python)
    assert install("--agent", agent, "--yes").code == 0
    name, read, keys = READERS[agent]
    entry = read((home / name).read_text())
    for key in keys:
        entry = entry[key]
    assert "retry.py" in answer(tuple(words_of(entry, folder)), folder)


def words_of(entry: dict[str, Any], folder: Path) -> list[str]:
    """Return the command as the agent runs it, with its variables expanded."""
    command = entry.get("command", entry.get("cmd"))
    words = [*(command if isinstance(command, list) else [command]), *entry.get("args", [])]
    return [word.replace("${workspaceFolder}", str(folder)) for word in words]


@cache
def answer(words: tuple[str, ...], folder: Path) -> str:
    """Start a server and return its answer; most agents start it with the same words."""
    return asyncio.run(_ask(words, folder))


async def _ask(words: Sequence[str], folder: Path) -> str:
    server = StdioServerParameters(
        command=words[0], args=list(words[1:]), env=dict(os.environ), cwd=folder
    )
    with open(os.devnull, "w") as log:
        async with Client(stdio_client(server, errlog=log), read_timeout_seconds=60) as client:
            found = await client.call_tool("vectordb_search", {"query": "retry_backoff"})
            return str(found.content)
