"""`rootle gone`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import rootle
from sample import git, write

pytestmark = pytest.mark.slow

TEXT = "def parse_legacy(line):\n    legacy_fields = line.split(';')\n    return legacy_fields[0]\n"


def make_repository(root: Path) -> str:
    git(root.parent, "init", "-q", root)
    for message, text in (("Add", TEXT), ("Drop the old format", "version = 2\n")):
        write(root, "reader.py", text)
        git(root, "add", "-A")
        git(root, "commit", "-qm", message)
    return git(root, "rev-parse", "HEAD").strip()


def test_the_removed_code_and_its_commit_are_printed(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    sha = make_repository(root)
    options = ("--root", root, "--index-dir", tmp_path / "index")

    done = rootle("gone", "parse", "legacy", *options)
    assert done.code == 0, done.err
    assert done.out.splitlines()[:3] == [
        "reader.py:1  parse_legacy",
        f"  removed by {sha[:12]} 2023-11-14 t: Drop the old format",
        "  -def parse_legacy(line):",
    ]
    data = json.loads(rootle("gone", "parse_legacy", "-n", "1", "--json", *options).out)
    assert [one["commit"]["hash"] for one in data["removals"]] == [sha]
    nothing = rootle("gone", "zebra", *options)
    assert (nothing.code, nothing.out) == (1, "")
    assert "no removed code matches" in nothing.err
