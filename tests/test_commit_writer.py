"""Commits that the tests write without git are those that git writes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from commit_writer import init_repository, write_commit
from sample import OLD_S, git, write

_AUTHOR = "Zoë Old <zoe@x.org>"
_MESSAGE = "Open the pen\n\nThe zebra waited.\nIt is *hungry*."
_LISTINGS = (
    *(("rev-parse", "HEAD"), ("ls-files", "--stage"), ("reflog", "--all"), ("branch", "-v")),
    *(("log", "--format=fuller", "--stat"), ("config", "--local", "--list")),
)


def _write_first(root: Path) -> None:
    write(root, "pen.py", "OPEN = True\n")
    write(root, "pen/zebra.py", "import pen\n")
    write(root, "pen.d/hay", "much " * 1_000)
    write(root, "pen/ä b.txt", b"\xff\r\n")
    write(root, "run.sh", "#!/bin/sh\n").chmod(0o755)
    (root / "link").symlink_to("pen/zebra.py")


def _write_second(root: Path) -> None:
    write(root, "pen.py", "OPEN = False\n")
    (root / "pen/zebra.py").rename(root / "zebra.py")


def test_a_repository_is_the_one_that_git_makes(tmp_path: Path) -> None:
    own, expected = tmp_path / "own", tmp_path / "expected"
    init_repository(own)
    expected.mkdir()
    git(expected, "init", "-q", "-b", "main")
    commits = []
    changes: list[Callable[[Path], object]] = [_write_first, _write_second, Path.stat]
    for day, change in enumerate(changes):
        change(own)
        change(expected)
        message = f"{_MESSAGE}{day}"
        commits.append(write_commit(own, message, _AUTHOR, OLD_S + day))
        git(expected, "add", "-A")
        options = ("-q", "--allow-empty", f"--author={_AUTHOR}", "-m", message)
        git(expected, "commit", *options, when_s=OLD_S + day)

    assert [git(own, *words) for words in _LISTINGS] == [
        git(expected, *words) for words in _LISTINGS
    ]
    assert git(own, "log", "--reverse", "--format=%H").split() == commits
    assert git(own, "status", "--porcelain") == ""
    assert git(own, "fsck", "--strict", "--no-dangling") == ""
    write(own, "pen.py", "OPEN = None\n")
    assert git(own, "status", "--porcelain") == " M pen.py\n"


def _leave_branch(root: Path) -> None:
    git(root, "checkout", "-q", "--detach")


def _pack_branches(root: Path) -> None:
    git(root, "pack-refs", "--all")


def _ignore_file(root: Path) -> None:
    write(root, "below/.gitignore", "*.tmp\n")


def _exclude_file(root: Path) -> None:
    (root / ".git/info/exclude").write_text("*.tmp\n")


def _nest_repository(root: Path) -> None:
    git(root, "init", "-q", "nested")


def _set_encoding(root: Path) -> None:
    git(root, "config", "i18n.commitEncoding", "latin-1")


@pytest.mark.parametrize(
    "change",
    [_leave_branch, _pack_branches, _ignore_file, _exclude_file, _nest_repository, _set_encoding],
)
def test_a_repository_with_other_settings_needs_git(
    change: Callable[[Path], None], tmp_path: Path
) -> None:
    init_repository(tmp_path / "repo")
    write(tmp_path / "repo", "pen.py", "OPEN = True\n")
    assert write_commit(tmp_path / "repo", "First", _AUTHOR, OLD_S)

    change(tmp_path / "repo")

    assert write_commit(tmp_path / "repo", "Second", _AUTHOR, OLD_S + 1) is None


def test_a_merge_needs_git(tmp_path: Path) -> None:
    init_repository(tmp_path / "repo")
    write_commit(tmp_path / "repo", "First", _AUTHOR, OLD_S)
    git(tmp_path / "repo", "checkout", "-q", "-b", "side")
    write_commit(tmp_path / "repo", "Side", _AUTHOR, OLD_S)
    git(tmp_path / "repo", "checkout", "-q", "main")
    git(tmp_path / "repo", "merge", "-q", "--no-ff", "--no-commit", "side")

    assert write_commit(tmp_path / "repo", "Merge", _AUTHOR, OLD_S) is None


@pytest.mark.parametrize("message", ["", " a", "a ", "a \nb", "a\n\n\nb", "a\udcff"])
def test_a_message_that_git_changes_needs_git(message: str, tmp_path: Path) -> None:
    init_repository(tmp_path)

    assert write_commit(tmp_path, message, _AUTHOR, OLD_S) is None


def test_an_author_may_have_one_letter(tmp_path: Path) -> None:
    init_repository(tmp_path)

    assert write_commit(tmp_path, "First", "t <t@example.com>", OLD_S)


@pytest.mark.parametrize("author", ["'Ada' <a@x.org>", "Ada. <a@x.org>", "Ada", "<a@x.org>"])
def test_an_author_that_git_changes_needs_git(author: str, tmp_path: Path) -> None:
    init_repository(tmp_path)

    assert write_commit(tmp_path, "First", author, OLD_S) is None
