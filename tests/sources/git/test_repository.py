"""Commits, authors and changes as git reports them, without running configured programs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from rootle.sources.git.command import run_git
from rootle.sources.git.repository import (
    LastCommits,
    head_commit,
    is_ancestor,
    last_commits,
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


def times_of(commits: LastCommits) -> dict[str, int]:
    return {path: commit.seconds for path, commit in commits.by_path.items()}


def test_each_file_has_the_time_of_its_last_commit(repository: Path) -> None:
    found = last_commits(repository, None)

    assert found is not None
    assert found.head == head_commit(repository)
    assert times_of(found) == {"a": _START + 1, "b": _START + 2, "sub/c": _START + 1}


def test_the_mailmap_applies_to_the_author_of_the_last_commit_of_a_file(
    repository: Path,
) -> None:
    (repository / "b").write_text("5")
    _git(repository, "commit", "-qam", "x", "--author", "Zoë Old <zoe@old.example>")
    (repository / ".mailmap").write_text("Zoë New <zoe@new.example> <zoe@old.example>\n")

    found = last_commits(repository, None)

    assert found is not None
    assert found.by_path["a"].author == "t <t@example.com>"
    assert found.by_path["b"].author == "Zoë New <zoe@new.example>"


def test_only_commits_after_the_given_one_are_read(repository: Path) -> None:
    since = head_commit(repository)
    _commit(repository, 4, a="4")

    found = last_commits(repository, since)

    assert found is not None
    assert times_of(found) == {"a": _START + 4}
    assert last_commits(repository, found.head) is not None
    assert last_commits(repository, "0" * 40) is None
    assert last_commits(repository, "--output=x") is None


def test_a_commit_on_another_branch_is_not_an_ancestor(repository: Path) -> None:
    first = head_commit(repository)
    _commit(repository, 4, a="4")
    sibling = head_commit(repository)
    _git(repository, "reset", "-q", "--hard", "HEAD~1")
    _commit(repository, 5, a="5")
    head = head_commit(repository)

    assert first is not None
    assert sibling is not None
    assert head is not None
    assert is_ancestor(repository, first, head)
    assert not is_ancestor(repository, sibling, head)
    assert not is_ancestor(repository, "0" * 40, head)


def test_the_number_of_commits_and_the_time_are_limited(repository: Path) -> None:
    few = last_commits(repository, None, max_commits=2)
    none = last_commits(repository, None, timeout_s=0)

    assert few is not None
    assert times_of(few) == {"b": _START + 2}
    assert none is not None
    assert none.head == head_commit(repository)


def test_paths_are_relative_to_the_root(repository: Path) -> None:
    found = last_commits(repository / "sub", None)
    (repository / "sub/c").write_text("changed")
    (repository / "a").write_text("changed")

    assert found is not None
    assert times_of(found) == {"c": _START + 1}
    assert list_changed_files(repository / "sub") == {"c"}


def test_unusual_file_names_are_preserved(repository: Path) -> None:
    names = [b"x\ny", b"\nz", b"\x01q", b"\xff", b"a b", b"12"]
    for name in names:
        with open(os.path.join(os.fsencode(repository), name), "wb"):
            pass
    _commit(repository, 5)
    found = last_commits(repository, None, max_commits=1)

    assert found is not None
    assert times_of(found) == {os.fsdecode(name): _START + 5 for name in names}
    for name in names:
        with open(os.path.join(os.fsencode(repository), name), "wb") as file:
            file.write(b"more")
    assert list_changed_files(repository) == {os.fsdecode(name) for name in names}


def test_a_merge_commit_does_not_count_as_a_change(repository: Path) -> None:
    _git(repository, "checkout", "-q", "-b", "side")
    _commit(repository, 4, side="4")
    _git(repository, "checkout", "-q", "-")
    _commit(repository, 5, main="5")
    _git(repository, "merge", "-q", "--no-ff", "-m", "merge", "side")
    _git(repository, "config", "log.diffMerges", "first-parent")

    found = last_commits(repository, None)

    assert found is not None
    assert times_of(found)["side"] == _START + 4


def test_staged_changed_and_deleted_files_differ_from_the_last_commit(repository: Path) -> None:
    (repository / "a").write_text("changed")
    (repository / "b").unlink()
    (repository / "new").write_text("new")
    (repository / "untracked").write_text("new")
    _git(repository, "add", "new")
    (repository / "sub/c").touch()

    assert list_changed_files(repository) == {"a", "b", "new"}


def test_there_is_no_history_outside_git_and_before_the_first_commit(tmp_path: Path) -> None:
    assert head_commit(tmp_path) is None
    assert last_commits(tmp_path, None) is None
    assert list_changed_files(tmp_path) == set()
    _git(tmp_path, "init", "-q")
    assert head_commit(tmp_path) is None
    assert last_commits(tmp_path, None) is None
    assert list_changed_files(tmp_path) == set()


def test_there_is_no_history_if_git_is_not_installed(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")

    assert head_commit(repository) is None
    assert last_commits(repository, None) is None
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
    times = last_commits(repository, None)

    assert "a" in changed
    assert times is not None
    assert not (repository / "ran").exists()
    subprocess.run(["git", "-C", repository, "status"], check=False, capture_output=True)
    assert (repository / "ran").exists()  # git itself runs them


def test_a_partial_clone_is_read_without_fetching(repository: Path, tmp_path: Path) -> None:
    _git(repository, "config", "uploadpack.allowFilter", "true")
    _commit(repository, 7, a="7")
    clone = tmp_path / "clone"
    _git(tmp_path, "clone", "-q", "--filter=tree:0", f"file://{repository}", clone)

    found = last_commits(clone, None)

    assert found is None or times_of(found).get("a", _START + 7) == _START + 7
    missing = ("rev-list", "--objects", "--missing=print", "--all")
    assert b"\n?" in run_git(os.fspath(clone), *missing, timeout_s=10).stdout


def test_user_settings_in_the_environment_apply(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "rootle.test")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "yes")
    arguments = ("config", "--get", "rootle.test")

    assert run_git(os.fspath(repository), *arguments, timeout_s=10).stdout == b"yes\n"
    assert run_git(os.fspath(repository / "gone"), *arguments, timeout_s=10).returncode == 127
