"""Lists of commits that git makes without reading whole changes into rootle."""

from __future__ import annotations

import os
from pathlib import Path

from commit_repository import commit_all
from sample import git, write

from rootle.sources.git.commits.commit_list import list_commits_with_text


def test_a_merge_that_only_combines_branches_does_not_change_how_often_a_text_occurs(
    tmp_path: Path,
) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    write(tmp_path, "a.py", "zebra = 1\n")
    first = commit_all(tmp_path, "First", day=0)
    git(tmp_path, "checkout", "-q", "-b", "side")
    write(tmp_path, "b.py", "zebra = zebra\n")
    side = commit_all(tmp_path, "Side", day=1)
    git(tmp_path, "checkout", "-q", "main")
    write(tmp_path, "c.py", "unrelated = 1\n")
    commit_all(tmp_path, "Main", day=2)
    git(tmp_path, "merge", "-q", "--no-ff", "side", "-m", "Merge")

    def find(max_count: int = 9) -> list[str]:
        counted = list_commits_with_text(
            os.fspath(tmp_path), "zebra", max_count=max_count, timeout_s=60
        )
        assert counted.is_complete == (len(counted.hashes) < max_count)
        return list(counted.hashes)

    assert find() == [side, first]
    assert find(1) == [side]

    write(tmp_path, "c.py", "unrelated = zebra\n")
    git(tmp_path, "commit", "-q", "-a", "--amend", "-m", "Merge with a change of its own")
    assert find() == [git(tmp_path, "rev-parse", "HEAD").strip(), side, first]
