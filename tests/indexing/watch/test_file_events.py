"""What events mean: a file, everything, git, a note, or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from rootle.indexing.watch.file_events import DELETED, FileChanges, WatchedPaths, interpret
from rootle.sources.git.git_dirs import GitFolders, find_git_folders

PLACES = WatchedPaths("/r", "/r/.cache", "/r/.cache/watch", GitFolders("/r/.git", "/r/.git"))
FOLDERS = frozenset({"", "src"})
WRITTEN = 2


def heard(*events: tuple[int, str]) -> FileChanges:
    return interpret(events, PLACES, FOLDERS)


def test_files_are_named_relative_to_the_root() -> None:
    events = [(WRITTEN, "/r/a.py"), (DELETED, "/r/src/b.py")]
    assert heard(*events) == FileChanges(paths=frozenset({"a.py", "src/b.py"}))


@pytest.mark.parametrize(
    "path",
    [
        *("/r/.gitignore", "/r/src/.ignore", "/r/.rootleignore", "/r/.gitmodules"),
        *("/r/src/.git", "/r/src/CACHEDIR.TAG", "/r/.git/info/exclude"),
        *("/.gitignore", "/r", "/r/src"),
    ],
)
def test_rules_and_folders_ask_for_a_look_at_everything(path: str) -> None:
    assert heard((DELETED, path)) == FileChanges(is_whole=True)


def test_a_new_folder_asks_for_a_look_at_everything(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    places = WatchedPaths(str(tmp_path), "/x", "/x/watch", None)
    assert interpret([(1, str(tmp_path / "new"))], places, FOLDERS).is_whole


@pytest.mark.parametrize("name", ["HEAD", "index", "logs/HEAD", "config"])
def test_what_git_writes_down_may_mean_something(name: str) -> None:
    assert heard((WRITTEN, f"/r/.git/{name}")) == FileChanges(is_git=True)


@pytest.mark.parametrize(
    "path",
    [
        *("/r/.git/index.lock", "/r/.git/FETCH_HEAD", "/r/node_modules", "/r/node_modules/x/a.js"),
        *("/r/src/__pycache__/a.pyc", "/r/.cache/rootle.db", "/elsewhere/a.py"),
        "/r/node_modules/x/.gitignore",
    ],
)
def test_noise_means_nothing(path: str) -> None:
    assert heard((WRITTEN, path)) == FileChanges()


def test_notes_of_other_processes_are_told_apart() -> None:
    events = [(1, "/r/.cache/watch/question-1-0"), (DELETED, "/r/.cache/watch/question-1-1")]
    assert heard(*events) == FileChanges(notes=frozenset({"question-1-0"}))


def test_the_folders_of_a_linked_work_tree_are_two(tmp_path: Path) -> None:
    own = tmp_path / "main/.git/worktrees/side"
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
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
