"""Named pipes in place of files that git or rootle opens do not block an answer."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from pathlib import Path

import pytest
from commit_reader import read_last_commits
from sample import OLD_S, git, make_repository, write

from rootle import SearchResponse, open_app
from rootle.errors import SourceError
from rootle.sources.files.discovery import WalkRules, walk_files
from rootle.sources.git import commit_text, history, repository
from rootle.sources.git.command import GitOutput, run_git

# Seconds after which a test fails. A test takes about a second if nothing waits for a pipe.
_WATCHDOG_S = 60
_PIPES = (
    *(".gitignore", "src/.gitignore", ".ignore", ".rootleignore", ".gitattributes", ".gitmodules"),
    *(".mailmap", ".git/info/exclude", ".git/info/attributes", ".git/config", ".git/HEAD"),
    *(".git/index", ".git/packed-refs", ".git/refs/heads/main", ".git/objects/pack/x.idx"),
    *(".git/commondir", ".git/shallow", ".git/objects/info/alternates", ".git/config.worktree"),
    *(".git/info/grafts", ".git/MERGE_HEAD", "src/.git", "pyvenv.cfg", "src/CACHEDIR.TAG"),
)


@pytest.fixture(autouse=True)
def _unlimited_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the time limits of git, so that a test fails if anything waits for a pipe."""
    for name in ("_LIST_TIMEOUT_S", "_DIFF_TIMEOUT_S", "_QUICK_TIMEOUT_S"):
        monkeypatch.setattr(repository, name, 100_000)
    for module in (commit_text, history):
        monkeypatch.setattr(module, "_TIMEOUT_S", 100_000)


@pytest.mark.slow
@pytest.mark.parametrize("pipe", _PIPES)
def test_a_named_pipe_blocks_neither_search_nor_read(pipe: str, tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repo")
    sha = git(root, "rev-parse", "HEAD").strip()
    (root / pipe).unlink(missing_ok=True)
    (root / pipe).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(root / pipe)
    write(root, "README.md", "# Changed\n", when_s=OLD_S + 5)
    answers: list[SearchResponse] = []

    def ask() -> None:
        with open_app(root, index_dir=tmp_path / "index") as app:
            answers.append(app.search("validateToken"))
            with contextlib.suppress(SourceError):
                app.read(sha)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(_WATCHDOG_S)

    assert not thread.is_alive()
    assert answers[0].results[0].file_path == "src/auth/token.ts"


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["core.excludesFile", "include.path", "core.attributesFile"])
def test_a_named_pipe_in_a_setting_does_not_block_git(setting: str, tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repo")
    os.mkfifo(tmp_path / "pipe")
    git(root, "config", setting, tmp_path / "pipe")
    write(root, "README.md", "# Changed\n", when_s=OLD_S + 5)
    thread = threading.Thread(target=lambda: walk_files(root, WalkRules()), daemon=True)
    thread.start()
    thread.join(_WATCHDOG_S)

    assert not thread.is_alive()


def test_authors_are_known_without_a_readable_mailmap(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repo")
    os.mkfifo(root / ".mailmap")

    assert read_last_commits(root)["README.md"].author == "t <t@example.com>"


@pytest.mark.slow
def test_a_program_that_outlives_git_does_not_block_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_repository(tmp_path / "repo")
    script = f"#!/bin/sh\nsleep {2 * _WATCHDOG_S} &\necho $! >{tmp_path}/pid\necho so far\nwait\n"
    program = write(tmp_path, "bin/git", script)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin{os.pathsep}{os.environ['PATH']}")
    found: list[GitOutput] = []
    thread = threading.Thread(
        target=lambda: found.append(run_git(os.fspath(root), "log", timeout_s=0.2)), daemon=True
    )
    thread.start()
    thread.join(_WATCHDOG_S)
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)

    assert found[0].timed_out
    assert found[0].stdout == b"so far\n"
