"""Head commits and changes as git reports them, without running configured programs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from commit_reader import read_last_commits

from rootle.sources.git import command
from rootle.sources.git.command import run_git
from rootle.sources.git.repository import (
    has_unreadable_head,
    head_commit,
    ignored_paths,
    list_changed_files,
)

_START = 1_700_000_000


@pytest.fixture(autouse=True)
def _plain_git(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path_factory.mktemp("config") / "gitconfig"
    config.write_text("[user]\n\tname = t\n\temail = t@example.com\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.fspath(config))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def _git(folder: Path, *arguments: str | Path, env: dict[str, str] | None = None) -> None:
    environment = {**os.environ, **(env or {})}
    command = ["git", "-C", folder, *arguments]
    subprocess.run(command, check=True, capture_output=True, env=environment)


def _commit(root: Path, day: int, **files: str) -> None:
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    date = f"@{_START + day} +0000"
    _git(root, "add", ".")
    _git(
        root,
        *("commit", "-q", "--allow-empty", "-m", f"day\n\n{day}"),
        env={"GIT_COMMITTER_DATE": date, "GIT_AUTHOR_DATE": date},
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    _git(root, "init", "-q")
    _commit(root, 1, a="1", b="1", sub__c="1")
    _commit(root, 2, b="2")
    _commit(root, 3)
    return root


def test_paths_are_relative_to_the_root(repository: Path) -> None:
    (repository / "sub/c").write_text("changed")
    (repository / "a").write_text("changed")

    assert list_changed_files(repository / "sub") == {"c"}


def test_unusual_file_names_are_preserved(repository: Path) -> None:
    names = [b"x\ny", b"\nz", b"\x01q", b"\xff", b"a b", b"12"]
    for name in names:
        with open(os.path.join(os.fsencode(repository), name), "wb"):
            pass
    _commit(repository, 5)

    for name in names:
        with open(os.path.join(os.fsencode(repository), name), "wb") as file:
            file.write(b"more")
    assert list_changed_files(repository) == {os.fsdecode(name) for name in names}


def test_staged_changed_and_deleted_files_differ_from_the_last_commit(repository: Path) -> None:
    (repository / "a").write_text("changed")
    (repository / "b").unlink()
    (repository / "new").write_text("new")
    (repository / "untracked").write_text("new")
    _git(repository, "add", "new")
    (repository / "sub/c").touch()

    assert list_changed_files(repository) == {"a", "b", "new"}


def test_there_is_no_commit_outside_git_and_before_the_first_commit(tmp_path: Path) -> None:
    assert head_commit(tmp_path) is None
    assert not has_unreadable_head(os.fspath(tmp_path))
    assert list_changed_files(tmp_path) == set()
    _git(tmp_path, "init", "-q")
    assert head_commit(tmp_path) is None
    assert not has_unreadable_head(os.fspath(tmp_path))
    assert list_changed_files(tmp_path) == set()


def test_commits_are_unreadable_if_git_is_not_installed(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")

    assert head_commit(repository) is None
    assert has_unreadable_head(os.fspath(repository))
    assert list_changed_files(repository) == set()


def test_programs_configured_in_a_repository_are_not_run(repository: Path) -> None:
    trap = repository / "trap.sh"
    trap.write_text(f"#!/bin/sh\necho $0 $* >>{repository}/ran\ncat\n")
    trap.chmod(0o755)
    (repository / ".gitattributes").write_text("* filter=a=b diff=x\n")
    _commit(repository, 6)
    for name in (
        *("core.fsmonitor", "core.pager", "diff.external", "diff.x.command", "diff.x.textconv"),
        *("filter.a=b.clean", "filter.a=b.process", "gpg.program", "core.sshCommand"),
    ):
        _git(repository, "config", name, trap)
    _git(repository, "config", "log.showSignature", "true")
    _git(repository, "config", "filter.a=b.required", "true")
    (repository / "a").write_text("changed")
    (repository / "ran").unlink(missing_ok=True)

    changed = list_changed_files(repository)
    commits = read_last_commits(repository)

    assert "a" in changed
    assert "a" in commits
    assert not (repository / "ran").exists()
    subprocess.run(["git", "-C", repository, "status"], check=False, capture_output=True)
    assert (repository / "ran").exists()  # an ordinary git command runs the programs


def test_user_settings_in_the_environment_apply(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "rootle.test")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "yes")
    arguments = ("config", "--get", "rootle.test")

    assert run_git(os.fspath(repository), *arguments, timeout_s=10).stdout == b"yes\n"
    assert run_git(os.fspath(repository / "gone"), *arguments, timeout_s=10).returncode == 127


@pytest.mark.slow
def test_all_paths_are_compared_if_git_takes_longer_than_half_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _git(tmp_path, "init", "-q")
    (tmp_path / ".gitignore").write_text("*.log\n")
    # The input is larger than the buffer of a pipe, which contains 64 kB.
    paths = [
        f"folder/of/logs/number{number}.{end}" for number in range(5_000) for end in ("log", "py")
    ]
    monkeypatch.setattr(command, "_STALL_S", 0.0)

    ignored = ignored_paths(os.fspath(tmp_path), paths)

    assert ignored == {path for path in paths if path.endswith(".log")}
