"""The command that an agent runs, and the entries that start rootle."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from sample import write

from rootle.agents.agent import Agent, ConfigPart
from rootle.agents.catalog import AGENTS
from rootle.agents.launch_command import build_entry, command_line, installed_command, starts_rootle
from rootle.errors import InstallError

BY_NAME = {agent.name: agent for agent in AGENTS}


@pytest.fixture
def scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the scripts folder of the environment in which rootle is installed."""
    folder = tmp_path / "venv/bin"
    folder.mkdir(parents=True)
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(folder))
    return folder


def program(folder: Path) -> Path:
    path = write(folder, "rootle", "#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_a_link_on_the_path_is_preferred_to_its_target(
    scripts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    link = tmp_path / "empty/rootle"
    link.symlink_to(program(scripts))
    assert installed_command() == [str(link)]


def test_another_installation_on_the_path_is_not_used(scripts: Path, tmp_path: Path) -> None:
    own = program(scripts)
    program(tmp_path / "empty")
    assert installed_command() == [str(own)]


def test_python_runs_the_module_if_there_is_no_command(scripts: Path) -> None:
    assert installed_command() == [os.path.abspath(sys.executable), "-P", "-m", "rootle"]


@pytest.mark.parametrize(
    "folder", ["uv/archive-v0/x3/bin", "uv/environments-v2/x/bin", "pipx/.cache/1f/bin"]
)
def test_a_temporary_environment_is_refused(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / folder)
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path / folder))
    with pytest.raises(InstallError, match="temporary environment; install rootle first, with"):
        installed_command()


def test_project_files_contain_the_command_without_its_path(tmp_path: Path) -> None:
    assert command_line(BY_NAME["codex"], "project", tmp_path) == ["rootle", "mcp"]


def test_the_entry_names_the_folder_for_agents_that_start_servers_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rootle.agents.launch_command.installed_command", lambda: ["/bin/rootle"])
    assert command_line(BY_NAME["vscode"], "user", tmp_path)[1:] == [
        *("mcp", "--root", "${workspaceFolder}")
    ]
    assert command_line(BY_NAME["windsurf"], "user", tmp_path)[1:] == [
        *("mcp", "--root", str(tmp_path))
    ]


def test_a_folder_that_contains_the_home_folder_is_refused(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rootle.agents.launch_command.installed_command", lambda: ["/bin/rootle"])
    link = home / "link"
    link.symlink_to(home)
    for folder in (home, home.parent, link):
        with pytest.raises(InstallError, match="is not a project; choose a project with --root"):
            command_line(BY_NAME["windsurf"], "user", folder)


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_every_entry_contains_the_command_and_is_recognized(agent: Agent) -> None:
    command = ["C:\\Tools\\rootle.exe", "mcp", "--root", "x"]
    entry = build_entry(agent, command)
    assert starts_rootle(agent, entry)
    assert not any(isinstance(value, ConfigPart) for value in entry.values())
    words = str(list(entry.values()))
    assert all(repr(word) in words for word in command)
    for options in (["-m"], ["-P", "-m"]):
        module = ["/v/bin/python", *options, "rootle", "mcp"]
        assert starts_rootle(agent, build_entry(agent, module))


@pytest.mark.parametrize(
    "entry",
    [
        None,
        "rootle mcp",
        {},
        {"url": "http://127.0.0.1/mcp"},
        {"command": "rootle"},
        {"command": "rootle", "args": ["search"]},
        {"command": "npx", "args": ["rootle", "mcp"]},
        {"command": 5, "args": None},
    ],
)
def test_entries_that_start_another_program_are_not_recognized(entry: object) -> None:
    assert not starts_rootle(BY_NAME["cursor"], entry)
