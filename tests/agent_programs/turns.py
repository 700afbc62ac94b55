"""Install a program and rootle, and run one turn of the program in an empty home folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest
from command import command_line
from program_cache import ENVIRONMENT, install_once, need_command, run_installer

from agent_programs.exchange import ModelRequest
from agent_programs.model_server import TIMED_OUT, format_of
from agent_programs.programs import NODE, AgentProgram

_TURN_S: Final = 180.0
_TESTS: Final = Path(__file__).parent.parent


@dataclass(frozen=True)
class Turn:
    """All requests to the model in one turn of a program, as text and in their order."""

    program: AgentProgram
    requests: Sequence[ModelRequest] = field(repr=False)
    # The last request as JSON; it contains the whole conversation.
    last_body: str = field(repr=False)

    @property
    def first_request(self) -> ModelRequest:
        """The first request with tools; some programs send a request for a title before it."""
        return next(request for request in self.requests if request.tools)

    @property
    def last_request(self) -> ModelRequest:
        return max(self.requests, key=lambda request: len(request.search_results))


def run_turn(program: AgentProgram, project: Path, scratch: Path, questions: Sequence[str]) -> Turn:
    """Run one turn of a program whose model asks these questions; fail if the command fails.

    `scratch` is an empty folder, to which the program writes all its files.
    """
    environment = _environment(program, scratch)
    _run([*command_line("install", "--agent", program.name, "--yes")], project, environment)
    if program.settings:
        _add_settings(scratch / "home" / program.settings_file, program.settings)
    record = scratch / "requests.jsonl"
    variables = [f"{name}={value}" for name, value in environment.items()]
    turn = ["env", "-i", *variables, program.executable, *program.arguments]
    server = [sys.executable, "-m", "agent_programs.model_server", os.fspath(record)]
    command = [*_block_network(), *server, str(_TURN_S), json.dumps(questions), *turn]
    _run(command, project, {**ENVIRONMENT, "PYTHONPATH": os.fspath(_TESTS)}, program.executable)
    return _read_record(program, record)


def _environment(program: AgentProgram, scratch: Path) -> dict[str, str]:
    """Create the folders of a program and return all its environment variables."""
    folders = [_install(package) / "node_modules" / ".bin" for package in (NODE, program.package)]
    search = [*map(os.fspath, folders), ENVIRONMENT.get("PATH", os.defpath)]
    variables = {"PATH": os.pathsep.join(search), "TERM": "dumb", **program.environment}
    for name, folder in (("HOME", scratch / "home"), ("TMPDIR", scratch / "tmp")):
        folder.mkdir()
        variables[name] = os.fspath(folder)
    return variables


def _add_settings(file: Path, settings: Mapping[str, object]) -> None:
    file.write_text(json.dumps({**json.loads(file.read_text()), **settings}))


def _install(package: str) -> Path:
    def install(place: Path) -> None:
        need_command("npm", "apt install npm")
        quiet = ("--no-audit", "--no-fund", "--no-update-notifier")
        run_installer(["npm", "install", *quiet, "--prefix", place, package])

    return install_once(package.replace("/", "-").lstrip("@"), install)


def _block_network() -> list[str]:
    need_command("unshare", "apt install util-linux")
    return ["unshare", "--net", *([] if os.geteuid() == 0 else ["--map-root-user"])]


def _run(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], name: str = "rootle"
) -> None:
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
    )
    if done.returncode:
        late = f" after {_TURN_S:.0f} s" if done.returncode == TIMED_OUT else ""
        output = f"{done.stdout[-2_000:]}{done.stderr[-4_000:]}"
        pytest.fail(f"`{name}` ended with exit code {done.returncode}{late}:\n{output}")


def _read_record(program: AgentProgram, record: Path) -> Turn:
    requests, last_body = [], ""
    for line in record.read_text().splitlines():
        entry = json.loads(line)
        if entry["body"] and (wire := format_of(entry["path"])):
            requests.append(wire.read(entry["body"]))
            last_body = line
    if not any(request.tools for request in requests):
        pytest.fail(f"{program.name} sent no request with tools to the model")
    return Turn(program, requests, last_body)
