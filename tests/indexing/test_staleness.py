"""Responses from an index that is older than its folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from polling import wait_until
from sample import MakeApp

from rootle import IndexUpdated
from rootle.errors import ConfigError


def test_read_only_mode_writes_nothing_and_reports_staleness(
    repository: Path, tmp_path: Path, make_app: MakeApp
) -> None:
    make_app(repository).index()
    reader = make_app(repository, enable_indexing=False)
    before = list_files(tmp_path / "index")
    assert reader.search("retry_backoff").staleness is None
    (repository / "new.py").write_text("def quagga(): ...\n")
    response = reader.search("quagga")
    assert response.staleness is not None
    assert response.staleness.changed_files == 1
    assert reader.status().pending == 1
    for write in (reader.index, reader.clear, reader.watch):
        with pytest.raises(ConfigError, match="enableIndexing"):
            write()
    assert list_files(tmp_path / "index") == before
    make_app(repository).index()  # another app, which may write
    assert reader.search("quagga").results[0].file_path == "new.py"
    assert reader.search("quagga").staleness is None


def list_files(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the size and modification time of every file below a folder."""
    files = {
        os.fspath(path): (path.stat().st_size, path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
    }
    assert files
    return files


@pytest.mark.slow
def test_many_changes_are_indexed_in_the_background_of_a_search(
    repository: Path, make_app: MakeApp
) -> None:
    app = make_app(repository, watch_debounce_ms=50)
    events: list[IndexUpdated] = []
    app.subscribe(events.append)
    app.index()
    for number in range(300):
        (repository / f"many_{number}.py").write_text(f"def many_{number}(): ...\n")
    response = app.search("many_17")
    assert response.staleness is not None
    assert response.staleness.changed_files == 300
    wait_until(lambda: any(len(event.changed) == 300 for event in events), "indexed")
    assert wait_until(lambda: app.search("many_17").staleness is None, "no longer stale")
