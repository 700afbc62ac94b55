"""A change that was made before a search is found, or the response reports that it is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from sample import MakeApp, git, write

from rootle import App, Config
from rootle.indexing.change_probe import ChangeProbe

pytestmark = pytest.mark.slow

# The number of edits in a test; 1,000 edits take half a minute of processor time.
_EDITS = int(os.environ.get("ROOTLE_EDITS", "60"))


@pytest.fixture
def app(repository: Path, make_app: MakeApp) -> App:
    """Return an app with default freshness, which has searched twice."""
    app: App = make_app(repository, stale_check_seconds=Config().stale_check_seconds)
    app.search("retry")
    app.search("backoff")
    return app


def _finds(app: App, word: str) -> bool:
    return any(word in result.snippet for result in app.search(word).results)


@pytest.mark.slow
def test_every_edit_is_in_the_next_answer(repository: Path, app: App) -> None:
    path = repository / "src/net/retry.py"
    missed = []
    for number in range(_EDITS):
        word = f"quagga{number:04}x"
        path.write_text(f"def {word}():\n    return {number}\n")
        if not _finds(app, word):
            missed.append(number)
        app.search("retry backoff")  # the usual case: a search without an edit before it
    assert not missed


@pytest.mark.fast
def test_an_edit_with_the_same_size_and_a_restored_time_is_found(
    repository: Path, app: App
) -> None:
    path = repository / "src/net/retry.py"
    path.write_text("def quagga_one(): ...\n")
    assert _finds(app, "quagga_one")
    before = path.stat()
    path.write_text("def quagga_two(): ...\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert _finds(app, "quagga_two")


@pytest.mark.parametrize("name", ["out/made.py", ".cargo/made.py"])
def test_edits_of_a_new_tracked_file_in_an_ignored_folder_are_found(
    name: str, repository: Path, app: App
) -> None:
    write(repository, ".gitignore", "out/\n")
    assert _finds(app, "retry")
    write(repository, name, "def quagga_zero(): ...\n", when_s=None)
    git(repository, "add", "-f", name)
    assert _finds(app, "quagga_zero")
    for word in ("quagga_one", "quagga_two", "quagga_three"):
        write(repository, name, f"def {word}(): ...\n", when_s=None)
        assert _finds(app, word)


def test_a_restored_time_is_noticed_by_the_next_process(
    repository: Path, make_app: MakeApp
) -> None:
    path = repository / "src/net/retry.py"
    path.write_text("def quagga_one(): ...\n")
    os.utime(path, ns=(10**18, 10**18))
    make_app(repository).search("quagga_one")
    path.write_text("def quagga_two(): ...\n")
    os.utime(path, ns=(10**18, 10**18))
    assert _finds(make_app(repository), "quagga_two")


def test_a_change_to_the_exclude_file_of_a_nested_repository_is_in_the_next_answer(
    repository: Path, make_app: MakeApp
) -> None:
    write(repository, "nested/a.py", "def quagga(): ...\n")
    git(repository / "nested", "init", "-q")
    app = make_app(repository)
    for _ in range(3):
        assert _finds(app, "quagga")
    write(repository, "nested/.git/info/exclude", "a.py\n")
    assert not _finds(app, "quagga")


def test_files_of_a_replaced_parent_folder_are_in_the_next_answer(
    tmp_path: Path, make_app: MakeApp
) -> None:
    write(tmp_path, "parent/root/a.py", "def quagga(): ...\n")
    write(tmp_path, "next/root/a.py", "def okapi_two(): ...\n")
    app = make_app(tmp_path / "parent/root")
    for _ in range(3):
        assert _finds(app, "quagga")
    (tmp_path / "parent").rename(tmp_path / "previous")
    (tmp_path / "next").rename(tmp_path / "parent")
    assert _finds(app, "okapi_two")
    assert not _finds(app, "quagga")


def test_an_older_copy_that_replaces_the_index_is_updated_before_the_next_answer(
    repository: Path, app: App, tmp_path: Path
) -> None:
    index = Path(app.status().index_dir)
    shutil.copytree(index, tmp_path / "backup")
    write(repository, "src/made.py", "def quagga(): ...\n", when_s=None)
    for _ in range(2):
        assert _finds(app, "quagga")

    index.rename(tmp_path / "replaced")
    (tmp_path / "backup").rename(index)

    assert _finds(app, "quagga")


def test_a_new_repository_above_the_root_applies_to_the_next_answer(
    tmp_path: Path, make_app: MakeApp
) -> None:
    write(tmp_path, "parent/root/a.py", "def quagga(): ...\n")
    app = make_app(tmp_path / "parent/root")
    for _ in range(3):
        assert _finds(app, "quagga")
    git(tmp_path / "parent", "init", "-q")
    write(tmp_path, "parent/.git/info/exclude", "a.py\n")
    assert not _finds(app, "quagga")


def test_a_branch_switch_is_in_the_next_answer(repository: Path, app: App) -> None:
    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *identity, *arguments], cwd=repository, check=True)

    git("checkout", "-qb", "other")
    (repository / "src/net/retry.py").write_text("def quagga(): ...\n")
    git("commit", "-qam", "other")
    git("checkout", "-q", "-")
    assert not _finds(app, "quagga")
    git("checkout", "-q", "other")
    assert _finds(app, "quagga")


def test_without_change_events_every_search_checks_the_folder(
    repository: Path, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ChangeProbe, "is_watching", False)
    (repository / "src/net/retry.py").write_text("def quagga(): ...\n")
    assert _finds(app, "quagga")
    (repository / "src/net/retry.py").write_text("def okapi(): ...\n")
    assert _finds(app, "okapi")


def test_a_change_between_two_checks_is_found_by_the_next_one(
    repository: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app(repository, stale_check_seconds=3_600)
    app.search("retry")
    monkeypatch.setattr("rootle.indexing.refresh.IndexRefresher._is_check_due", lambda self: True)
    app.search("backoff")  # checks that the index is current
    (repository / "src/net/retry.py").write_text("def quagga(): ...\n")
    monkeypatch.setattr("rootle.indexing.refresh.IndexRefresher._is_check_due", lambda self: False)
    assert not _finds(app, "quagga")  # permitted by `staleCheckSeconds`
    monkeypatch.setattr("rootle.indexing.refresh.IndexRefresher._is_check_due", lambda self: True)
    assert _finds(app, "quagga")


def test_a_change_that_a_paused_watcher_has_not_seen_yet_is_reported(
    repository: Path, app: App
) -> None:
    with app.watch():
        assert app.pause_indexing()
        app.search("retry")
        (repository / "src/net/retry.py").write_text("def quagga(): ...\n")
        response = app.search("quagga")
        assert response.degraded == ("stale",)
        assert response.staleness is not None
