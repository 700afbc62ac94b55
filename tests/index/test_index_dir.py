"""The files that exclude an index from git and from backups."""

from __future__ import annotations

from pathlib import Path

from rootle.index.local.index_dir import CACHE_MARKERS, delete_cache_markers, mark_as_cache


def test_only_markers_that_were_not_changed_are_deleted(tmp_path: Path) -> None:
    mark_as_cache(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(CACHE_MARKERS)
    (tmp_path / ".gitignore").write_text("*.log\n")
    mark_as_cache(tmp_path)
    delete_cache_markers(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [".gitignore"]
    assert (tmp_path / ".gitignore").read_text() == "*.log\n"
