"""The generations of an index increase, even if its database is lost, damaged or replaced.

Otherwise, a cursor could continue in another list, and a subscriber could miss an update.
"""

from __future__ import annotations

import queue
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sample import MakeApp, write

from rootle import IndexUpdated, SearchQuery
from rootle.app import App
from rootle.errors import StaleCursorError
from rootle.index.format_version import FORMAT_VERSION
from rootle.index.local.content_dir import DATABASE_FILES, content_dir

pytestmark = pytest.mark.slow

_QUERY = "retry"
_UPDATES = 3


def _replace_by_garbage(index: Path) -> None:
    (content_dir(index) / "rootle.db").write_bytes(b"garbage")


def _empty(index: Path) -> None:
    (content_dir(index) / "rootle.db").write_bytes(b"")


def _delete(index: Path) -> None:
    for name in DATABASE_FILES:
        (content_dir(index) / name).unlink(missing_ok=True)


def _damage_pointer(index: Path) -> None:
    assert content_dir(index) != index
    (index / "content").write_bytes(b"content-00000000 00000000\n")


def _make_old(index: Path) -> None:
    with closing(sqlite3.connect(content_dir(index) / "rootle.db")) as connection:
        connection.execute(f"PRAGMA user_version={FORMAT_VERSION - 1}")


def _restore_backup(index: Path) -> None:
    _delete(index)
    shutil.copy(index.parent / "backup.db", content_dir(index) / "rootle.db")


def _delete_notice(index: Path) -> None:
    _replace_by_garbage(index)
    (index / "updated").unlink()


def _damage_notice(index: Path) -> None:
    _replace_by_garbage(index)
    (index / "updated").write_bytes(b"9" * 5_000)


def _back_up(index: Path) -> None:
    source, target = content_dir(index) / "rootle.db", index.parent / "backup.db"
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)


def _build(root: Path, make_app: MakeApp) -> tuple[int, str]:
    """Index, rebuild and update; return the last generation and one of its cursors."""
    app = make_app(root)
    app.index()
    app.index(rebuild=True)
    _back_up(app.index_dir)
    for number in range(_UPDATES):
        write(root, "src/new.py", f"def retry_{number}(): pass\n", when_s=None)
        app.index()
    response = app.search(SearchQuery(_QUERY, limit=1))
    assert response.next_cursor is not None
    app.close()
    return response.generation, response.next_cursor


def _paths_and_scores(app: App) -> list[Any]:
    response = app.search(SearchQuery(_QUERY))
    assert response.degraded == ()
    return [(result.file_path, result.score) for result in response.results]


@pytest.mark.parametrize(
    ("damage", "rebuild"),
    [
        (_replace_by_garbage, True),
        (_delete_notice, True),
        (_damage_notice, True),
        (_empty, False),
        (_delete, False),
        (_damage_pointer, False),
        (_make_old, False),
        (_restore_backup, False),
    ],
)
def test_the_generations_increase_after_a_loss(
    damage: Callable[[Path], None],
    rebuild: bool,
    repository: Path,
    tmp_path: Path,
    make_app: MakeApp,
) -> None:
    before, cursor = _build(repository, make_app)
    damage(tmp_path / "index")
    app = make_app(repository)
    generation = app.index(rebuild=rebuild).generation
    assert generation > before
    with pytest.raises(StaleCursorError):
        app.search(SearchQuery(_QUERY, limit=1, cursor=cursor))
    new = make_app(repository, index_dir=tmp_path / "new")
    assert _paths_and_scores(app) == _paths_and_scores(new)
    write(repository, "src/new.py", "def other(): pass\n", when_s=None)
    assert _paths_and_scores(app) == _paths_and_scores(new)
    assert app.index().generation > generation


def test_a_subscriber_receives_the_changes_after_a_loss(
    repository: Path, tmp_path: Path, make_app: MakeApp
) -> None:
    _build(repository, make_app)
    app, events = make_app(repository), queue.Queue[IndexUpdated]()
    app.subscribe(events.put)
    write(repository, "src/new.py", "def before(): pass\n", when_s=None)
    before = app.index().generation
    assert events.get_nowait().generation == before
    _replace_by_garbage(tmp_path / "index")
    (repository / "src/new.py").unlink()
    app.index(rebuild=True)
    event = events.get_nowait()
    assert event.generation > before
    assert "src/net/retry.py" in event.changed


def test_a_first_index_starts_with_small_generations(repository: Path, make_app: MakeApp) -> None:
    assert make_app(repository).index().generation < 10
