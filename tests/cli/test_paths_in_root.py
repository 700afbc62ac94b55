"""Paths of the command line, which are relative to the current folder or to the root."""

from __future__ import annotations

from pathlib import Path

import pytest

from rootle.cli.context import path_in_root, place_in_root


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "repo"
    for path in ("README.md", "docs/README.md", "docs/..notes.md", "src/retry.py"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("text\n")
    (tmp_path / "outside.md").write_text("text\n")
    monkeypatch.chdir(root / "docs")
    return root


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("README.md", "docs/README.md"),
        ("../README.md", "README.md"),
        ("..notes.md", "docs/..notes.md"),
        (".", "docs"),
        ("src/retry.py", "src/retry.py"),
        ("deleted.md", "deleted.md"),
        ("../../outside.md", "../../outside.md"),
        ("", ""),
    ],
)
def test_a_path_that_exists_is_relative_to_the_current_folder(
    path: str, expected: str, root: Path
) -> None:
    assert path_in_root(path, root) == expected


def test_an_absolute_path_is_converted(root: Path) -> None:
    assert path_in_root(str(root / "src/retry.py"), root) == "src/retry.py"
    assert path_in_root(str(root), root) == "."
    assert path_in_root(str(root / "src/*.py"), root) == "src/*.py"
    assert path_in_root(str(root.parent / "outside.md"), root) == str(root.parent / "outside.md")


def test_a_place_keeps_its_lines_or_name(root: Path) -> None:
    assert place_in_root("README.md:3-4", root) == "docs/README.md:3-4"
    assert place_in_root("README.md#Install", root) == "docs/README.md#Install"
    assert place_in_root("583c31472577", root) == "583c31472577"
