"""Files that are replaced as a whole, with their permissions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rootle.storage.atomic_file import write_file


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o755])
def test_a_replaced_file_keeps_its_mode_on_request(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(mode)
    write_file(path, b"new", mode=0o640, keep_permissions=True)
    assert (path.read_bytes(), mode_of(path)) == (b"new", mode)
    write_file(path, b"newer", mode=0o640)
    assert (path.read_bytes(), mode_of(path)) == (b"newer", 0o640)
    assert os.listdir(tmp_path) == ["file"]


def test_a_new_file_has_the_given_mode(tmp_path: Path) -> None:
    previous = os.umask(0o077)
    try:
        write_file(tmp_path / "file", b"new", mode=0o664, keep_permissions=True)
    finally:
        os.umask(previous)
    assert mode_of(tmp_path / "file") == 0o664


def test_a_replaced_file_keeps_its_owner_if_the_process_may_change_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    state = path.stat()
    owners: list[tuple[int, int]] = []

    def refuse(_: object, user: int, group: int) -> None:
        owners.append((user, group))
        raise PermissionError

    monkeypatch.setattr(os, "chown", refuse)
    write_file(path, b"new", keep_permissions=True)
    assert owners == [(state.st_uid, state.st_gid)]
    assert path.read_bytes() == b"new"
    write_file(path, b"newer")
    assert len(owners) == 1


def test_only_the_owner_can_read_a_file_while_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes: list[int] = []
    monkeypatch.setattr(
        os, "fsync", lambda _: modes.extend(mode_of(path) for path in tmp_path.iterdir())
    )
    write_file(tmp_path / "file", b"new", mode=0o644)
    assert modes == [0o600]
