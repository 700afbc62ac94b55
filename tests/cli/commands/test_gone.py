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


def test_an_answer_from_no_commits_or_some_says_so_first(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    make_repository(root)
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"searchAgent": {"enableIndexing": False}}))
    options = ("--root", root, "--index-dir", tmp_path / "index")
    read_only = (*options, "--config", config)
    assert rootle("index", root, "--index-dir", tmp_path / "index").code == 0

    nothing = rootle("gone", "parse_legacy", *read_only)
    data = json.loads(rootle("gone", "parse_legacy", "--json", *read_only).out)
    searches = [
        rootle("search", question, *read_only)
        for question in ("in:history format", "commits by t", "when was parse_legacy removed")
    ]

    assert nothing.code == 1
    for done in (nothing, *searches):
        assert done.err.startswith("rootle: no commits were searched: enableIndexing is false"), (
            done.err
        )
    assert "no removed code matches" not in nothing.err
    assert (data["degraded"], data["searchedCommits"]) == (["history"], 0)

    assert rootle("gone", "parse_legacy", *options).code == 0
    # Another size: git does not notice a change within one second if size and time are the same.
    write(root, "reader.py", "version = 3.1\n")
    git(root, "commit", "-qam", "Raise the version")
    some = rootle("gone", "zebra", *read_only)
    assert some.err.startswith("rootle: only 2 commits were searched: enableIndexing is false")
    assert "no removed code matches in the part of the history that was searched" in some.err
