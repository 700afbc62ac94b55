"""An answer on a terminal fits on one screen, and says how to see everything."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from commit_repository import commit_all
from sample import git, write

from rootle.cli.main import main
from rootle.cli.terminal import fit_reference

pytestmark = pytest.mark.slow

Run = Callable[..., tuple[list[str], str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a command in a repository, and returns its output and errors."""
    root = _make_repository(tmp_path / "repo")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "40")

    def run_command(*words: str, on_terminal: bool) -> tuple[list[str], str]:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: on_terminal)
        main([*words, "--root", str(root), "--index-dir", str(tmp_path / "index")])
        captured = capfd.readouterr()
        return captured.out.splitlines(), captured.err

    return run_command


def _make_repository(root: Path) -> Path:
    """Create a repository of files that change together, with code that the newest commit removes.

    A document still mentions the removed functions.
    """
    root.mkdir()
    git(root, "init", "-q")
    names = [f"parse_legacy_{'abcdefghijklmnop'[at]}" for at in range(16)]
    body = "".join(f"    legacy_fields_{at} = {at}  # {'at length ' * 12}\n" for at in range(20))
    for at, name in enumerate(names):
        write(root, f"module_{at}.py", f"def {name}(line):\n{body}    return line\n")
    write(root, "guide.md", "".join(f"# Step\n\nCall `{name}()` first.\n\n" for name in names))
    commit_all(root, f"Add {'the parsers of old formats ' * 10}", day=1)
    for day in (2, 3):
        for at in range(16):
            write(root, f"module_{at}.py", f"version_{at} = {day}\n")
        commit_all(root, f"Drop {'the parsers of old formats ' * 10}", day=day)
    return root


@pytest.mark.parametrize(
    ("words", "rows", "how"),
    [
        (("gone", "parse legacy"), 40, "-n 5 shows everything"),
        (("impact", "module_0.py"), 20, "-n 10 shows everything"),
        (("drift",), 40, "`rootle drift | less` or --json shows everything"),
    ],
)
def test_a_long_answer_fits_on_one_screen(
    words: tuple[str, ...], rows: int, how: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LINES", str(rows))

    whole, _ = run(*words, on_terminal=False)
    brief, errors = run(*words, on_terminal=True)

    assert sum(-(-len(line) // 80) or 1 for line in whole) > rows
    assert len(brief) + len(errors.splitlines()) < rows
    assert all(len(line) <= 80 for line in brief)
    assert errors.endswith(f"rootle: shortened; {how}\n")
    assert brief[0] in (whole[0], f"{whole[0][:79]}…")


def test_an_answer_with_a_limit_is_complete(run: Run) -> None:
    words = ("gone", "-n", "5", "parse legacy")

    assert run(*words, on_terminal=True)[0] == run(*words, on_terminal=False)[0]


def test_each_result_of_a_shortened_answer_is_named(run: Run) -> None:
    places = [line for line in run("drift", on_terminal=False)[0] if line.startswith("guide.md:")]
    brief = [line for line in run("drift", on_terminal=True)[0] if line.startswith("guide.md:")]

    assert len(places) == 16
    assert brief == places


def test_the_lines_of_a_short_list_of_references_fit_on_the_screen(run: Run) -> None:
    for words in (
        ("impact", "-n", "2", "module_0.py"),
        ("show", "--links", "guide.md:3"),
    ):
        whole, _ = run(*words, on_terminal=False)
        lines, _ = run(*words, on_terminal=True)

        assert max(map(len, whole)) > 80
        assert len(lines) == len(whole)
        assert all(len(line) <= 80 for line in lines)


def test_a_long_path_at_the_beginning_of_a_line_is_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    path = f"src/{'deep/' * 10}retry.py"

    assert fit_reference(f"  5%  {path} (code), in the same commit") == f"  5%  {path}…"
    assert fit_reference(f"{path}:3  retry is gone").startswith(f"{path}:3")
    assert len(fit_reference(f"    changed together in 1 of 4 commits: {path}")) == 40
