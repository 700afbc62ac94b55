"""What a text is about: which files and names of a project, and whether they changed."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from sample import write

from rootle.errors import MemoryRefusedError
from rootle.memory.references import (
    ReferencedProject,
    digest_of,
    mentioned,
    named,
    possibly_stale,
    remap_root,
)
from rootle.types import Memory, MemoryReference

DEFINERS = {"retrybackoff": ["src/net/retry.py"], "run": ["a.py", "b.py", "c.py", "d.py"]}


@pytest.fixture
def project(repository: Path) -> ReferencedProject:
    def files_named(name: str) -> list[str]:
        paths = [str(path.relative_to(repository)) for path in repository.rglob("*.*")]
        return [path for path in paths if f"/{path}".endswith(f"/{name}")]

    return ReferencedProject(repository, files_named, lambda name: DEFINERS.get(name, []))


def places(about: tuple[MemoryReference, ...]) -> list[str]:
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
        ("`run` is everywhere and says nothing", []),
        ("version 3.12 and https://example.org/src/net/other.py", []),
        ("../outside.py, /etc/passwd and ~/.netrc are not ours", []),
        ("src/net is a folder", []),
    ],
)
def test_files_and_names_are_recognised(
    text: str, expected: list[str], project: ReferencedProject
) -> None:
    assert places(mentioned(text, project)) == expected


def test_an_absolute_path_is_one_of_the_project(project: ReferencedProject) -> None:
    text = f"{project.root}/src/net/retry.py sleeps too long"
    assert places(mentioned(text, project)) == ["src/net/retry.py"]


def test_of_two_files_with_a_name_none_is_meant(project: ReferencedProject) -> None:
    write(project.root, "lib/retry.py", "x = 1\n")
    assert mentioned("retry.py sleeps too long", project) == ()
    assert places(mentioned("lib/retry.py sleeps too long", project)) == ["lib/retry.py"]


def test_a_link_out_of_the_folder_is_not_followed(
    project: ReferencedProject, tmp_path: Path
) -> None:
    (tmp_path / "outside.py").write_text("secret = 1\n")
    os.symlink(tmp_path / "outside.py", project.root / "inside.py")
    assert digest_of(project.root, "inside.py") == ""
    assert digest_of(project.root, "../outside.py") == ""


def test_what_somebody_names_has_to_be_there(project: ReferencedProject) -> None:
    named_ones = named(["src/net/retry.py", "net/retry.py#Retry", "retry_backoff"], project)
    assert places(named_ones) == [
        "src/net/retry.py",
        "src/net/retry.py#Retry",
        "src/net/retry.py#retry_backoff",
    ]
    with pytest.raises(MemoryRefusedError, match=r'about is "nothing\.py".*neither a file'):
        named(["nothing.py"], project)


def test_a_memory_is_stale_once_its_file_changed_or_went(project: ReferencedProject) -> None:
    memory = Memory("1", "x", "2024-05-10T12:00:00Z", about=mentioned("README.md", project))
    assert not possibly_stale(memory, project)
    write(project.root, "README.md", "# Another\n")
    assert possibly_stale(memory, project)
    (project.root / "README.md").unlink()
    assert possibly_stale(memory, project)
    elsewhere = replace(memory, about=(replace(memory.about[0], root="/other"),))
    assert not possibly_stale(elsewhere, project)


def test_what_comes_from_another_machine_is_meant_here(
    project: ReferencedProject, tmp_path: Path
) -> None:
    there = MemoryReference("README.md", "", "/home/somebody/project", "0123")
    gone, known = replace(there, path="gone.md"), replace(there, root=str(tmp_path))
    memory = remap_root(
        Memory("", "x", "2024-05-10T12:00:00Z", about=(there, gone, known)), project
    )
    assert memory.about == (replace(there, root=project.name), gone, known)
    assert possibly_stale(memory, project)
