"""`rootle install` in a temporary home folder and project, without agents on the PATH."""

from __future__ import annotations

from pathlib import Path

import pytest
from install_sample import COMMAND, Install, RunResult

from rootle.cli.main import main


@pytest.fixture(autouse=True)
def _no_agents(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def install(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Install:
    monkeypatch.setattr("rootle.agents.launch_command.installed_command", lambda: [COMMAND])

    def run(*arguments: str, command: str = "install") -> RunResult:
        code = main([command, "--root", str(project), *arguments])
        captured = capsys.readouterr()
        return RunResult(code, captured.out, captured.err)

    return run
