"""The files that a walk returns in git work trees of every kind."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from rootle.errors import IngestError
from rootle.sources.files.discovery import WalkRules, walk_files
from rootle.sources.files.file_listing import filter_ignored, list_paths, list_tree


@pytest.fixture(autouse=True)
def _plain_git(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path_factory.mktemp("config") / "gitconfig"
    config.write_text(
        '[user]\n\tname = t\n\temail = t@example.com\n[protocol "file"]\n\tallow = always\n'
        "[init]\n\tdefaultBranch = main\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.fspath(config))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def _git(folder: Path, *arguments: str | Path) -> None:
    subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True)


def _write(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(f"{path}\n")


def _make_repository(root: Path, *paths: str) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    _git(root, "init", "-q")
    _write(root, *paths)
    _git(root, "add", "-f", ".")
    _git(root, "commit", "-q", "--allow-empty", "-m", "first")
    return root


def _paths(root: Path) -> list[str]:
    walk = walk_files(root, WalkRules())
    assert list_tree(os.path.realpath(root)).in_git
    return [entry.uri for entry in walk.documents]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return _make_repository(tmp_path / "repo", "a.py", "sub/b.py")


def test_tracked_and_new_files_are_listed_and_ignored_ones_are_not(repository: Path) -> None:
    (repository / ".gitignore").write_text("*.log\n.gitignore\n")
    _write(repository, "new.py", "x.log", "tracked.log")
    _git(repository, "add", "-f", "tracked.log")

    assert _paths(repository) == ["a.py", "new.py", "sub/b.py", "tracked.log"]


def test_global_and_private_excludes_apply(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "excludes").write_text("*.bak\n")
    _git(repository, "config", "--global", "core.excludesFile", tmp_path / "excludes")
    (repository / ".git/info/exclude").write_text("mine/\n")
    _write(repository, "x.bak", "mine/x.py")

    assert _paths(repository) == ["a.py", "sub/b.py"]


def test_paths_are_relative_to_a_subfolder_as_root(repository: Path) -> None:
    _write(repository, "sub/new.py")

    assert _paths(repository / "sub") == ["b.py", "new.py"]


def test_deleted_files_are_not_listed(repository: Path) -> None:
    (repository / "a.py").unlink()

    assert _paths(repository) == ["sub/b.py"]


def test_a_file_in_conflict_is_listed_once(repository: Path) -> None:
    _git(repository, "checkout", "-q", "-b", "other")
    (repository / "a.py").write_text("other\n")
    _git(repository, "commit", "-q", "-am", "other")
    _git(repository, "checkout", "-q", "-")
    (repository / "a.py").write_text("main\n")
    _git(repository, "commit", "-q", "-am", "main")
    subprocess.run(["git", "-C", repository, "merge", "other"], check=False, capture_output=True)

    assert _paths(repository) == ["a.py", "sub/b.py"]


def test_a_nested_rootleignore_applies_even_if_git_ignores_it(repository: Path) -> None:
    (repository / "sub/.rootleignore").write_text("*.py\n")
    (repository / ".git/info/exclude").write_text(".rootleignore\n")
    assert not [path for path in list_tree(str(repository)).files if path.startswith("sub/")]
    assert list_paths(str(repository), ["sub/keep.py"]) is not None
    assert filter_ignored(str(repository), ["sub/keep.py"]) == {"sub/keep.py"}


def test_rootleignore_excludes_tracked_files(repository: Path) -> None:
    _write(repository, "sub/deep/c.py", "sub/keep.py")
    (repository / ".rootleignore").write_text("/a.py\n.rootleignore\n")
    (repository / "sub/.rootleignore").write_text("*.py\n!keep.py\n.*\n")
    (repository / ".git/info/exclude").write_text("/.rootleignore\n")

    assert _paths(repository) == ["sub/keep.py"]


@pytest.mark.slow
def test_an_initialized_submodule_is_listed_by_its_own_rules(
    repository: Path, tmp_path: Path
) -> None:
    library = _make_repository(tmp_path / "lib", "lib.py", ".gitignore")
    (library / ".gitignore").write_text("*.out\n")
    _git(library, "commit", "-q", "-am", "rules")
    _git(repository, "submodule", "add", "-q", library, "vendor/lib")
    _write(repository, "vendor/lib/new.py", "vendor/lib/x.out")
    found = [path for path in _paths(repository) if path.startswith("vendor/")]

    assert found == ["vendor/lib/.gitignore", "vendor/lib/lib.py", "vendor/lib/new.py"]
    _git(repository, "submodule", "deinit", "-f", "vendor/lib")
    assert [path for path in _paths(repository) if path.startswith("vendor/")] == []


def test_an_untracked_nested_repository_is_listed(repository: Path) -> None:
    _make_repository(repository / "inner", "in.py")
    _make_repository(repository / "inner/deep", "deep.py")

    assert _paths(repository) == ["a.py", "inner/deep/deep.py", "inner/in.py", "sub/b.py"]


def test_a_nested_repository_without_commits_is_listed(repository: Path) -> None:
    _git(repository, "init", "-q", "inner")
    _write(repository, "inner/new.py")

    assert _paths(repository) == ["a.py", "inner/new.py", "sub/b.py"]


@pytest.mark.slow
def test_a_linked_worktree_with_a_submodule_is_listed(repository: Path, tmp_path: Path) -> None:
    library = _make_repository(tmp_path / "lib", "lib.py")
    _git(repository, "submodule", "add", "-q", library, "vendor/lib")
    _git(repository, "commit", "-q", "-m", "library")
    _git(repository, "worktree", "add", "-q", tmp_path / "tree")
    _git(tmp_path / "tree", "submodule", "update", "-q", "--init")

    assert "vendor/lib/lib.py" in _paths(tmp_path / "tree")


def test_a_root_that_is_a_link_belongs_to_the_work_tree_of_its_target(
    repository: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(repository / "sub")
    (repository / ".gitignore").write_text("*.log\n")
    _write(repository, "sub/x.log")

    assert _paths(tmp_path / "link") == ["b.py"]


def test_a_linked_worktree_is_listed_only_as_a_root(repository: Path) -> None:
    _git(repository, "worktree", "add", "-q", "trees/x")
    _write(repository, "trees/x/new.py")

    assert _paths(repository / "trees/x") == ["a.py", "new.py", "sub/b.py"]
    assert _paths(repository) == ["a.py", "sub/b.py"]


def test_only_the_files_on_disk_are_listed_in_a_sparse_checkout(repository: Path) -> None:
    _write(repository, "other/c.py")
    _git(repository, "add", ".")
    _git(repository, "commit", "-q", "-m", "more")
    _git(repository, "sparse-checkout", "set", "--cone", "other")

    walk = walk_files(repository, WalkRules())

    assert [entry.uri for entry in walk.documents] == ["a.py", "other/c.py"]
    assert walk.skips == ()


def test_tracked_links_are_skipped(repository: Path) -> None:
    (repository / "loop").symlink_to(".")
    _git(repository, "add", "loop")

    walk = walk_files(repository, WalkRules())

    assert [(skip.uri, skip.reason) for skip in walk.skips] == [("loop", "symlink")]


def test_a_tracked_path_behind_a_link_is_not_listed(repository: Path, tmp_path: Path) -> None:
    _write(tmp_path, "outside/b.py")
    shutil.rmtree(repository / "sub")
    (repository / "sub").symlink_to(tmp_path / "outside")

    assert _paths(repository) == ["a.py"]


def test_an_ignored_folder_that_is_the_root_is_listed(repository: Path) -> None:
    (repository / ".gitignore").write_text("build\n")
    _write(repository, "build/x.py", "build/y.tmp")
    (repository / "build/.gitignore").write_text("*.tmp\n.*\n")

    walk = walk_files(repository / "build", WalkRules())

    assert [entry.uri for entry in walk.documents] == ["x.py"]
    assert not list_tree(str(repository / "build")).in_git


def test_files_in_excluded_folders_are_listed_only_if_git_tracks_them(repository: Path) -> None:
    _write(repository, "node_modules/x.js", "venv/pyvenv.cfg", "venv/lib/y.py")
    _write(repository, "old/node_modules/z.js")
    _git(repository, "add", "old")

    assert _paths(repository) == ["a.py", "old/node_modules/z.js", "sub/b.py"]


@pytest.mark.parametrize("inside", [".git", ".git/objects"])
def test_the_git_folder_itself_is_refused(inside: str, repository: Path) -> None:
    with pytest.raises(IngestError, match="is a git directory"):
        walk_files(repository / inside, WalkRules())


def test_a_bare_repository_is_refused(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", tmp_path / "bare"], check=True)

    with pytest.raises(IngestError, match="no work tree"):
        walk_files(tmp_path / "bare", WalkRules())


def _expect_own_walk(root: Path, caplog: pytest.LogCaptureFixture, message: str) -> list[str]:
    with caplog.at_level(logging.WARNING):
        walk = walk_files(root, WalkRules())
    assert message in caplog.text
    assert not list_tree(str(root)).in_git
    return [entry.uri for entry in walk.documents]


def test_ignore_files_apply_without_git_installed(
    repository: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (repository / ".gitignore").write_text("*.log\n.*\n/sub/x.py\n")
    (repository / ".git/info/exclude").write_text("*.bak\n")
    _write(repository, "x.log", "sub/x.log", "sub/x.bak", "sub/x.py")
    monkeypatch.setenv("PATH", "")

    assert _expect_own_walk(repository, caplog, "not installed") == ["a.py", "sub/b.py"]
    assert _expect_own_walk(repository / "sub", caplog, "not installed") == ["b.py"]


def test_a_repository_of_another_user_is_walked_without_git(
    repository: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    if os.geteuid() == 0:
        os.chown(repository, 12345, -1)
        os.chown(repository / ".git", 12345, -1)
    else:
        pytest.skip("only root can change the owner of a folder")

    assert _expect_own_walk(repository, caplog, "dubious ownership") == ["a.py", "sub/b.py"]


def test_a_damaged_repository_is_walked_without_git(
    repository: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (repository / ".git/index").write_bytes(b"no index")

    assert _expect_own_walk(repository, caplog, "index file") == ["a.py", "sub/b.py"]


def test_a_program_configured_in_the_repository_is_not_run(repository: Path) -> None:
    hook = repository / "hook.sh"
    hook.write_text(f"#!/bin/sh\ntouch {repository}/ran\n")
    hook.chmod(0o755)
    _git(repository, "config", "core.fsmonitor", hook)

    walk_files(repository, WalkRules())

    assert not (repository / "ran").exists()
    subprocess.run(["git", "-C", repository, "status"], check=True, capture_output=True)
    assert (repository / "ran").exists()  # git itself runs the hook


def test_environment_variables_of_a_calling_git_are_ignored(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = _make_repository(tmp_path / "other", "o.py")
    monkeypatch.setenv("GIT_DIR", os.fspath(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", os.fspath(other / ".git/index"))
    monkeypatch.setenv("GIT_WORK_TREE", os.fspath(other))

    assert _paths(repository) == ["a.py", "sub/b.py"]


def test_ignored_paths_are_found_although_a_link_has_replaced_a_folder(repository: Path) -> None:
    (repository / ".gitignore").write_text("*.log\n")
    (repository / "folder").mkdir()
    (repository / "link").symlink_to("folder")
    paths = {"link/a.py", "link/deep/a.log", "a.log", "a.py"}
    assert filter_ignored(os.fspath(repository), paths) == {"link/deep/a.log", "a.log"}


def test_a_path_that_looks_like_a_pattern_is_compared_as_a_name(repository: Path) -> None:
    (repository / ".gitignore").write_text("*.log\n")
    paths = {":!a.log", ":(icase)b.log", ":/c.py", "d.py"}
    assert filter_ignored(os.fspath(repository), paths) == {":!a.log", ":(icase)b.log"}


def test_a_path_of_any_depth_is_compared_with_the_ignore_files(repository: Path) -> None:
    (repository / ".rootleignore").write_text("private.py\n")
    folder = "/".join(["deep"] * 1_500)
    paths = {f"{folder}/private.py", f"{folder}/open.py"}
    assert filter_ignored(os.fspath(repository), paths) == {f"{folder}/private.py"}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16-le", "utf-16-be"])
def test_a_rootleignore_file_may_have_any_encoding_of_windows(
    encoding: str, repository: Path
) -> None:
    mark = "" if encoding == "utf-8-sig" else "\ufeff"
    text = f"{mark}# Größe\r\nprivé.py\r\n"
    (repository / ".rootleignore").write_bytes(text.encode(encoding))
    paths = {"privé.py", "open.py"}
    assert filter_ignored(os.fspath(repository), paths) == {"privé.py"}
