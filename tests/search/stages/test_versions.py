"""Questions about a version lead to the section about exactly this version."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample import MakeApp, write_tree

from rootle.app import App
from rootle.rank.question.version_question import find_asked_version

_SECTIONS = "".join(
    f"## 5.{minor}.{patch}\n\n- Fix number {minor * 31 + patch} of the pool.\n\n"
    for minor in range(12, 0, -1)
    for patch in range(12, -1, -1)
)
FILES = {
    "CHANGELOG.md": f"# Changelog\n\n{_SECTIONS}",
    "docs/history/changelog-4.rst": "4.1.0\n=====\n\n- New pool.\n\n4.0.0\n=====\n\n- First.\n",
    "src/pool.py": "# 5.6.1: the limits of the pool\nLIMITS = [5, 6, 1, 12, 11, 7]\n",
    "docs/pool.md": "# Pool\n\nNew in 5.6.1 and 5.6.10: the pool has news of changes.\n",
    "requirements.txt": "other==7.7.7\n",
}


@pytest.fixture
def app(tmp_path: Path, make_app: MakeApp) -> App:
    app: App = make_app(write_tree(tmp_path / "project", FILES))
    return app


@pytest.mark.parametrize(
    ("question", "path", "section"),
    [
        ("changelog 5.6.1", "CHANGELOG.md", "- Fix number 187 of the pool."),
        ("what is new in v5.6.10", "CHANGELOG.md", "- Fix number 196 of the pool."),
        ("release notes of pool@5.12.11", "CHANGELOG.md", "- Fix number 383 of the pool."),
        ("what's new in 4.1.0", "docs/history/changelog-4.rst", "- New pool."),
    ],
)
def test_the_section_of_the_version_is_shown_first(
    question: str, path: str, section: str, app: App
) -> None:
    response = app.search(question)
    first = response.results[0]
    assert first.file_path == path
    assert section in first.snippet.split("\n")[:4]
    assert response.confident


def test_a_version_that_no_text_contains_is_absent_although_its_numbers_occur(app: App) -> None:
    response = app.search("changelog 5.12.13")
    assert not response.confident
    assert response.suggestions[0].startswith("not confident: no indexed text has the version 5.12")
    mentioned = app.search("release notes 7.7.7")
    assert not any("has the version" in note for note in mentioned.suggestions)


@pytest.mark.parametrize(
    ("question", "version"),
    [
        ("changelog of 3.14.0", "3.14.0"),
        ("what changed in v5.6.1", "5.6.1"),
        ("what is new in awesome 4.3", "4.3"),
        ("release notes svelte@5.56.0-next.1", "5.56.0-next.1"),
        ("changes in 5.0.0-rc.1", "5.0.0-rc.1"),
        ("what changed since 5.6.1", ""),
        ("what changed between v1.0 and v1.1", ""),
        ("when was python 3.8 support dropped", ""),
        ("connect to 127.0.0.1", ""),
        ("a timeout of 2.5 seconds", ""),
    ],
)
def test_only_questions_for_the_changes_of_a_version_are_recognized(
    question: str, version: str
) -> None:
    assert find_asked_version(question) == version
