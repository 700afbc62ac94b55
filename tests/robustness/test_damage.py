"""A damaged index is repaired, or a message of one line names the remedy, without a traceback."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from command import Outcome, rootle
from sample import FILES, make_repository, many_files

from rootle import open_app
from rootle.config.fields import Config
from rootle.errors import RootleError

pytestmark = pytest.mark.slow

Answers = Callable[..., list[Any]]


@pytest.fixture
def index(repository: Path, tmp_path: Path) -> Path:
    index_dir = tmp_path / "index"
    with open_app(repository, index_dir=index_dir) as app:
        app.index()
    return index_dir


def search(repository: Path, index: Path) -> Outcome:
    return rootle("search", "retry_backoff", "--json", "--root", repository, "--index-dir", index)


def _assert_answers_or_is_rebuilt(outcome: Outcome, repository: Path, index: Path) -> None:
    """Assert that the search succeeded, or that its message names a remedy that works."""
    if outcome.code != 0:
        assert outcome.code == 2
        assert outcome.out == ""
        assert "rootle index --rebuild" in outcome.err, outcome.err
        assert len(outcome.err.splitlines()) == 1, outcome.err
        rebuilt = rootle("index", repository, "--rebuild", "--index-dir", index)
        assert (rebuilt.code, rebuilt.err) == (0, "")
        outcome = search(repository, index)
    assert outcome.paths[0] == "src/net/retry.py"


@pytest.mark.parametrize("content", [b"", b"garbage", b"\0" * 4096, bytes(range(256)) * 200])
def test_a_database_that_contains_garbage_is_reported_and_can_be_rebuilt(
    content: bytes, repository: Path, index: Path
) -> None:
    (index / "rootle.db").write_bytes(content)
    _assert_answers_or_is_rebuilt(search(repository, index), repository, index)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_truncated_database_is_reported_and_can_be_rebuilt(
    share: float, repository: Path, index: Path
) -> None:
    database = index / "rootle.db"
    raw = database.read_bytes()
    database.write_bytes(raw[: int(len(raw) * share)])
    _assert_answers_or_is_rebuilt(search(repository, index), repository, index)


def test_garbage_in_the_files_of_the_write_ahead_log_is_harmless(
    repository: Path, index: Path
) -> None:
    (index / "rootle.db-wal").write_bytes(b"garbage" * 5000)
    (index / "rootle.db-shm").write_bytes(b"garbage" * 5000)
    _assert_answers_or_is_rebuilt(search(repository, index), repository, index)


def test_garbage_in_any_page_is_reported_without_a_traceback(
    repository: Path, index: Path, tmp_path: Path
) -> None:
    rng = Random(5)
    size = (index / "rootle.db").stat().st_size
    for number in range(40):
        broken = tmp_path / f"broken_{number}"
        shutil.copytree(index, broken)
        with (broken / "rootle.db").open("r+b") as file:
            file.seek(rng.randrange(100, size - 500))
            file.write(rng.randbytes(rng.choice((1, 16, 400))))
        with open_app(repository, index_dir=broken, config=Config(stale_check_seconds=0)) as app:
            try:
                app.search("where is the retry backoff")
                app.status()
            except RootleError as error:
                assert "rootle index --rebuild" in str(error)  # noqa: PT017
            app.index(rebuild=True)
            assert app.search("retry_backoff").results[0].file_path == "src/net/retry.py"


def test_a_missing_database_is_rebuilt(repository: Path, index: Path) -> None:
    (index / "rootle.db").unlink()
    outcome = search(repository, index)
    assert outcome.paths[0] == "src/net/retry.py"


@pytest.mark.parametrize("part", ["sparse", "dense"])
def test_a_missing_derived_index_is_rebuilt(
    part: str, repository: Path, index: Path, answers: Answers
) -> None:
    expected = answers(repository, index)
    shutil.rmtree(index / part)
    assert answers(repository, index) == expected
    assert search(repository, index).err == ""


def _list_derived_files(index: Path) -> list[str]:
    """Return glob patterns of the derived files, with `*` for random parts of names."""
    names = set()
    for part in ("sparse", "dense"):
        for file in (index / part).rglob("*"):
            if file.is_file() and not file.name.endswith(".lock"):
                name = f"*{file.suffix}" if len(file.stem) == 16 else file.name
                names.add(f"{file.relative_to(index).parent}/{name}")
    return sorted(names)


def test_any_missing_derived_file_is_rebuilt(
    repository: Path, index: Path, tmp_path: Path, answers: Answers
) -> None:
    expected = answers(repository, index)
    for name in _list_derived_files(index):
        broken = tmp_path / "broken"
        shutil.copytree(index, broken)
        next(broken.glob(name)).unlink()
        assert answers(repository, broken) == expected, name
        shutil.rmtree(broken)


@pytest.mark.parametrize("damage", ["emptied", "halved", "overwritten", "flipped"])
def test_any_damaged_derived_file_is_rebuilt_or_reported(
    damage: str,
    repository: Path,
    index: Path,
    tmp_path: Path,
) -> None:
    for number, name in enumerate(_list_derived_files(index)):
        broken = tmp_path / f"broken_{number}"
        shutil.copytree(index, broken)
        _damage(next(broken.glob(name)), damage)
        with open_app(repository, index_dir=broken, config=Config(stale_check_seconds=0)) as app:
            try:
                found = app.search("where is the retry backoff").results
            except RootleError as error:
                assert "rootle index --rebuild" in str(error)  # noqa: PT017
                app.index(rebuild=True)
                found = app.search("where is the retry backoff").results
            assert "src/net/retry.py" in [result.file_path for result in found], name


def _damage(file: Path, kind: str) -> None:
    raw, rng = file.read_bytes(), Random(6)
    if kind == "overwritten":
        raw = rng.randbytes(len(raw))
    elif kind == "flipped":
        at = len(raw) // 2
        raw = raw[:at] + rng.randbytes(min(8, len(raw) - at)) + raw[at + 8 :]
    file.write_bytes({"emptied": b"", "halved": raw[: len(raw) // 2]}.get(kind, raw))


def test_an_index_from_a_newer_version_is_reported_and_can_be_rebuilt(
    repository: Path, index: Path
) -> None:
    connection = sqlite3.connect(index / "rootle.db")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    for command in (("search", "token"), ("index",), ("status",)):
        outcome = rootle(*command, "--index-dir", index, cwd=repository)
        assert outcome.code == 2
        assert "newer version of rootle" in outcome.err
        assert "rootle index --rebuild" in outcome.err
    _assert_answers_or_is_rebuilt(search(repository, index), repository, index)


def test_an_index_from_an_older_version_is_rebuilt(
    repository: Path, index: Path, answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = answers(repository, index)
    monkeypatch.setattr("rootle.index.format_version.FORMAT_VERSION", 99)
    monkeypatch.setattr("rootle.index.local.database.FORMAT_VERSION", 99)
    connection = sqlite3.connect(index / "rootle.db")
    connection.execute("ALTER TABLE texts RENAME TO older_texts")
    connection.close()
    assert answers(repository, index) == expected


def test_a_damaged_index_can_be_cleared(repository: Path, index: Path) -> None:
    (index / "rootle.db").write_bytes(b"garbage")
    assert rootle("clear", repository, "--index-dir", index).code == 0
    assert not index.exists()


def test_an_open_app_survives_a_rebuild_and_a_deletion_by_other_processes(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repo", {**FILES, **many_files(5)})
    index_dir = tmp_path / "index"
    with open_app(root, index_dir=index_dir, config=Config(stale_check_seconds=0)) as app:
        before = app.search("retry_backoff").results
        assert rootle("index", root, "--rebuild", "--index-dir", index_dir).code == 0
        assert app.search("retry_backoff").results == before
        shutil.rmtree(index_dir)
        assert app.search("retry_backoff").results == before
    assert search(root, index_dir).paths[0] == "src/net/retry.py"
