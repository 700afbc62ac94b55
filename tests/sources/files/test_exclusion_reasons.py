"""Each file that is not listed is explained by the rule that excludes it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from sample import write_tree

from rootle.sources.files.exclusion_reasons import explain_exclusions
from rootle.sources.files.file_listing import list_tree

TREE = {
    ".gitignore": "# outputs\nbuild/\n*.log\n!keep.log\n",
    ".rootleignore": "private/*\n!private/shared.txt\n",
    "build/made.py": "x",
    "app/main.py": "x",
    "app/debug.log": "x",
    "app/keep.log": "x",
    "app/.gitignore": "local.*\n",
    "app/local.cfg": "x",
    "app/deep/local.py": "x",
    "private/notes.txt": "x",
    "private/shared.txt": "x",
    "node_modules/pad/index.js": "x",
    "cache/CACHEDIR.TAG": "x",
    "cache/entry.bin": "x",
}
EXPECTED = {
    "build": "`build/` in .gitignore:2",
    "build/made.py": "`build/` in .gitignore:2",
    "app/debug.log": "`*.log` in .gitignore:3",
    "app/local.cfg": "`local.*` in app/.gitignore:1",
    "app/deep/local.py": "`local.*` in app/.gitignore:1",
    "private/notes.txt": "`private/*` in .rootleignore:1",
    "node_modules": "the name of the folder node_modules",
    "node_modules/pad/index.js": "the name of the folder node_modules",
    "cache": "the file cache/CACHEDIR.TAG",
    "cache/CACHEDIR.TAG": "the file cache/CACHEDIR.TAG",
    "cache/entry.bin": "the file cache/CACHEDIR.TAG",
}


@pytest.fixture(params=["git", "folder"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    write_tree(tmp_path / "repo", TREE)
    if request.param == "git":
        subprocess.run(["git", "init", "-q", tmp_path / "repo"], check=True)
    return tmp_path / "repo"


def test_exactly_the_unlisted_files_have_a_reason(root: Path) -> None:
    listed = set(list_tree(os.fspath(root)).files)
    reasons = explain_exclusions(os.fspath(root), {*TREE, *EXPECTED, "absent.py", "app"})
    assert reasons == EXPECTED
    assert {path for path in TREE if path in reasons} == set(TREE) - listed


def test_without_paths_the_entries_of_the_folder_are_explained(root: Path) -> None:
    assert explain_exclusions(os.fspath(root)) == {
        path: rule for path, rule in EXPECTED.items() if "/" not in path
    }
    assert explain_exclusions(os.fspath(root / "absent")) == {}


def test_tracked_files_are_only_excluded_by_rootleignore(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    write_tree(root, TREE)
    for command in (["init", "-q"], ["add", "--force", "--all"]):
        subprocess.run(["git", "-C", root, *command], check=True)
    assert explain_exclusions(os.fspath(root), [*TREE, "build", "node_modules"]) == {
        "private/notes.txt": EXPECTED["private/notes.txt"]
    }


def test_rules_above_the_indexed_folder_and_outside_the_tree_are_named(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    write_tree(root, {".gitignore": "*.tmp\n", "sub/a.tmp": "x", "sub/b.own": "x", ":c.own": "x"})
    subprocess.run(["git", "init", "-q", root], check=True)
    (root / ".git" / "info" / "exclude").write_text("*.own\n")
    assert explain_exclusions(os.fspath(root / "sub"), ["a.tmp", "b.own"]) == {
        "a.tmp": "`*.tmp` in ../.gitignore:1",
        "b.own": "`*.own` in ../.git/info/exclude:1",
    }
    assert explain_exclusions(os.fspath(root), [":c.own"]) == {
        ":c.own": "`*.own` in .git/info/exclude:1"
    }
    os.symlink(root / "sub", root / "link")
    assert explain_exclusions(os.fspath(root), ["link/a.tmp"]) == {}


def test_a_folder_that_git_ignores_is_listed_without_the_rules_above_it(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    files = {".gitignore": "out\nalso/*\n", "out/a.py": "x", "out/b.log": "x", "also/c.py": "x"}
    write_tree(root, {**files, "out/.gitignore": "*.log\n"})
    subprocess.run(["git", "init", "-q", root], check=True)
    assert explain_exclusions(os.fspath(root / "out"), ["a.py", "b.log"]) == {
        "b.log": "`*.log` in .gitignore:1"
    }
    assert explain_exclusions(os.fspath(root / "also")) == {"c.py": "`also/*` in ../.gitignore:2"}


def test_the_rules_of_nested_repositories_are_named(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    inner = {".gitignore": "*.log\n", "a.log": "x", "a.py": "x", "node_modules/b.js": "x"}
    write_tree(root, {".gitignore": "gone\n"})
    for folder in (".hidden", "gone"):
        write_tree(root / folder, inner)
        subprocess.run(["git", "init", "-q", root / folder], check=True)
    subprocess.run(["git", "-C", root / ".hidden", "add", "node_modules/b.js"], check=True)
    subprocess.run(["git", "init", "-q", root], check=True)
    paths = [f"{folder}/{path}" for folder in (".hidden", "gone") for path in inner]
    assert explain_exclusions(os.fspath(root), paths) == {
        ".hidden/a.log": "`*.log` in .hidden/.gitignore:1",
        **{f"gone/{path}": "`gone` in .gitignore:1" for path in inner},
    }


def test_paths_outside_the_folder_have_no_reason(root: Path) -> None:
    os.symlink(root / "app", root / "link")
    outside = [f"../{root.name}/app/debug.log", "app/../../repo/app", "/", "", "app//debug.log"]
    assert explain_exclusions(os.fspath(root), [*outside, "link/debug.log", "app/debug.log"]) == {
        "app/debug.log": EXPECTED["app/debug.log"]
    }


def test_a_rule_in_any_encoding_is_shown_in_short(tmp_path: Path) -> None:
    ignore = f"secret\r\n{'*' * 500}.data\r\n"
    write_tree(tmp_path, {"secret": "x", "a.data": "x"})
    (tmp_path / ".rootleignore").write_bytes(ignore.encode("utf-16"))
    found = explain_exclusions(os.fspath(tmp_path))
    assert found["secret"] == "`secret` in .rootleignore:1"
    assert found["a.data"].startswith("`****")
    assert len(found["a.data"]) < 120
