"""Every agent's configuration before and after, in both directions; the files lie in `golden/`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from install_sample import COMMAND, PROJECT, Install

from rootle.agents.catalog import AGENTS, SCOPES, Agent, Scope
from rootle.agents.locations import Machine, configurations

GOLDEN = Path(__file__).parent / "golden"
BOM = b"\xef\xbb\xbf"
CASES = [
    pytest.param(agent, scope, id=f"{agent.name}-{scope}")
    for agent in AGENTS
    for scope in SCOPES
    if (agent.user if scope == "user" else agent.project)
]


@pytest.fixture(params=["as it is", "CRLF", "byte order mark"])
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize(("agent", "scope"), CASES)
def test_a_file_gets_the_entry_and_loses_it_again(
    agent: Agent, scope: Scope, form: str, install: Install, project: Path
) -> None:
    before, after = golden(agent, scope, form, project)
    path = place(agent, scope, before, project)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(before.read_bytes() if form == "as it is" else in_form(before, form))
    assert install("--agent", agent.name, "--scope", scope, "--yes").code == 0
    assert path.read_bytes() == after
    again = install("--agent", agent.name, "--scope", scope, "--yes")
    assert (again.code, again.out) == (0, f"{agent.name}: nothing to do\n")
    assert path.read_bytes() == after
    assert install("--agent", agent.name, "--yes", command="uninstall").code == 0
    assert path.read_bytes() == in_form(before, form)
    assert left_over(project) == left_over(Path.home()) == []


@pytest.mark.parametrize(("agent", "scope"), CASES)
def test_a_file_that_is_not_there_is_made_and_deleted_again(
    agent: Agent, scope: Scope, install: Install, project: Path
) -> None:
    path = configurations(agent, scope, Machine.this(project))[0]
    assert install("--agent", agent.name, "--scope", scope, "--yes").code == 0
    assert COMMAND in path.read_text() or '"rootle"' in path.read_text()
    assert path.read_bytes().endswith(b"\n")
    assert install("--agent", agent.name, "--scope", scope, "--yes").out.endswith("nothing to do\n")
    assert install("--agent", agent.name, "--yes", command="uninstall").code == 0
    assert not path.exists()
    assert [name for _, _, names in os.walk(project) for name in names] == []


def golden(agent: Agent, scope: Scope, form: str, project: Path) -> tuple[Path, bytes]:
    """The file before, and the bytes that it shall have after."""
    before = next((GOLDEN / scope).glob(f"{agent.name}.before.*"))
    after = before.with_name(before.name.replace(".before.", ".after."))
    return before, in_form(after, form).replace(PROJECT.encode(), os.fsencode(project))


def in_form(path: Path, form: str) -> bytes:
    data = path.read_bytes()
    if form == "CRLF":
        return data.replace(b"\n", b"\r\n")
    return BOM + data if form == "byte order mark" else data


def place(agent: Agent, scope: Scope, before: Path, project: Path) -> Path:
    """Where the agent looks for a file with this ending."""
    paths = configurations(agent, scope, Machine.this(project))
    return next(path for path in paths if path.suffix == before.suffix)


def left_over(folder: Path) -> list[str]:
    """Copies and half-written files."""
    return [
        name
        for _, _, names in os.walk(folder)
        for name in names
        if "rootle" in name or name.startswith(".mcp.json.")
    ]
