"""Servers that several tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp_process import MISBEHAVING_TOOLS, Session, session_of
from sample import make_repository


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repository(tmp_path_factory.mktemp("server") / "repository")


@pytest.fixture(scope="module")
def variables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return variables with a separate home: these servers start before a test's fixtures."""
    home = tmp_path_factory.mktemp("home")
    names = ("CACHE", "CONFIG", "DATA", "STATE")
    return {"HOME": str(home)} | {f"XDG_{name}_HOME": str(home / name) for name in names}


@pytest.fixture(scope="module")
def session(folder: Path, variables: dict[str, str]) -> Iterator[Session]:
    with session_of(folder, **variables) as session:
        yield session


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("errors") / "log"


@pytest.fixture(scope="module")
def misbehaving(folder: Path, variables: dict[str, str], errors: Path) -> Iterator[Session]:
    with session_of(folder, errors=errors, program=MISBEHAVING_TOOLS, **variables) as session:
        yield session
