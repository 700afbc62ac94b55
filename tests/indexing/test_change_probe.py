"""The probe that proves that nothing in a folder has changed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rootle.indexing.change_probe import ChangeProbe

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux reports changes at once"
)


@pytest.fixture
def probe(repository: Path, tmp_path: Path) -> Iterator[ChangeProbe]:
    probe = ChangeProbe(repository, tmp_path / "index", lambda: ())
    probe.watch()
    yield probe
    probe.close()


def _set_time_back(root: Path) -> None:
    os.utime(root / "src/net/retry.py", ns=(1, 1))


CHANGES: dict[str, Callable[[Path], object]] = {
    "write": lambda root: (root / "src/net/retry.py").write_text("x = 1\n"),
    "new file": lambda root: (root / "src/net/new.py").write_text(""),
    "delete": lambda root: (root / "src/net/retry.py").unlink(),
    "rename": lambda root: (root / "src/net").rename(root / "src/wire"),
    "replace": lambda root: os.replace(root / "src/auth/token.ts", root / "src/net/retry.py"),
    "permissions": lambda root: (root / "src/net/retry.py").chmod(0o600),
    "time": _set_time_back,
    "ignore file": lambda root: (root / ".gitignore").write_text("*.py\n"),
    "exclude file": lambda root: (root / ".git/info/exclude").write_text("*.py\n"),
    "staged": lambda root: (root / ".git/index").touch(),
}


def test_nothing_is_reported_while_nothing_changes(probe: ChangeProbe, repository: Path) -> None:
    (repository / "src/net/retry.py").read_bytes()
    os.listdir(repository / "src")
    assert not probe.may_have_changed()


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_a_change_is_reported_as_soon_as_its_system_call_has_returned(
    change: Callable[[Path], object], probe: ChangeProbe, repository: Path
) -> None:
    change(repository)
    assert probe.may_have_changed()


def test_a_change_in_a_new_folder_is_reported(probe: ChangeProbe, repository: Path) -> None:
    (repository / "a/b").mkdir(parents=True)
    assert probe.may_have_changed()
    probe.watch()
    (repository / "a/b/c.py").write_text("x = 1\n")
    assert probe.may_have_changed()


def test_a_folder_counts_as_changed_until_it_is_watched(repository: Path, tmp_path: Path) -> None:
    probe = ChangeProbe(repository, tmp_path / "index", lambda: ())
    assert probe.may_have_changed()
    assert probe.may_have_changed()


def test_changes_of_the_index_in_the_folder_are_not_reported(repository: Path) -> None:
    index = repository / "index"
    index.mkdir()
    probe = ChangeProbe(repository, index, lambda: ())
    probe.watch()
    (index / "rootle.db").write_text("x")
    assert not probe.may_have_changed()
    probe.close()


def test_tracked_files_in_ignored_folders_are_watched(repository: Path, tmp_path: Path) -> None:
    (repository / ".gitignore").write_text("out/\n")
    (repository / "out").mkdir()
    (repository / "out/kept.py").write_text("x = 1\n")
    probe = ChangeProbe(repository, tmp_path / "index", lambda: ["out/kept.py"])
    probe.watch()
    (repository / "out/kept.py").write_text("x = 2\n")
    assert probe.may_have_changed()
    probe.close()
