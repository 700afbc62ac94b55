"""Which command an agent is told to run, and which entries count as ours."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from sample import write

from rootle.agents.catalog import AGENTS, Agent, ConfigPart
from rootle.agents.launch_command import command_line, entry_for, installed_command, is_ours
from rootle.errors import InstallError

BY_NAME = {agent.name: agent for agent in AGENTS}


@pytest.fixture
def scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the environment of this Python keeps its commands."""
    folder = tmp_path / "venv/bin"
    folder.mkdir(parents=True)
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(folder))
    return folder


def program(folder: Path) -> Path:
    path = write(folder, "rootle", "#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_the_link_on_the_path_goes_before_what_it_leads_to(
    scripts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    link = tmp_path / "empty/rootle"
    link.symlink_to(program(scripts))
    assert installed_command() == [str(link)]


def test_another_rootle_on_the_path_is_not_this_one(scripts: Path, tmp_path: Path) -> None:
    own = program(scripts)
    program(tmp_path / "empty")
    assert installed_command() == [str(own)]


def test_without_a_command_python_starts_it(scripts: Path) -> None:
    assert installed_command() == [os.path.abspath(sys.executable), "-m", "rootle"]


@pytest.mark.parametrize(
    "place", ["uv/archive-v0/x3/bin", "uv/environments-v2/x/bin", "pipx/.cache/1f/bin"]
)
def test_an_environment_that_is_thrown_away_is_refused(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / place)
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path / place))
    with pytest.raises(InstallError, match="thrown away; install rootle first, with `pipx"):
        installed_command()


def test_a_project_gets_the_plain_name(tmp_path: Path) -> None:
    assert command_line(BY_NAME["codex"], "project", tmp_path) == ["rootle", "mcp"]


def test_an_agent_that_starts_servers_elsewhere_names_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rootle.agents.launch_command.installed_command", lambda: ["/bin/rootle"])
    assert command_line(BY_NAME["vscode"], "user", tmp_path)[1:] == [
        *("mcp", "--root", "${workspaceFolder}")
    ]
    assert command_line(BY_NAME["windsurf"], "user", tmp_path)[1:] == [
        *("mcp", "--root", str(tmp_path))
    ]


def test_no_entry_names_a_folder_that_holds_the_home(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rootle.agents.launch_command.installed_command", lambda: ["/bin/rootle"])
    for folder in (home, home.parent):
        with pytest.raises(InstallError, match="is no project; name one with --root"):
            command_line(BY_NAME["windsurf"], "user", folder)


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_every_entry_says_the_command_and_is_known_again(agent: Agent) -> None:
    command = ["C:\\Tools\\rootle.exe", "mcp", "--root", "x"]
    entry = entry_for(agent, command, is_new=True)
    assert is_ours(agent, entry)
    assert not any(isinstance(value, ConfigPart) for value in entry.values())
    words = str(list(entry.values()))
    assert all(repr(word) in words for word in command)
    assert is_ours(agent, entry_for(agent, ["/v/bin/python", "-m", "rootle", "mcp"], is_new=True))


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
def test_what_starts_something_else_is_not_ours(entry: object) -> None:
    assert not is_ours(BY_NAME["cursor"], entry)
