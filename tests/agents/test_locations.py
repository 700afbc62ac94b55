"""The configuration files of agents on each platform, and the detection of agents."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample import write

from rootle.agents.agent import Agent
from rootle.agents.catalog import AGENTS
from rootle.agents.locations import Machine, config_files, instruction_files
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
def test_each_platform_has_its_own_paths(agent: str, platform: str, expected: str) -> None:
    assert config_files(BY_NAME[agent], "user", machine(platform))[0] == Path(expected)


def test_environment_variables_change_paths() -> None:
    moved = machine(
        CODEX_HOME="/c", CLAUDE_CONFIG_DIR="/l", XDG_CONFIG_HOME="/x", COPILOT_HOME="/p"
    )
    expected = {
        "codex": "/c/config.toml",
        "claude-code": "/l/.claude.json",
        "opencode": "/x/opencode/opencode.json",
        "copilot": "/p/mcp-config.json",
    }
    for agent, path in expected.items():
        assert config_files(BY_NAME[agent], "user", moved)[0] == Path(path)
    assert instruction_files(BY_NAME["claude-code"], "user", moved) == [Path("/l/CLAUDE.md")]


def test_a_relative_path_in_a_variable_is_refused() -> None:
    with pytest.raises(InstallError, match=r"codex/config\.toml is a relative path"):
        config_files(BY_NAME["codex"], "user", machine(CODEX_HOME="codex"))


def test_an_agent_is_detected_by_its_files_or_its_program(tmp_path: Path) -> None:
    here = Machine(tmp_path, tmp_path, {"PATH": str(tmp_path / "bin")}, "linux")
    assert [agent.name for agent in AGENTS if here.is_installed(agent)] == []
    (tmp_path / ".qwen").mkdir()
    write(tmp_path, "bin/amp", "").chmod(0o755)
    assert [agent.name for agent in AGENTS if here.is_installed(agent)] == ["qwen", "amp"]


def test_agents_have_distinct_names_and_files() -> None:
    assert len(BY_NAME) == len(AGENTS)
    for scope in ("user", "project"):
        files = [path for agent in AGENTS for path in config_files(agent, scope, machine())]
        assert len(files) == len(set(files))


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_an_agent_reads_the_instruction_file_that_is_created_for_it(agent: Agent) -> None:
    assert agent.new_instructions in agent.project_instructions
