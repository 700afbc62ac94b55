"""Commits are read newest first, with the files that they changed."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path

import pytest
from commit_reader import read_last_commits
from commit_repository import commit_files
from sample import git, write

from rootle.sources.git.command import run_git
from rootle.sources.git.history import (
    digest_history_facts,
    find_base,
    list_committed_files,
    open_log,
    read_head_state,
)

_START_S = 1_700_000_000
_WATCHDOG_S = 60


def commit(root: Path, day: int, **files: str) -> str:
    """Commit files and return the hash of the commit. "__" in a name becomes "/"."""
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return commit_files(root, f"day\n\n{day}", when_s=_START_S + day)


def head_of(root: Path) -> str:
    return git(root, "rev-parse", "HEAD").strip()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, 1, a="1", b="1", sub__c="1")
    commit(folder, 2, b="2")
    commit(folder, 3)
    return folder


def read_days(root: Path) -> dict[str, int]:
    return {path: found.seconds - _START_S for path, found in read_last_commits(root).items()}


def test_each_file_has_the_time_of_its_last_commit(root: Path) -> None:
    assert read_days(root) == {"a": 1, "b": 2, "sub/c": 1}


def test_the_mailmap_applies_to_the_author_of_the_last_commit_of_a_file(root: Path) -> None:
    (root / "b").write_text("5")
    git(root, "commit", "-qam", "x", "--author", "Zoë Old <zoe@old.example>")
    (root / ".mailmap").write_text("Zoë New <zoe@new.example> <zoe@old.example>\n")

    found = read_last_commits(root)

    assert found["a"].author == "t <t@example.com>"
    assert found["b"].author == "Zoë New <zoe@new.example>"


def test_paths_are_relative_to_the_folder(root: Path) -> None:
    assert read_days(root / "sub") == {"c": 1}
    assert list_committed_files(os.fspath(root / "sub"), head_of(root)) == ["c"]


def test_unusual_file_names_are_preserved(root: Path) -> None:
    names = [b"x\ny", b"\nz", b"\x01q", b"\xff", b"a b", b"12", b"M", b"MM", b"0" * 40 + b" 1 x"]
    for name in names:
        with open(os.path.join(os.fsencode(root), name), "wb"):
            pass
    commit(root, 5)

    found = read_days(root)

    assert {os.fsencode(path) for path, day in found.items() if day == 5} == set(names)
    assert len(found) == len(names) + 3


def test_a_merge_changes_only_the_files_that_differ_from_all_parents(root: Path) -> None:
    git(root, "checkout", "-q", "-b", "side")
    commit(root, 4, side="4", a="4")
    git(root, "checkout", "-q", "main")
    commit(root, 5, main="5", a="5")
    with pytest.raises(subprocess.CalledProcessError):
        git(root, "merge", "-q", "side")
    commit(root, 6, a="6", M="only in the merge")
    git(root, "config", "log.diffMerges", "first-parent")

    assert read_days(root) == {"side": 4, "main": 5, "a": 6, "M": 6, "b": 2, "sub/c": 1}


def test_a_renamed_file_was_changed_by_the_commit_that_renamed_it(root: Path) -> None:
    (root / "a").rename(root / "moved")
    commit(root, 7)

    assert read_days(root)["moved"] == 7


def test_settings_do_not_change_the_history(root: Path) -> None:
    before = read_last_commits(root)
    for name, value in (
        *(("log.showRoot", "false"), ("log.date", "iso"), ("diff.renames", "copies")),
        *(("i18n.logOutputEncoding", "UTF-16"), ("log.follow", "true"), ("diff.relative", "no")),
    ):
        git(root, "config", name, value)

    assert read_last_commits(root) == before


def test_a_date_beyond_all_calendars_is_limited(root: Path) -> None:
    (root / "a").write_text("future")
    text = git(root, "cat-file", "commit", "HEAD").replace(f"{_START_S + 3} ", f"{10**18} ")
    prepared = write(root.parent, "commit", text)
    sha = git(root, "hash-object", "-t", "commit", "-w", "--literally", prepared).strip()
    git(root, "update-ref", "HEAD", sha)

    with open_log(os.fspath(root), sha) as log:
        assert next(iter(log)).facts.seconds <= 253_402_300_799


def test_the_first_commits_can_be_skipped(root: Path) -> None:
    with open_log(os.fspath(root), head_of(root), skip=2) as log:
        commits = list(log)

    assert [sorted(found.paths) for found in commits] == [["a", "b", "sub/c"]]
    assert log.is_complete


def test_a_log_that_another_thread_stops_is_not_complete(root: Path) -> None:
    with open_log(os.fspath(root), head_of(root)) as log:
        threading.Thread(target=log.stop).start()
        list(log)
        log.stop()

    assert not log.has_failed


def test_a_program_that_holds_the_output_open_does_not_block_a_stopped_log(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = f"#!/bin/sh\nsleep {2 * _WATCHDOG_S} &\necho $! >{tmp_path}/pid\nwait\n"
    write(tmp_path, "bin/git", script).chmod(0o755)
    sha = head_of(root)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin{os.pathsep}{os.environ['PATH']}")
    with open_log(os.fspath(root), sha) as log:
        reader = threading.Thread(target=lambda: list(log), daemon=True)
        reader.start()
        log.stop()
        reader.join(_WATCHDOG_S)
        is_alive = reader.is_alive()
    if (tmp_path / "pid").exists() and (pid := (tmp_path / "pid").read_text().strip()):
        os.kill(int(pid), 9)

    assert not is_alive


def test_a_partial_clone_is_read_without_fetching(root: Path, tmp_path: Path) -> None:
    git(root, "config", "uploadpack.allowFilter", "true")
    commit(root, 7, a="7")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--filter=tree:0", f"file://{root}", clone)

    with open_log(os.fspath(clone), head_of(clone)) as log:
        commits = list(log)

    assert log.has_failed
    assert len(commits) < 4
    missing = ("rev-list", "--objects", "--missing=print", "--all")
    assert b"\n?" in run_git(os.fspath(clone), *missing, timeout_s=10).stdout


def test_the_base_of_a_later_commit_is_the_earlier_one(root: Path) -> None:
    known = head_of(root)
    commit(root, 4, a="4")
    head = commit(root, 5, b="5")

    assert find_base(os.fspath(root), known, head, max_commits=2) == known
    assert find_base(os.fspath(root), known, head, max_commits=1) is None
    assert find_base(os.fspath(root), "0" * 40, head, max_commits=9) is None
    assert find_base(os.fspath(root), "--output=x", head, max_commits=9) is None


def test_the_base_precedes_the_start_of_a_merged_branch(root: Path) -> None:
    start = head_of(root)
    git(root, "checkout", "-q", "-b", "side")
    commit(root, 4, side="4")
    git(root, "checkout", "-q", "main")
    known = commit(root, 5, main="5")
    git(root, "merge", "-q", "--no-ff", "-m", "merge", "side")

    assert find_base(os.fspath(root), known, head_of(root), max_commits=9) == start


def test_the_base_of_two_branches_is_their_last_common_commit(root: Path) -> None:
    start = head_of(root)
    known = commit(root, 4, a="4")
    git(root, "reset", "-q", "--hard", start)
    head = commit(root, 5, a="5")

    assert find_base(os.fspath(root), known, head, max_commits=9) == start


def test_unrelated_histories_have_no_base(root: Path) -> None:
    known = head_of(root)
    git(root, "checkout", "-q", "--orphan", "other")
    head = commit(root, 4, a="4")
    assert find_base(os.fspath(root), known, head, max_commits=9) is None

    git(root, "merge", "-q", "--allow-unrelated-histories", "-s", "ours", "-m", "x", known)
    assert find_base(os.fspath(root), known, head_of(root), max_commits=9) is None


def test_the_state_of_the_head_changes_with_the_commit(root: Path) -> None:
    folder = os.fspath(root)
    states = [read_head_state(folder)]
    commit(root, 4, a="4")
    states.append(read_head_state(folder))
    git(root, "pack-refs", "--all")
    git(root, "checkout", "-q", "--detach", "HEAD~1")
    states.append(read_head_state(folder))

    assert len(set(states)) == 3
    assert read_head_state(folder) == states[-1]


def test_the_state_of_the_head_follows_an_alias_of_a_branch(root: Path) -> None:
    branch = git(root, "symbolic-ref", "--short", "HEAD").strip()
    git(root, "symbolic-ref", "refs/heads/alias", f"refs/heads/{branch}")
    git(root, "symbolic-ref", "HEAD", "refs/heads/alias")
    before = read_head_state(os.fspath(root))
    git(root, "update-ref", f"refs/heads/{branch}", "HEAD~1")
    assert read_head_state(os.fspath(root)) != before


def test_the_facts_of_a_history_change_with_the_mailmap_and_the_depth(
    root: Path, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{root}", tmp_path / "clone")
    folder = os.fspath(tmp_path / "clone")
    digests = [digest_history_facts(folder)]
    write(tmp_path / "clone", ".mailmap", "A <a@example.com> <b@example.com>\n")
    digests.append(digest_history_facts(folder))
    git(tmp_path / "clone", "fetch", "-q", "--unshallow")
    digests.append(digest_history_facts(folder))

    assert len(set(digests)) == 3
