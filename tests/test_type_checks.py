"""The type checker reads all code with strict rules, and no comment silences it."""

from __future__ import annotations

import tomllib
from pathlib import Path

_ROOT = Path(__file__).parents[1]


def test_the_type_checker_is_strict_and_reads_all_code() -> None:
    settings = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    assert settings["strict"]
    assert set(settings["files"]) == {"src", "tests", "benchmarks", "training", "docs"}


def test_no_comment_silences_the_type_checker() -> None:
    # Tests may do so, because they pass wrong types and replace methods on purpose.
    modules = [
        path
        for folder in ("src", "benchmarks", "training", "docs")
        for path in (_ROOT / folder).rglob("*.py")
    ]
    assert len(modules) > 500
    wrong = [
        f"{path.relative_to(_ROOT)}:{number}"
        for path in modules
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if "# type: ignore" in line
    ]
    assert wrong == []
