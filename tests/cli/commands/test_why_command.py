"""`rootle why`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from command import rootle
from commit_repository import commit_all, make_history
from sample import git, indexed_repository, write

from rootle.cli.main import main

pytestmark = pytest.mark.slow


def test_the_commits_of_a_line_are_printed_without_an_index(tmp_path: Path) -> None:
    root = indexed_repository().root
    index_dir = tmp_path / "none"

    done = rootle("why", "src/net/retry.py:6", "--root", root, "--index-dir", index_dir)

    assert done.code == 0, done.err
    head = git(root, "rev-parse", "HEAD").strip()
    assert f"1. {head[:12]}  2023-11-14  t <t@example.com>" in done.out.splitlines()
    assert not index_dir.exists()


def test_lines_that_are_left_out_of_the_passage_are_named(tmp_path: Path) -> None:
    root = make_history(tmp_path / "repo", ("Alpha is added",))
    lines = ["# Configuration", "", "x" * 200, *(f"Option {number}" for number in range(4, 95))]
    write(root, "README.md", "\n".join(lines) + "\n")
    commit_all(root, "Describe the options", day=2)

    whole = rootle("why", "README.md#Configuration", "--root", root).out.splitlines()
    inner = rootle("why", "README.md:50-80", "--root", root).out.splitlines()

    assert whole[41] == "   …  41-94 left out"
    assert whole[3] == f"   3  {'x' * 160}… (40 more characters)"
    assert not any("left out" in line for line in inner)


def test_the_answer_fits_on_one_screen_of_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    root = make_history(tmp_path / "repo", ("Alpha is added",))
    numbers = list(range(60))
    for day in range(2, 8):
        numbers[10 * (day - 2) : 10 * (day - 1)] = range(100 * day, 100 * day + 10)
        body = "\n\n".join(
            f"Reason {part} for change {day}, {'at length ' * 20}" for part in "abcd"
        )
        write(root, "sum.py", "def total():\n" + "".join(f"    add({n})\n" for n in numbers))
        commit_all(root, f"Change {day}\n\n{body}", day=day)
    words = ["why", "sum.py:30", "--root", str(root), "--index-dir", str(tmp_path / "index")]
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "40")

    assert main(words) == 0
    whole = capfd.readouterr().out.splitlines()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(words) == 0
    brief = capfd.readouterr()
    assert main([*words, "-n", "5"]) == 0
    with_limit = capfd.readouterr().out.splitlines()

    lines = brief.out.splitlines()
    assert len(whole) > 60
    assert len(lines) < 39
    assert all(len(line) <= 80 for line in lines)
    assert "> 30      add(408)" in lines
    assert lines[-1].startswith("5. ")
    assert any(line.startswith("     Reason a for change ") for line in lines)
    assert brief.err == "rootle: shortened; -n 5 shows everything\n"
    assert with_limit == whole


def test_the_json_output_is_the_record() -> None:
    found = indexed_repository()

    done = rootle(
        *("why", "--json", "-n", "1", "docs/guide.md#Logging in"),
        *("--root", found.root, "--index-dir", found.index_dir),
    )

    assert done.data["place"] == "docs/guide.md:7-9"
    assert [commit["subject"] for commit in done.data["commits"]] == ["first"]
    assert done.data["isComplete"]


def test_an_unknown_place_is_an_error() -> None:
    done = rootle("why", "src/missing.py:6", "--root", indexed_repository().root)

    assert done.code == 2
    assert "src/missing.py does not exist here" in done.err


def test_a_path_may_be_relative_to_the_current_folder() -> None:
    found = indexed_repository()
    source = found.root / "src/net"

    done = rootle("why", "retry.py:6", "--json", "--index-dir", found.index_dir, cwd=source)
    shown = rootle("show", "retry.py:6-7", cwd=source)
    from_root = rootle("show", "src/net/retry.py:6-7", cwd=source)

    assert done.data["place"].startswith("src/net/retry.py:")
    assert shown.out == from_root.out != ""


def test_show_prints_the_commit_of_a_tag(tmp_path: Path) -> None:
    root = make_history(tmp_path / "repo", ("Alpha is added", "Beta is added"))
    git(root, "tag", "-a", "-m", "The first release", "v1.0", "HEAD~1")

    assert "Alpha is added" in rootle("show", "v1.0", cwd=root).out
    assert "Alpha is added" in rootle("show", "HEAD~1", cwd=root).out
    assert "Beta is added" in rootle("show", "HEAD", cwd=root).out
    assert "HEAD~9 does not exist here" in rootle("show", "HEAD~9", cwd=root).err
    missing = rootle("show", "v9.9", cwd=root)
    assert missing.code == 2
    assert "v9.9 does not exist here" in missing.err
