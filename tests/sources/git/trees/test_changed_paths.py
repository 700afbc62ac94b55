"""The files that differ between two commits."""

from __future__ import annotations

from pathlib import Path

from commit_repository import commit_all, make_history
from sample import git, write

from rootle.sources.git.trees.changed_paths import list_changed_paths


def test_paths_are_relative_to_the_folder_and_a_renamed_file_has_two(tmp_path: Path) -> None:
    root = make_history(tmp_path / "repo", ["Alpha is new"])
    write(root, "net/käse.py", "SIZE = 1\n")
    write(root, "net/old.py", "LIMIT = 2\n")
    commit_all(root, "Add the net", day=1)
    git(root, "tag", "v1")
    git(root, "mv", "net/old.py", "net/new.py")
    write(root, "net/käse.py", "SIZE = 3000\n")
    write(root, "alpha.py", "")
    commit_all(root, "Change it", day=2)

    below = frozenset({"käse.py", "old.py", "new.py"})
    below_root = frozenset({"alpha.py", *(f"net/{path}" for path in below)})
    assert list_changed_paths(str(root / "net"), "v1", "HEAD") == below
    assert list_changed_paths(str(root), "v1", "HEAD") == below_root
    assert list_changed_paths(str(root), "v1", "v1") == frozenset()
    assert list_changed_paths(str(root), "v1", "v9") is None
