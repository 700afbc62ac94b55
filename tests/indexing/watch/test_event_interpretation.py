"""Interpretation of events as changed files, a rescan, git metadata, requests, or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from rootle.indexing.watch.event_interpretation import (
    DELETED,
    FileChanges,
    WatchedPaths,
    interpret_events,
)
from rootle.sources.git.git_dirs import GitFolders, find_git_folders

WATCHED = WatchedPaths("/r", "/r/.cache", "/r/.cache/watch", GitFolders("/r/.git", "/r/.git"))
FOLDERS = frozenset({"", "src"})
CREATED, WRITTEN = 1, 2


def interpret(*events: tuple[int, str]) -> FileChanges:
    return interpret_events(events, WATCHED, FOLDERS)


def test_changed_files_are_named_relative_to_the_root() -> None:
    events = [(WRITTEN, "/r/a.py"), (DELETED, "/r/src/b.py")]
    assert interpret(*events) == FileChanges(paths=frozenset({"a.py", "src/b.py"}))


@pytest.mark.parametrize(
    "path",
    [
        *("/r/.gitignore", "/r/src/.ignore", "/r/.rootleignore", "/r/.gitmodules"),
        *("/r/src/.git", "/r/src/CACHEDIR.TAG", "/r/.git/info/exclude"),
        *("/.gitignore", "/r", "/r/src"),
    ],
)
def test_changes_to_ignore_rules_and_folders_need_a_rescan(path: str) -> None:
    assert interpret((DELETED, path)) == FileChanges(needs_rescan=True)


def test_tracked_files_in_an_excluded_folder_are_changes() -> None:
    folders = FOLDERS | {".cargo"}
    events = [(WRITTEN, "/r/.cargo/config.toml"), (WRITTEN, "/r/.cargo/registry/a.rs")]
    found = interpret_events(events, WATCHED, folders)
    assert found == FileChanges(paths=frozenset({".cargo/config.toml"}))


def test_a_new_folder_needs_a_rescan(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    watched = WatchedPaths(str(tmp_path), "/x", "/x/watch", None)
    assert interpret_events([(CREATED, str(tmp_path / "new"))], watched, FOLDERS).needs_rescan


@pytest.mark.parametrize("name", ["HEAD", "index", "logs/HEAD", "config"])
def test_git_metadata_may_mean_a_change(name: str) -> None:
    assert interpret((WRITTEN, f"/r/.git/{name}")) == FileChanges(touches_git=True)


@pytest.mark.parametrize(
    "path",
    [
        *("/r/.git/index.lock", "/r/.git/FETCH_HEAD", "/r/node_modules", "/r/node_modules/x/a.js"),
        *("/r/src/__pycache__/a.pyc", "/r/.cache/rootle.db", "/elsewhere/a.py"),
        "/r/node_modules/x/.gitignore",
    ],
)
def test_events_for_excluded_files_are_ignored(path: str) -> None:
    assert interpret((WRITTEN, path)) == FileChanges()


def test_new_files_in_the_inbox_are_reported_separately_from_changes() -> None:
    events = [(CREATED, "/r/.cache/watch/1-0.request"), (DELETED, "/r/.cache/watch/1-1.request")]
    assert interpret(*events) == FileChanges(inbox_names=frozenset({"1-0.request"}))


def test_a_linked_work_tree_has_two_git_folders(tmp_path: Path) -> None:
    own = tmp_path / "main/.git/worktrees/side"
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
    (own / "gitdir").write_text(f"{tmp_path}/side/.git\n")
    side = tmp_path / "side"
    side.mkdir()
    (side / ".git").write_text(f"gitdir: {own}\n")
    assert find_git_folders(str(side)) == GitFolders(str(own), str(tmp_path / "main/.git"))


def test_git_is_busy_while_it_holds_its_lock(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    folders = find_git_folders(str(tmp_path))
    assert folders is not None
    assert not folders.is_busy
    (tmp_path / ".git/index.lock").touch()
    assert folders.is_busy
