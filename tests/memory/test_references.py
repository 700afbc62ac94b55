"""References in texts: recognition, resolution, changed files, and texts from other machines."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from sample import write

from rootle.errors import MemoryRefusedError
from rootle.memory.references import (
    ReferencedProject,
    assign_to_project,
    file_digest,
    find_references,
    is_possibly_stale,
    resolve_references,
)
from rootle.types import Memory, MemoryReference

DEFINERS = {"retrybackoff": ["src/net/retry.py"], "run": ["a.py", "b.py", "c.py", "d.py"]}


@pytest.fixture
def project(repository: Path) -> ReferencedProject:
    def find_files(name: str) -> list[str]:
        paths = [str(path.relative_to(repository)) for path in repository.rglob("*.*")]
        return [path for path in paths if f"/{path}".endswith(f"/{name}")]

    return ReferencedProject(repository, find_files, lambda name: DEFINERS.get(name, []))


def describe(about: tuple[MemoryReference, ...]) -> list[str]:
    return [f"{one.path}#{one.symbol}".rstrip("#") for one in about]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("src/net/retry.py sleeps too long", ["src/net/retry.py"]),
        ("See `src/net/retry.py:12-20`, and ./README.md.", ["src/net/retry.py", "README.md"]),
        ("net/retry.py sleeps too long", ["src/net/retry.py"]),
        ("retry.py sleeps too long", ["src/net/retry.py"]),
        ("never call retry_backoff in tests", ["src/net/retry.py#retry_backoff"]),
        ("RetryPolicy.retry_backoff() is slow", ["src/net/retry.py#retry_backoff"]),
        ("`retryBackoff` is slow", ["src/net/retry.py#retryBackoff"]),
        ("src/net/retry.py#RetryPolicy is a trap", ["src/net/retry.py#RetryPolicy"]),
        ("the user prefers short answers, e.g. one line", []),
        ("`run` is defined in too many files", []),
        ("version 3.12 and https://example.org/src/net/other.py", []),
        ("../outside.py, /etc/passwd and ~/.netrc are outside the project", []),
        ("src/net is a folder", []),
    ],
)
def test_files_and_names_are_recognized(
    text: str, expected: list[str], project: ReferencedProject
) -> None:
    assert describe(find_references(text, project)) == expected


def test_an_absolute_path_inside_the_project_is_recognized(project: ReferencedProject) -> None:
    text = f"{project.root}/src/net/retry.py sleeps too long"
    assert describe(find_references(text, project)) == ["src/net/retry.py"]


def test_a_file_name_that_occurs_twice_is_ambiguous(project: ReferencedProject) -> None:
    write(project.root, "lib/retry.py", "x = 1\n")
    assert find_references("retry.py sleeps too long", project) == ()
    assert describe(find_references("lib/retry.py sleeps too long", project)) == ["lib/retry.py"]


def test_a_link_that_leaves_the_folder_is_not_followed(
    project: ReferencedProject, tmp_path: Path
) -> None:
    (tmp_path / "outside.py").write_text("secret = 1\n")
    os.symlink(tmp_path / "outside.py", project.root / "inside.py")
    assert file_digest(project.root, "inside.py") == ""
    assert file_digest(project.root, "../outside.py") == ""


def test_an_explicit_reference_must_exist(project: ReferencedProject) -> None:
    references = resolve_references(
        ["src/net/retry.py", "net/retry.py#Retry", "retry_backoff"], project
    )
    assert describe(references) == [
        "src/net/retry.py",
        "src/net/retry.py#Retry",
        "src/net/retry.py#retry_backoff",
    ]
    with pytest.raises(MemoryRefusedError, match=r'about is "nothing\.py".*neither a file'):
        resolve_references(["nothing.py"], project)


def test_a_memory_is_stale_once_its_file_is_changed_or_deleted(project: ReferencedProject) -> None:
    memory = Memory("1", "x", "2024-05-10T12:00:00Z", about=find_references("README.md", project))
    assert not is_possibly_stale(memory, project)
    write(project.root, "README.md", "# Another\n")
    assert is_possibly_stale(memory, project)
    (project.root / "README.md").unlink()
    assert is_possibly_stale(memory, project)
    elsewhere = replace(memory, about=(replace(memory.about[0], root="/other"),))
    assert not is_possibly_stale(elsewhere, project)


def test_references_of_an_assigned_memory_refer_to_the_files_of_the_project(
    project: ReferencedProject, tmp_path: Path
) -> None:
    there = MemoryReference("README.md", "", "/home/somebody/project", "0123")
    gone, known = replace(there, path="gone.md"), replace(there, root=str(tmp_path))
    memory = assign_to_project(
        Memory("", "x", "2024-05-10T12:00:00Z", about=(there, gone, known)), project
    )
    assert memory.about == (replace(there, root=project.name), gone, known)
    assert memory.stored_in == (project.name,)
    assert is_possibly_stale(memory, project)
