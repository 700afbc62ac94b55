"""The guide names the versions of the programs that are tested."""

from __future__ import annotations

from pathlib import Path

from agent_programs.programs import PROGRAMS

GUIDE = Path(__file__).parents[2] / "docs/how-to/install-into-agents.md"


def test_the_guide_names_the_tested_versions() -> None:
    guide = GUIDE.read_text()
    assert [program.package for program in PROGRAMS if f"`{program.package}`" not in guide] == []
