"""Commits and their patches have the same text with any git settings of the user."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sample import MakeApp, git, write

NAMES = ("dé/größe.py", 'quo"te.py', "tab\tin.py", "lib b/x.py", "a b/a b.py", "message")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    for name in NAMES:
        write(root, name, f"size = 1  # {len(name)}\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Größe ändern", "--author=Jörg <j@x.org>")
    return root


@pytest.mark.slow
def test_the_patch_of_a_file_is_read_by_its_name(root: Path, make_app: MakeApp) -> None:
    app = make_app(root)
    sha = git(root, "rev-parse", "HEAD").strip()
    for name in NAMES[:-1]:
        assert f"+size = 1  # {len(name)}" in app.read(f"{sha}#{name}").lines
    # "#message" selects the message of the commit, not a file with this name.
    assert "    Größe ändern" in app.read(f"{sha}#message").lines or (
        "Größe ändern" in app.read(f"{sha}#message").lines
    )
    assert "+size = 1  # 7" in app.read(f"{sha}#./message").lines


def test_the_time_of_a_commit_is_in_utc(root: Path, make_app: MakeApp) -> None:
    write(root, "message", "size = 2\n")
    date = "--date=2024-03-01T23:30:00-05:00"
    git(root, "commit", "-qam", "Rebased", date, when_s=1_709_500_000)
    app = make_app(root)
    lines = app.read(git(root, "rev-parse", "HEAD").strip()).lines
    assert lines[1] == "t, 2024-03-03T21:06:40Z (written 2024-03-02T04:30:00Z)"
    before = app.read(git(root, "rev-parse", "HEAD~1").strip()).lines
    assert re.fullmatch(r"Jörg, \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", before[1])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("i18n.logOutputEncoding", "ISO-8859-1"),
        ("log.showRoot", "false"),
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.context", "0"),
        ("core.quotePath", "true"),
        ("diff.algorithm", "patience"),
        ("color.ui", "always"),
    ],
)
def test_settings_of_git_do_not_change_the_text(
    key: str, value: str, root: Path, make_app: MakeApp
) -> None:
    app = make_app(root)
    sha = git(root, "rev-parse", "HEAD").strip()
    before = app.read(sha).lines
    assert any("Jörg" in line for line in before)
    git(root, "config", key, value)
    assert app.read(sha).lines == before
