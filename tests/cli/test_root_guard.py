"""Commands ask before they index all files of the user."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

import pytest
from command import command_line, rootle
from polling import TIMEOUT_S
from sample import write

pytestmark = pytest.mark.slow

# If the guard breaks, a test must not index the machine that it runs on.
READ_ONLY = ("--set", "enableIndexing=false")
COMMANDS = (("search", "quagga", "--root"), ("index",), ("watch",))


@pytest.fixture
def user_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "users/me"
    write(home, "diary.md", "The quagga is a secret.\n")
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_all_files_of_the_user_are_not_indexed_without_a_terminal(
    command: tuple[str, ...], user_home: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(user_home)
    for folder in (Path("/"), user_home.parent, user_home, tmp_path / "link"):
        outcome = rootle(*command, folder, "--index-dir", tmp_path / "index", *READ_ONLY)
        assert outcome.code == 2
        assert outcome.err == (
            f"rootle: {folder} contains all your files, so nothing was indexed; pass the folder "
            "of a project, or --yes to index all of it\n"
        )
    assert not (tmp_path / "index").exists()


def test_the_home_folder_is_neither_added_nor_indexed_for_links(
    user_home: Path, tmp_path: Path
) -> None:
    project = write(tmp_path, "project/a.py", "quagga = 1\n").parent
    outcome = rootle("add", user_home, "--root", project)
    assert outcome.code == 2
    assert "contains all your files" in outcome.err
    assert rootle("sources", "--root", project).out == ""
    outcome = rootle("show", "--links", "diary.md", "--root", user_home)
    assert outcome.code == 2
    assert "contains all your files" in outcome.err
    assert rootle("status", user_home).code == 1
    assert rootle("add", user_home, "--root", project, "--yes").code == 0


def test_a_work_tree_in_the_home_folder_counts_too(user_home: Path) -> None:
    (user_home / ".git").mkdir()
    (user_home / "notes").mkdir()
    outcome = rootle("search", "quagga", cwd=user_home / "notes")
    assert outcome.code == 2
    assert str(user_home) in outcome.err


def test_all_files_of_the_user_are_indexed_on_request(user_home: Path) -> None:
    assert rootle("index", "--dry-run", user_home).code == 0
    assert rootle("status", user_home).code == 1
    outcome = rootle("search", "quagga", "--root", user_home, "--yes", "--json")
    assert outcome.paths == ["diary.md"]


@pytest.mark.parametrize(("reply", "code"), [(b"y\n", 0), (b"n\n", 2), (b"\n", 2)])
def test_a_user_at_a_terminal_is_asked(reply: bytes, code: int, user_home: Path) -> None:
    terminal, stdin = pty.openpty()
    process = subprocess.Popen(
        command_line("index", user_home), stdin=stdin, stderr=subprocess.PIPE, text=True
    )
    os.close(stdin)
    with open(terminal, "wb", buffering=0) as keyboard:
        keyboard.write(reply)
        _, errors = process.communicate(timeout=TIMEOUT_S)
    assert f"index all of {user_home}, which contains all your files? [y/N]" in errors
    assert process.returncode == code


def test_no_module_of_the_current_folder_is_imported(tmp_path: Path, repository: Path) -> None:
    for name in ("numpy.py", "Stemmer.py", "platformdirs.py", "watchfiles.py", "mcp.py"):
        write(tmp_path, name, "raise SystemExit('imported from the current folder')\n")
    outcome = rootle("search", "retry_backoff", "--root", repository, cwd=tmp_path, preloaded=False)
    assert (outcome.code, outcome.err) == (0, "")


def test_the_installed_command_imports_no_package_of_the_current_folder(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rootle.agents.launch_command import installed_command

    (tmp_path / "scripts").mkdir()
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path / "scripts"))
    write(tmp_path, "rootle/__init__.py", "raise SystemExit('imported the wrong rootle')\n")
    write(tmp_path, "typing.py", "raise SystemExit('imported the wrong typing')\n")
    command = [*installed_command(), "search", "retry_backoff", "--root", str(repository)]
    assert os.path.isabs(command[0])
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert (done.returncode, done.stderr) == (0, "")


def test_workers_import_no_module_of_the_current_folder(tmp_path: Path) -> None:
    for name in ("tree_sitter.py", "numpy.py", "signal.py"):
        write(tmp_path, name, "raise SystemExit('imported from the current folder')\n")
    for number in range(40):
        write(tmp_path, f"large{number}.txt", f"line {number}\n" * 5_000)
    outcome = rootle("index", cwd=tmp_path, preloaded=False)
    assert (outcome.code, outcome.err) == (0, "")
