"""`rootle impact`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import rootle
from commit_repository import commit_files
from commit_writer import init_repository
from sample import OLD_S, git, write

pytestmark = pytest.mark.slow


def make_repository(root: Path) -> None:
    init_repository(root)
    for number in range(4):
        for path in ("price.py", "docs.md"):
            write(root, path, f"version_{number} = {number}\n", when_s=OLD_S + number)
        commit_files(root, f"Change {number}", when_s=OLD_S + number * 86_400)


def test_the_files_and_their_evidence_are_printed(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    make_repository(root)
    options = ("--root", root, "--index-dir", tmp_path / "index")

    done = rootle("impact", root / "price.py", *options)
    assert done.code == 0, done.err
    first, limit, second, third = done.out.splitlines()[:4]
    assert first == "together with price.py:"
    assert limit == "  (without commits that changed 30 or more files)"
    assert second.endswith("%  docs.md (document)")
    assert third.strip().startswith("changed together in 4 of 4 commits: ")
    assert "Change 3" in third

    write(root, "price.py", "version = 'next'\n", when_s=None)
    data = json.loads(rootle("impact", "--json", "-n", "1", *options).out)
    assert data["seeds"] == ["price.py"]
    assert [(one["path"], one["cochanges"]) for one in data["files"]] == [("docs.md", 4)]
    diff = write(tmp_path, "change.diff", git(root, "diff"))
    assert json.loads(rootle("impact", "--json", diff, *options).out)["seeds"] == ["price.py"]
    piped = diff.read_bytes() + b"+# caf\xe9\n"  # not valid UTF-8
    assert rootle("impact", "--json", "-", *options, stdin=piped).data["seeds"] == ["price.py"]
    git(root, "checkout", "-q", "price.py")
    nothing = rootle("impact", *options)
    assert nothing.code == 2
    assert "no file has changed" in nothing.err
