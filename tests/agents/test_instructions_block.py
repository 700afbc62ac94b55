"""The block of instructions in the files that agents read."""

from __future__ import annotations

from pathlib import Path

import pytest
from install_sample import Install
from sample import write

from rootle.agents.instructions_block import BEGIN, END, add_block, remove_block

BLOCK = add_block("")


@pytest.mark.parametrize(
    "text",
    ["", "\n", "# Rules\n", "# Rules", "# Rules\n\n", "a\r\nb\r\n", "a\r\nb", "a\r\nb\nc\n"],
)
def test_removing_the_block_restores_the_text_exactly(text: str) -> None:
    added = add_block(text)
    assert BEGIN in added
    assert add_block(added) == added
    assert remove_block(added) == text


def test_an_old_block_is_replaced_in_its_position() -> None:
    old = f"# Rules\n\n{BEGIN}\nold words\n{END}\n\n# More\n"
    new = add_block(old)
    assert new == f"# Rules\n\n{BLOCK}\n# More\n"
    assert remove_block(new) == "# Rules\n\n# More\n"


def test_the_block_names_the_tools_and_mentions_grep() -> None:
    assert "`vectordb_search`" in BLOCK
    assert "`vectordb_read`" in BLOCK
    assert "`grep`" in BLOCK
    assert len(BLOCK) < 800


@pytest.mark.parametrize(
    ("text", "line"), [(f"a\n{BEGIN}\nb\n", 2), (f"{END}\n{BEGIN}\n", 1), (BLOCK * 2, 1)]
)
def test_unpaired_markers_are_an_error(
    text: str, line: int, install: Install, project: Path
) -> None:
    path = write(project, "AGENTS.md", text)
    ran = install("--agent", "codex", "--scope", "project", "--yes")
    assert ran.code == 2
    assert f"codex: error: {path}, line {line}: expected {BEGIN} and {END} once each" in ran.out
    assert path.read_text() == text
    assert not (project / ".codex").exists()


def test_no_claude_file_is_created_next_to_an_agents_file(install: Install, project: Path) -> None:
    # Claude Code would read a new CLAUDE.md instead of AGENTS.md.
    write(project, "AGENTS.md", "# Rules\n")
    assert install("--agent", "claude-code", "--scope", "project", "--yes").code == 0
    assert (project / "AGENTS.md").read_text() == f"# Rules\n\n{BLOCK}"
    assert not (project / "CLAUDE.md").exists()


def test_a_file_that_includes_the_shared_file_is_not_changed(
    install: Install, project: Path
) -> None:
    write(project, "AGENTS.md", "# Rules\n")
    write(project, "CLAUDE.md", "@AGENTS.md\n")
    assert install("--agent", "claude-code", "--scope", "project", "--yes").code == 0
    assert (project / "CLAUDE.md").read_text() == "@AGENTS.md\n"
    assert BEGIN in (project / "AGENTS.md").read_text()


def test_a_file_and_a_link_to_it_get_one_block(install: Install, project: Path) -> None:
    write(project, "AGENTS.md", "# Rules\n")
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    agents = ("--agent", "claude-code", "--agent", "codex", "--scope", "project", "--yes")
    assert install(*agents).code == 0
    assert (project / "AGENTS.md").read_text() == f"# Rules\n\n{BLOCK}"
    assert (project / "CLAUDE.md").is_symlink()


def test_the_block_stays_until_the_last_agent_that_reads_it_is_uninstalled(
    install: Install, project: Path
) -> None:
    path = write(project, "AGENTS.md", "# Rules\n")
    both = ("--agent", "codex", "--agent", "cursor")
    assert install(*both, "--scope", "project", "--yes").code == 0
    assert install("--agent", "codex", "--yes", command="uninstall").code == 0
    assert BEGIN in path.read_text()
    assert install("--agent", "cursor", "--yes", command="uninstall").code == 0
    assert path.read_text() == "# Rules\n"
