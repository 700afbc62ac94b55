"""`rootle install` and `rootle uninstall` as a user runs them."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest
from command import command_line, rootle
from install_sample import COMMAND, Install
from sample import write

from rootle.agents.file_edits import FileEdit
from rootle.agents.file_edits import write as write_edit
from rootle.errors import InstallError
from rootle.storage.paths import install_records_path

SERVERS = '{\n  "mcpServers": {}\n}\n'
OTHER = (
    '{\n  "mcpServers": {\n    "rootle": {"command": "npx", "args": ["a-rootle", "mcp"]}\n  }\n}\n'
)


def test_nothing_is_written_without_confirmation(install: Install, home: Path) -> None:
    path = write(home, ".cursor/mcp.json", SERVERS)
    ran = install("--agent", "cursor")
    assert ran.code == 2
    assert '+    "rootle": {' in ran.out.splitlines()
    assert ran.err == "rootle: nothing was written: not interactive; pass --yes\n"
    assert path.read_text() == SERVERS


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "code"), [(b"y\n", 0), (b"\n", 2), (b"no\n", 2)])
def test_a_terminal_user_is_asked_for_confirmation(
    answer: bytes, code: int, home: Path, project: Path
) -> None:
    path = write(home, ".cursor/mcp.json", SERVERS)
    controller, terminal = pty.openpty()
    words = command_line("install", "--root", project, "--agent", "cursor")
    with subprocess.Popen(words, stdin=terminal, stderr=subprocess.PIPE) as child:
        os.write(controller, answer)
        _, errors = child.communicate(timeout=60)
    os.close(controller)
    os.close(terminal)
    assert child.returncode == code
    assert b"change this file? [y/N] " in errors
    assert (path.read_text() == SERVERS) is (code != 0)


def test_a_dry_run_shows_the_changes_without_writing(
    install: Install, home: Path, project: Path
) -> None:
    ran = install("--agent", "codex", "--agent", "gemini", "--scope", "project", "--dry-run")
    assert ran.code == 0
    assert "+[mcp_servers.rootle]" in ran.out.splitlines()
    assert f"codex: {project}/.codex/config.toml: entry would be added; " in ran.out
    assert list(project.iterdir()) == []
    assert not (home / ".codex").exists()


def test_unchanged_lines_are_not_shown(install: Install, home: Path) -> None:
    golden = Path(__file__).parent / "golden/user/claude-code.before.json"
    write(home, ".claude.json", golden.read_text())
    ran = install("--agent", "claude-code", "--dry-run")
    assert '"rootle"' in ran.out
    assert "ghp_not_a_real_token" not in ran.out


@pytest.mark.slow
def test_characters_that_the_terminal_cannot_print_are_escaped(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home, ".cursor/mcp.json", '{"größe\x1b": "→"}')
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    ran = rootle("install", "--root", project, "--agent", "cursor", "--dry-run")
    assert ran.code == 2  # because JSON must not contain control characters
    write(home, ".cursor/mcp.json", '{"größe": "→"}')
    ran = rootle("install", "--root", project, "--agent", "cursor", "--dry-run")
    assert (ran.code, '-{"gr\\xf6\\xdfe": "\\u2192"}' in ran.out) == (0, True)


def test_one_line_is_printed_for_each_detected_agent(
    install: Install, home: Path, tmp_path: Path
) -> None:
    write(home, ".cursor/mcp.json", "{]")
    (home / ".codex").mkdir()
    gemini = write(tmp_path, "empty/gemini", "#!/bin/sh\n")
    gemini.chmod(0o755)
    ran = install("--all-detected", "--yes")
    assert ran.code == 2  # the configuration of cursor is broken
    lines = [line.partition(":")[0] for line in ran.out.splitlines()[-3:]]
    assert lines == ["codex", "cursor", "gemini"]
    assert "cursor: error: " in ran.out
    assert COMMAND in (home / ".codex/config.toml").read_text()
    assert COMMAND in (home / ".gemini/settings.json").read_text()
    assert (home / ".cursor/mcp.json").read_text() == "{]"


def test_a_detected_agent_without_a_file_for_the_scope_is_skipped(
    install: Install, home: Path, project: Path
) -> None:
    (home / ".kiro").mkdir()
    (home / ".codex").mkdir()
    ran = install("--all-detected", "--yes")
    assert ran.code == 0
    assert ran.err.startswith("rootle: skipped kiro: it has no configuration file for --scope user")
    assert list(project.iterdir()) == []


def test_the_error_for_a_missing_agent_option_lists_the_detected_agents(
    install: Install, home: Path
) -> None:
    assert "none was detected" in install().err
    (home / ".codex").mkdir()
    assert "detected: codex" in install().err
    assert "did you mean 'claude-code'?" in install("--agent", "claude").err


def test_all_detected_lists_the_supported_agents_if_none_is_detected(install: Install) -> None:
    ran = install("--all-detected")
    assert ran.code == 2
    assert "no agent was detected; choose one with --agent: claude-code, codex" in ran.err


@pytest.mark.parametrize(
    ("agent", "name", "content", "message"),
    [
        ("cursor", ".cursor/mcp.json", b'{\n  "mcpServers": {\n', "line 3: expected a key"),
        (
            "cursor",
            ".cursor/mcp.json",
            b'{\n  "mcpServers": []\n}',
            '"mcpServers" is not an object',
        ),
        ("cursor", ".cursor/mcp.json", b"[]", "line 1: expected an object"),
        (
            "cursor",
            ".cursor/mcp.json",
            b'{\n"a": "\xff"}',
            "line 2: not UTF-8; nothing",
        ),
        ("codex", ".codex/config.toml", b"a = 1\n[b\n", "line 2: "),
        ("codex", ".codex/config.toml", b"mcp_servers = { a = {} }\n", "edit the file by hand"),
        ("goose", ".config/goose/config.yaml", b"a: [1\nb: 2\n", "line 2: "),
        ("goose", ".config/goose/config.yaml", b"- 1\n", "line 1: expected a mapping"),
        ("goose", ".config/goose/config.yaml", b"extensions: [a]\n", "line 1: 'extensions'"),
        ("codex", ".codex/config.toml", b"mcp_servers = 5\n", "'mcp_servers' is not a mapping"),
        ("goose", ".config/goose/config.yaml", b"extensions: {a: {b: 1}}\n", "is in flow style"),
    ],
)
def test_a_broken_file_is_not_changed(
    agent: str, name: str, content: bytes, message: str,
    install: Install, home: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.delenv("XDG_CONFIG_HOME")
    path = home / name
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    ran = install("--agent", agent, "--yes")
    assert ran.code == 2
    assert ran.out.startswith(f"{agent}: error: {path}")
    assert message in ran.out
    assert path.read_bytes() == content
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_a_read_only_file_is_not_changed(install: Install, home: Path) -> None:
    path = write(home, ".cursor/mcp.json", SERVERS)
    path.chmod(0o444)
    ran = install("--agent", "cursor", "--yes")
    assert ran.code == 2
    assert f"cursor: error: {path} is read-only; make it writable" in ran.out
    assert path.read_text() == SERVERS
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@pytest.mark.slow
def test_a_read_only_folder_is_an_error(project: Path, home: Path) -> None:
    path = write(home, ".cursor/mcp.json", SERVERS)
    path.parent.chmod(0o555)
    words = ("install", "--root", project, "--agent", "cursor", "--yes")
    ran = rootle(*words, unprivileged=True)
    path.parent.chmod(0o755)
    assert ran.code == 2
    assert f"error: cannot write {path}: Permission denied" in ran.out
    assert path.read_text() == SERVERS


def test_a_folder_with_the_name_of_the_file_is_an_error(install: Install, home: Path) -> None:
    (home / ".cursor/mcp.json").mkdir(parents=True)
    assert "is not a regular file" in install("--agent", "cursor", "--yes").out


def test_the_old_text_is_recorded_privately_outside_the_folder(
    install: Install, home: Path
) -> None:
    path = write(home, ".cursor/mcp.json", SERVERS)
    path.chmod(0o600)
    assert install("--agent", "cursor", "--yes").code == 0
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    record = install_records_path()
    assert json.loads(record.read_text())["files"][str(path)]["before"] == SERVERS
    assert [stat.st_mode & 0o777 for stat in (path.stat(), record.stat())] == [0o600, 0o600]


@pytest.mark.parametrize("scope", ["user", "project"])
def test_new_files_of_a_user_are_private_and_those_of_a_project_follow_the_umask(
    scope: str, install: Install, home: Path, project: Path
) -> None:
    previous = os.umask(0o002)
    try:
        assert install("--agent", "cursor", "--scope", scope, "--yes").code == 0
    finally:
        os.umask(previous)
    folder = (home if scope == "user" else project) / ".cursor"
    modes = [path.stat().st_mode & 0o777 for path in (folder, folder / "mcp.json")]
    assert modes == ([0o700, 0o600] if scope == "user" else [0o775, 0o664])


def test_a_link_stays_a_link(install: Install, home: Path) -> None:
    path = write(home, "dotfiles/cursor.json", SERVERS)
    (home / ".cursor").mkdir()
    (home / ".cursor/mcp.json").symlink_to(path)
    assert install("--agent", "cursor", "--yes").code == 0
    assert (home / ".cursor/mcp.json").is_symlink()
    assert COMMAND in path.read_text()


def test_a_link_that_points_outside_the_project_is_refused(
    install: Install, home: Path, project: Path
) -> None:
    path = write(home, "elsewhere.json", SERVERS)
    (project / ".mcp.json").symlink_to(path)
    ran = install("--agent", "claude-code", "--scope", "project", "--yes")
    assert ran.code == 2
    assert "is a link that points outside the project; nothing was changed" in ran.out
    assert path.read_text() == SERVERS


def test_an_entry_that_starts_another_program_is_kept(install: Install, home: Path) -> None:
    path = write(home, ".cursor/mcp.json", OTHER)
    ran = install("--agent", "cursor", "--yes")
    assert ran.code == 2
    assert f"the entry 'rootle' in {path} starts another program; rename or" in ran.out
    assert install("--agent", "cursor", "--yes", command="uninstall").code == 0
    assert path.read_text() == OTHER


@pytest.mark.parametrize(
    ("agent", "name", "before", "after"),
    [
        (
            "cursor",
            ".cursor/mcp.json",
            '{"mcpServers": {\n  "rootle": {\n    "command": "/old/bin/rootle", // mine\n'
            '    "args": ["mcp"], "env": {"ROOTLE_LOG": "debug"}, "disabled": true\n  }\n}}\n',
            '{"mcpServers": {\n  "rootle": {\n    "command": "/opt/rootle/bin/rootle", // mine\n'
            '    "args": ["mcp", "--root", "${workspaceFolder}"], '
            '"env": {"ROOTLE_LOG": "debug"}, "disabled": true\n  }\n}}\n',
        ),
        (
            "codex",
            ".codex/config.toml",
            '[mcp_servers.rootle]\n# mine\ncommand = "/v/bin/python"\nargs = [\n  "-m", "rootle",\n'
            '  "mcp",\n]\ntool_timeout_sec = 9\n\n[mcp_servers.rootle.env]\ncommand = "x"\n[tui]\n',
            '[mcp_servers.rootle]\n# mine\ncommand = "/opt/rootle/bin/rootle"\nargs = ["mcp"]\n'
            'tool_timeout_sec = 9\n\n[mcp_servers.rootle.env]\ncommand = "x"\n[tui]\n',
        ),
        (
            "goose",
            ".config/goose/config.yaml",
            "extensions:\n    rootle:\n        cmd: /old/rootle # mine\n        args:\n"
            "        - mcp\n        type: stdio\n        enabled: false\n    other:\n        x: 1",
            "extensions:\n    rootle:\n"
            '        cmd: "/opt/rootle/bin/rootle" # mine\n        args:\n'
            "        - mcp\n        type: stdio\n        enabled: false\n    other:\n        x: 1",
        ),
    ],
    ids=["json", "toml", "yaml"],
)
def test_only_the_command_of_an_existing_entry_is_updated(
    agent: str, name: str, before: str, after: str,
    install: Install, home: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.delenv("XDG_CONFIG_HOME")
    path = write(home, name, before)
    assert f"{path}: entry updated" in install("--agent", agent, "--yes").out
    assert path.read_text() == after


def test_an_existing_entry_keeps_its_position_in_a_newer_format(
    install: Install, project: Path
) -> None:
    path = project / "opencode.json"
    words = ("--agent", "opencode", "--yes")
    assert install(*words, "--scope", "project").code == 0
    path.write_text(path.read_text().replace('"mcp": {', '"mcp": {\n    "servers": {},'))
    assert install(*words, "--scope", "project").out == "opencode: nothing to do\n"
    assert "entry removed" in install(*words, command="uninstall").out
    assert path.read_text() == '{\n  "mcp": {\n    "servers": {}\n  }\n}\n'


def test_uninstalling_keeps_later_edits_by_the_user(install: Install, home: Path) -> None:
    path = write(home, ".cursor/mcp.json", SERVERS)
    assert install("--agent", "cursor", "--yes").code == 0
    edited = path.read_text().replace(
        "    }\n  }\n}", '    }, // ours\n    // and this\n    "mine": {"command": "x"}\n  }\n}'
    )
    path.write_text(edited)
    assert install("--yes", command="uninstall").code == 0
    assert path.read_text() == (
        '{\n  "mcpServers": {\n    // and this\n    "mine": {"command": "x"}\n  }\n}\n'
    )


def test_uninstalling_finds_every_agent_and_scope(
    install: Install, home: Path, project: Path
) -> None:
    assert install("--agent", "codex", "--agent", "opencode", "--yes").code == 0
    assert install("--agent", "cursor", "--scope", "project", "--yes").code == 0
    ran = install("--yes", command="uninstall")
    assert ran.code == 0
    report = [line for line in ran.out.splitlines() if line[:1] not in "+-@"]
    assert [line.partition(":")[0] for line in report] == ["codex", "cursor", "opencode"]
    assert f"{project}/AGENTS.md: file deleted" in report[1]
    files = [name for top in (home / ".codex", home / "config", project) for name in top.rglob("*")]
    assert [path for path in files if path.is_file()] == []
    assert (
        install("--yes", command="uninstall").out
        == "nothing to do: rootle is not installed in any agent\n"
    )


def test_the_error_for_an_unsupported_scope_names_the_supported_one(install: Install) -> None:
    ran = install("--agent", "kiro", "--scope", "user")
    assert ran.out.endswith(
        "Kiro has no configuration file for --scope user; use --scope project\n"
    )
    assert "use --scope user" in install("--agent", "goose", "--scope", "project").out


@pytest.mark.slow
def test_a_project_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    ran = rootle("install", "--agent", "codex", "--root", tmp_path / "nowhere")
    assert (ran.code, ran.err) == (2, f"rootle: {tmp_path}/nowhere: no such folder\n")


def test_a_project_installation_warns_if_rootle_is_not_on_the_path(install: Install) -> None:
    ran = install("--agent", "codex", "--scope", "project", "--dry-run")
    assert "rootle is not on the PATH" in ran.err


def test_a_file_that_changed_before_the_confirmation_is_not_overwritten(tmp_path: Path) -> None:
    path = write(tmp_path, "settings.json", "{}")
    edit = FileEdit(path, b"{ }", b'{"a": 1}')
    with pytest.raises(InstallError, match="changed by another program; run the command again"):
        write_edit(edit)
    assert path.read_text() == "{}"
