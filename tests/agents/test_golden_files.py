"""The configuration of every agent before and after installation, from `golden/`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from install_sample import COMMAND, PROJECT, Install

from rootle.agents.agent import SCOPES, Agent, Scope
from rootle.agents.catalog import AGENTS
from rootle.agents.locations import Machine, config_files

GOLDEN = Path(__file__).parent / "golden"
BOM = b"\xef\xbb\xbf"
CASES = [
    pytest.param(agent, scope, id=f"{agent.name}-{scope}")
    for agent in AGENTS
    for scope in SCOPES
    if agent.has_config(scope)
]


@pytest.fixture(params=["unchanged", "CRLF", "byte order mark"])
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize(("agent", "scope"), CASES)
def test_uninstalling_restores_an_existing_file_exactly(
    agent: Agent, scope: Scope, form: str, install: Install, project: Path
) -> None:
    before, after = golden(agent, scope, form, project)
    path = config_file(agent, scope, before, project)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(before.read_bytes() if form == "unchanged" else convert_to(before, form))
    assert install("--agent", agent.name, "--scope", scope, "--yes").code == 0
    assert path.read_bytes() == after
    again = install("--agent", agent.name, "--scope", scope, "--yes")
    assert (again.code, again.out) == (0, f"{agent.name}: nothing to do\n")
    assert path.read_bytes() == after
    assert install("--agent", agent.name, "--yes", command="uninstall").code == 0
    assert path.read_bytes() == convert_to(before, form)
    assert leftovers(project) == leftovers(Path.home()) == []


@pytest.mark.parametrize(("agent", "scope"), CASES)
def test_a_missing_file_is_created_and_deleted_again(
    agent: Agent, scope: Scope, install: Install, project: Path
) -> None:
    path = config_files(agent, scope, Machine.this(project))[0]
    assert install("--agent", agent.name, "--scope", scope, "--yes").code == 0
    assert COMMAND in path.read_text() or '"rootle"' in path.read_text()
    assert path.read_bytes().endswith(b"\n")
    assert install("--agent", agent.name, "--scope", scope, "--yes").out.endswith("nothing to do\n")
    assert install("--agent", agent.name, "--yes", command="uninstall").code == 0
    assert not path.exists()
    assert [name for _, _, names in os.walk(project) for name in names] == []


def golden(agent: Agent, scope: Scope, form: str, project: Path) -> tuple[Path, bytes]:
    """Return the file before installation, and the expected bytes after it."""
    before = next((GOLDEN / scope).glob(f"{agent.name}.before.*"))
    after = before.with_name(before.name.replace(".before.", ".after."))
    return before, convert_to(after, form).replace(PROJECT.encode(), os.fsencode(project))


def convert_to(path: Path, form: str) -> bytes:
    data = path.read_bytes()
    if form == "CRLF":
        return data.replace(b"\n", b"\r\n")
    return BOM + data if form == "byte order mark" else data


def config_file(agent: Agent, scope: Scope, before: Path, project: Path) -> Path:
    """Return the path at which the agent expects a file with this extension."""
    paths = config_files(agent, scope, Machine.this(project))
    return next(path for path in paths if path.suffix == before.suffix)


def leftovers(folder: Path) -> list[str]:
    """Return the names of backups and temporary files."""
    return [
        name
        for _, _, names in os.walk(folder)
        for name in names
        if "rootle" in name or name.startswith(".mcp.json.")
    ]
