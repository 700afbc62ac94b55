"""The section in the instructions that agents read."""

from __future__ import annotations

from pathlib import Path

import pytest
from install_sample import Install
from sample import write

from rootle.agents.instructions_block import BEGIN, END, with_section, without_section

SECTION = with_section("")


@pytest.mark.parametrize(
    "text",
    ["", "\n", "# Rules\n", "# Rules", "# Rules\n\n", "a\r\nb\r\n", "a\r\nb", "a\r\nb\nc\n"],
)
def test_a_section_comes_and_goes_without_a_trace(text: str) -> None:
    there = with_section(text)
    assert BEGIN in there
    assert with_section(there) == there
    assert without_section(there) == text


def test_an_old_section_is_replaced_where_it_stands() -> None:
    old = f"# Rules\n\n{BEGIN}\nold words\n{END}\n\n# More\n"
    new = with_section(old)
    assert new == f"# Rules\n\n{SECTION}\n# More\n"
    assert without_section(new) == "# Rules\n\n# More\n"


def test_the_section_names_the_tools_and_when_grep_is_better() -> None:
    assert "`vectordb_search`" in SECTION
    assert "`vectordb_read`" in SECTION
    assert "`grep` is better" in SECTION
    assert len(SECTION) < 800


@pytest.mark.parametrize(
    ("text", "line"), [(f"a\n{BEGIN}\nb\n", 2), (f"{END}\n{BEGIN}\n", 1), (SECTION * 2, 1)]
)
def test_markers_without_their_pair_are_an_error(
    text: str, line: int, install: Install, project: Path
) -> None:
    path = write(project, "AGENTS.md", text)
    ran = install("--agent", "codex", "--scope", "project", "--yes")
    assert ran.code == 2
    assert f"codex: error: {path}, line {line}: expected {BEGIN} and {END} once each" in ran.out
    assert path.read_text() == text
    assert not (project / ".codex").exists()


def test_claude_code_reads_the_agents_file_only_where_there_is_no_other(
    install: Install, project: Path
) -> None:
    # A new CLAUDE.md would hide the rules that stand in AGENTS.md.
    write(project, "AGENTS.md", "# Rules\n")
    assert install("--agent", "claude-code", "--scope", "project", "--yes").code == 0
    assert (project / "AGENTS.md").read_text() == f"# Rules\n\n{SECTION}"
    assert not (project / "CLAUDE.md").exists()


def test_a_file_that_takes_in_the_shared_one_is_left_as_it_is(
    install: Install, project: Path
) -> None:
    write(project, "AGENTS.md", "# Rules\n")
    write(project, "CLAUDE.md", "@AGENTS.md\n")
    assert install("--agent", "claude-code", "--scope", "project", "--yes").code == 0
    assert (project / "CLAUDE.md").read_text() == "@AGENTS.md\n"
    assert BEGIN in (project / "AGENTS.md").read_text()


def test_two_names_of_one_file_get_one_section(install: Install, project: Path) -> None:
    write(project, "AGENTS.md", "# Rules\n")
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    agents = ("--agent", "claude-code", "--agent", "codex", "--scope", "project", "--yes")
    assert install(*agents).code == 0
    assert (project / "AGENTS.md").read_text() == f"# Rules\n\n{SECTION}"
    assert (project / "CLAUDE.md").is_symlink()


def test_the_section_stays_until_the_last_agent_that_reads_it_goes(
    install: Install, project: Path
) -> None:
    path = write(project, "AGENTS.md", "# Rules\n")
    both = ("--agent", "codex", "--agent", "cursor")
    assert install(*both, "--scope", "project", "--yes").code == 0
    assert install("--agent", "codex", "--yes", command="uninstall").code == 0
    assert BEGIN in path.read_text()
    assert install("--agent", "cursor", "--yes", command="uninstall").code == 0
    assert path.read_text() == "# Rules\n"
