"""The ignore rules agree with git on random trees."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rootle.sources.files import glob_matching
from rootle.sources.files.discovery import WalkRules, walk_files
from rootle.sources.files.filesystem_walk import walk_folder
from rootle.sources.files.ignore_rules import IgnoreFile

_NAMES = ["a", "b", "foo", "foo.c", "bar.d", "x.log", "a b", "[z]", "foo.bar.c", "build", "b!", "é"]
_ATOMS = [
    *("*", "?", "**", "*.c", "*.d", "*.bar.c", "foo", "bar", "a", "b", "build", "f*", "[ab]"),
    *("[!a]*", "[^a]*", "[a-f]oo", "[f-a]oo", "*.l?g", "fo\\o", "a b", "a\\ b", "\\[z]", "[[]z]"),
    *("[[:alpha:]]", "[[:nope:]]", "foo**", "**c", "[]a]", "[a", " ", "b! ", "b!\\ ", "é", "\\"),
]


def _pattern(rng: random.Random) -> str:
    pattern = "/".join(rng.choice(_ATOMS) for _ in range(rng.choice([1, 1, 1, 2, 2, 3])))
    pattern = "/" * (rng.random() < 0.2) + pattern + "/" * (rng.random() < 0.25)
    return "!" * (rng.random() < 0.3) + pattern + "\r" * (rng.random() < 0.05)


def _make_tree(root: Path, rng: random.Random) -> set[str]:
    files = set()
    for _ in range(30):
        path = root.joinpath(*(rng.choice(_NAMES) for _ in range(rng.choice([1, 2, 3]))))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("x")
        except OSError:  # a file has the path of a folder, or the reverse
            continue
        files.add(path.relative_to(root).as_posix())
    folders = [root, *(path for path in root.rglob("*") if path.is_dir())]
    for folder in rng.sample(folders, min(len(folders), rng.randint(1, 3))):
        lines = "\n".join(_pattern(rng) for _ in range(rng.randint(1, 6)))
        (folder / ".gitignore").write_text(lines)
        files.add((folder / ".gitignore").relative_to(root).as_posix())
    return files


def _list_ignored_by_git(root: Path, files: set[str]) -> set[str]:
    command = ["git", "-C", os.fspath(root), "check-ignore", "-z", "--no-index", "--stdin"]
    names = "\0".join(sorted(files)).encode()
    printed = subprocess.run(command, input=names, capture_output=True, check=False).stdout
    return {name for name in printed.decode().split("\0") if name}


@pytest.mark.parametrize("seed", range(60))
def test_both_walks_agree_with_git_check_ignore(seed: int, tmp_path: Path) -> None:
    files = _make_tree(tmp_path, random.Random(seed))
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    wanted = files - _list_ignored_by_git(tmp_path, files)

    assert {entry.uri for entry in walk_files(tmp_path, WalkRules()).documents} == wanted
    assert set(walk_folder(os.fspath(tmp_path)).files) == wanted


@pytest.mark.parametrize("seed", range(20))
def test_grouped_patterns_agree_with_git_check_ignore(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(glob_matching, "_MAX_UNGROUPED", 0)
    monkeypatch.setattr(glob_matching, "_MAX_ALTERNATIVES", 2)
    test_both_walks_agree_with_git_check_ignore(seed, tmp_path)


@pytest.mark.parametrize("seed", range(20))
def test_rootleignore_has_the_same_syntax_with_and_without_git(seed: int, tmp_path: Path) -> None:
    files = _make_tree(tmp_path, random.Random(seed))
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    kept = files - _list_ignored_by_git(tmp_path, files)
    for path in list(tmp_path.rglob(".gitignore")):
        path.rename(path.with_name(".rootleignore"))
    wanted = {path.replace(".gitignore", ".rootleignore") for path in kept}

    assert {entry.uri for entry in walk_files(tmp_path, WalkRules()).documents} == wanted
    assert set(walk_folder(os.fspath(tmp_path)).files) == wanted


@pytest.mark.parametrize(
    ("pattern", "path", "ignored"),
    [
        ("foo", "a/foo", True),
        ("/foo", "a/foo", None),
        ("a/foo", "b/a/foo", None),
        ("**/foo", "foo", True),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("a/**", "a", None),
        ("*.c", "a/.c", True),
        ("foo*", "foo\nbar", True),
        ("foo", "foo\n", None),
        ("!foo", "foo", False),
        ("\\!foo", "!foo", True),
        ("\\#foo", "#foo", True),
        ("# foo", "# foo", None),
        ("a[/]b", "a/b", None),
        ("\ufefffoo", "foo", True),
        ("[a-", "a", None),
        ("[&&||~~a]", "&", True),
        ("x[+-9]y", "x0y", True),
        ("a/[[:punct:]]b", "a/-b", True),
        ("[/]", "/", None),
        ("?" * 5_000, "a", None),
    ],
)
def test_a_pattern_matches_as_in_git(pattern: str, path: str, ignored: bool | None) -> None:
    assert IgnoreFile(pattern.encode()).verdict(path, is_folder=False) is ignored


def test_a_pattern_that_ends_with_a_slash_matches_only_folders() -> None:
    rules = IgnoreFile(b"build/")

    assert rules.verdict("a/build", is_folder=True) is True
    assert rules.verdict("a/build", is_folder=False) is None


def test_patterns_are_relative_to_the_folder_of_their_file() -> None:
    rules = IgnoreFile(b"/x.py", "a/b/")

    assert rules.verdict("a/b/x.py", is_folder=False) is True
    assert rules.verdict("a/b/c/x.py", is_folder=False) is None


def test_many_stars_do_not_hang() -> None:
    rules = IgnoreFile(b"*a*a*a*a*ab\n**/a*/**/a*/**/a*/**/a*/**/a*b/**/x")

    assert rules.verdict("a" * 250, is_folder=False) is None
    assert rules.verdict("/".join(["aaaaaaaa"] * 200), is_folder=False) is None
    assert rules.verdict("a" * 250 + "b", is_folder=False) is True


@pytest.mark.slow
@pytest.mark.parametrize(
    "rule", ["*a{}*b", "**/x{}/**", "[ab]x{}?", "common*{}*common", "/src/{}.txt", "a*a*a*a*{}"]
)
def test_many_rules_do_not_hang(rule: str) -> None:
    rules = IgnoreFile("\n".join(rule.format(line) for line in range(50_000)).encode())

    assert not any(rules.verdict(f"src/a{name}a", is_folder=False) for name in range(0, 9_000, 300))
    match = rule.format(38_888).replace("**/", "").replace("[ab]", "a").strip("/").strip("*")
    assert rules.verdict(match.replace("**", "y").replace("*", "a").replace("?", "y"), False)


@pytest.mark.slow
def test_rules_without_a_literal_part_do_not_hang() -> None:
    rng = random.Random(1)
    lines = {"".join(rng.choice("ab*") for _ in range(12)) + "b" for _ in range(50_000)}
    rules = IgnoreFile("\n".join(sorted(lines)).encode())

    for _ in range(20):
        assert rules.verdict("".join(rng.choices("abcd", k=20)) + "c", is_folder=False) is None


@pytest.mark.slow
@given(
    st.lists(st.text("ab*?[]!-^\\/:. \n\ré\0", max_size=12), max_size=8).map("\n".join),
    st.text("ab.-/é", min_size=1, max_size=10),
)
def test_any_ignore_file_is_accepted(text: str, path: str) -> None:
    IgnoreFile(text.encode()).verdict(path, is_folder=True)


@pytest.mark.slow
@given(st.binary(max_size=60), st.text(min_size=1, max_size=10).filter(str.isprintable))
def test_any_bytes_are_accepted(raw: bytes, path: str) -> None:
    IgnoreFile(raw).verdict(path, is_folder=False)
