"""Where files lie on each platform, and which agents are there."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample import write

from rootle.agents.catalog import AGENTS
from rootle.agents.locations import Machine, configurations, notes
from rootle.errors import InstallError

BY_NAME = {agent.name: agent for agent in AGENTS}


def machine(platform: str = "linux", **environment: str) -> Machine:
    return Machine(Path("/home/ada"), Path("/src"), environment, platform)


@pytest.mark.parametrize(
    ("agent", "platform", "expected"),
    [
        ("claude-code", "linux", "/home/ada/.claude.json"),
        ("codex", "win32", "/home/ada/.codex/config.toml"),
        ("vscode", "linux", "/home/ada/.config/Code/User/mcp.json"),
        ("vscode", "darwin", "/home/ada/Library/Application Support/Code/User/mcp.json"),
        ("vscode", "win32", "/home/ada/AppData/Roaming/Code/User/mcp.json"),
        ("zed", "darwin", "/home/ada/.config/zed/settings.json"),
        ("zed", "win32", "/home/ada/AppData/Roaming/Zed/settings.json"),
        ("goose", "darwin", "/home/ada/.config/goose/config.yaml"),
        ("goose", "win32", "/home/ada/AppData/Roaming/Block/goose/config/config.yaml"),
        ("devin", "win32", "/home/ada/AppData/Roaming/devin/mcp_config.json"),
    ],
)
def test_a_file_lies_where_its_platform_has_it(agent: str, platform: str, expected: str) -> None:
    assert configurations(BY_NAME[agent], "user", machine(platform))[0] == Path(expected)


def test_variables_of_the_environment_move_files() -> None:
    moved = machine(
        CODEX_HOME="/c", CLAUDE_CONFIG_DIR="/l", XDG_CONFIG_HOME="/x", COPILOT_HOME="/p"
    )
    places = {
        "codex": "/c/config.toml",
        "claude-code": "/l/.claude.json",
        "opencode": "/x/opencode/opencode.json",
        "copilot": "/p/mcp-config.json",
    }
    for agent, path in places.items():
        assert configurations(BY_NAME[agent], "user", moved)[0] == Path(path)
    assert notes(BY_NAME["claude-code"], "user", moved) == [Path("/l/CLAUDE.md")]


def test_a_relative_variable_is_an_error() -> None:
    with pytest.raises(InstallError, match=r"codex/config\.toml is a relative path"):
        configurations(BY_NAME["codex"], "user", machine(CODEX_HOME="codex"))


def test_an_agent_is_found_by_what_it_leaves_or_by_its_program(tmp_path: Path) -> None:
    here = Machine(tmp_path, tmp_path, {"PATH": str(tmp_path / "bin")}, "linux")
    assert [agent.name for agent in AGENTS if here.is_installed(agent)] == []
    (tmp_path / ".qwen").mkdir()
    write(tmp_path, "bin/amp", "").chmod(0o755)
    assert [agent.name for agent in AGENTS if here.is_installed(agent)] == ["qwen", "amp"]


def test_no_two_agents_share_a_name_or_an_entry() -> None:
    assert len(BY_NAME) == len(AGENTS)
    for scope in ("user", "project"):
        files = [path for agent in AGENTS for path in configurations(agent, scope, machine())]
        assert len(files) == len(set(files))


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_an_agent_reads_the_instructions_that_are_made_for_it(agent: object) -> None:
    assert agent.new_notes in agent.notes  # type: ignore[attr-defined]
