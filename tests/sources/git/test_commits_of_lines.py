"""git lists the commits that changed lines of a file once for each state of a repository."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import monotonic

import pytest
from commit_repository import commit_all, make_history
from sample import git, write

from rootle.sources.git.lines import commits_of_lines
from rootle.sources.git.lines.commits_of_lines import ChangeLog, CommittedLines

pytestmark = pytest.mark.slow


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_history(tmp_path / "repo", ["Alpha is new"])
    write(root, "alpha.py", "def alpha_0():\n    return 'longer text'\n")
    commit_all(root, "Lengthen", day=1)
    return root


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """The arguments of each git command that was run."""
    commands: list[Sequence[str]] = []
    read_log = commits_of_lines._read_log

    def record(
        top: str, arguments: Sequence[str], deadline_s: float
    ) -> commits_of_lines.LoggedChanges:
        commands.append(arguments)
        return read_log(top, arguments, deadline_s)

    monkeypatch.setattr(commits_of_lines, "_read_log", record)
    return commands


def changes(log: ChangeLog, root: Path, *, timeout_s: float = 60.0) -> int:
    head = git(root, "rev-parse", "HEAD").strip()
    lines = [CommittedLines("alpha.py", 1, 2)]
    return len(log.list_range_changes(str(root), head, lines, monotonic() + timeout_s).commits)


def test_the_same_lines_are_asked_of_git_once(root: Path, asked: list[Sequence[str]]) -> None:
    log = ChangeLog()

    assert changes(log, root) == changes(log, root) == 2
    assert len(asked) == 1


def test_a_new_commit_is_noticed(root: Path) -> None:
    log = ChangeLog()
    assert changes(log, root) == 2
    write(root, "alpha.py", "def alpha_0():\n    return 'a still longer text'\n")
    commit_all(root, "Lengthen again", day=2)

    assert changes(log, root) == 3


def test_an_answer_that_git_had_no_time_for_is_not_kept(root: Path) -> None:
    log = ChangeLog()
    changes(log, root, timeout_s=-1.0)

    assert changes(log, root) == 2


def test_old_answers_are_dropped(root: Path, asked: list[Sequence[str]]) -> None:
    log = ChangeLog()
    head = git(root, "rev-parse", "HEAD").strip()
    for number in range(40):
        log.list_path_changes(str(root), head, f"part_{number}.py", monotonic() + 60)
    log.list_path_changes(str(root), head, "part_39.py", monotonic() + 60)
    assert len(asked) == 40
    log.list_path_changes(str(root), head, "part_0.py", monotonic() + 60)
    assert len(asked) == 41
