"""Lines are read from a file if it is unchanged, and otherwise from the index."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample import OLD_S, MakeApp, make_repository, write

from rootle.errors import IndexStorageError
from rootle.index.local.snapshot import Snapshot
from rootle.index.local.snapshot_source import open_snapshot
from rootle.index.reader import FileState
from rootle.search.results.shown_spans import ExcerptReader
from rootle.search.results.working_tree import WorkingTree
from rootle.storage.change_time import CHANGE_TICK_NS
from rootle.types import SearchQuery

_PLAIN = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"
_OTHERS = {
    "wide.py": "# Größe: 5 €, 𝄞\n" + _PLAIN,
    "mark.py": "\ufeff" + _PLAIN,
    "dos.py": _PLAIN.replace("\n", "\r\n"),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_repository(tmp_path / "repo", {"plain.py": _PLAIN, "other.py": _PLAIN + "#\n"})
    for name, text in _OTHERS.items():
        (root / name).write_bytes(text.encode())
        os.utime(root / name, (OLD_S, OLD_S))
    # A file that is indexed in the timer tick in which it was written is read from the index.
    time.sleep(CHANGE_TICK_NS / 1e9)
    return root


@pytest.fixture
def snapshot(root: Path, tmp_path: Path, make_app: MakeApp) -> Snapshot:
    make_app(root).index()
    return open_snapshot(tmp_path / "index")


def _delete_texts(snapshot: Snapshot) -> Snapshot:
    """Delete the texts in the index and return a new snapshot."""
    with sqlite3.connect(snapshot.folder / "rootle.db") as connection:
        connection.execute("DELETE FROM texts")
    return open_snapshot(snapshot.folder)


def _read(root: Path | None, snapshot: Snapshot, name: str) -> list[str]:
    """Return the text of two ranges of a file."""
    states = {state.id: state for state in snapshot.all_files()}
    file_id = next(state.id for state in states.values() if state.path == name)
    ranges = [(file_id, 3, 20), (file_id, 0, 40)]
    return ExcerptReader(WorkingTree(root) if root else None, snapshot, states).read(ranges)


@pytest.mark.parametrize("name", ["plain.py", *_OTHERS])
def test_files_and_the_index_return_the_same_text(
    name: str, root: Path, snapshot: Snapshot
) -> None:
    text = (root / name).read_bytes().decode("utf-8-sig")
    assert _read(root, snapshot, name) == _read(None, snapshot, name) == [text[3:20], text[:40]]


def test_unchanged_files_are_read(root: Path, snapshot: Snapshot) -> None:
    emptied = _delete_texts(snapshot)
    assert _read(root, emptied, "plain.py") == [_PLAIN[3:20], _PLAIN[:40]]
    wide = _OTHERS["wide.py"]
    assert _read(root, emptied, "wide.py") == [wide[3:20], wide[:40]]
    _assert_reads_index(root, emptied, "mark.py")  # a file with a byte order mark
    _assert_reads_index(None, emptied, "plain.py")


def _assert_reads_index(root: Path | None, emptied: Snapshot, name: str) -> None:
    with pytest.raises(IndexStorageError, match="a part of a text is missing"):
        _read(root, emptied, name)


@pytest.mark.slow
@given(text=st.text(st.characters(codec="utf-8"), max_size=60), data=st.data())
def test_ranges_count_characters_not_bytes(text: str, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.txt")
        path.write_bytes(text.encode())
        info = path.stat()
        state = FileState(
            id=1,
            path="a.txt",
            size=info.st_size,
            mtime_ns=info.st_mtime_ns,
            seen_ns=info.st_mtime_ns + 10**10,
            digest=b"",
            skip=None,
            language="text",
            encoding="utf-8",
            chars=len(text),
            skipped_chars=0,
            committed_s=None,
            is_dirty=True,
            generation=1,
            ctime_ns=info.st_ctime_ns,
        )
        position = st.integers(0, len(text))
        pairs = data.draw(st.lists(st.tuples(position, position), min_size=1, max_size=3))
        ranges = [(1, min(pair), max(pair)) for pair in pairs]
        found = WorkingTree(Path(folder)).read_ranges(state, ranges)
        assert found == [text[start:end] for _, start, end in ranges]


def _overwrite(path: Path) -> None:
    path.write_text(_PLAIN.replace("one", "six"))


def _grow(path: Path) -> None:
    path.write_text("#" * 100 + _PLAIN)
    os.utime(path, (OLD_S, OLD_S))


def _link(path: Path) -> None:
    path.rename(path.with_name("elsewhere.py"))
    path.symlink_to("elsewhere.py")


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("change", [_overwrite, _grow, Path.unlink, _link, _pipe])
def test_a_changed_file_is_not_read(
    change: Callable[[Path], None], root: Path, snapshot: Snapshot
) -> None:
    change(root / "plain.py")
    assert _read(root, snapshot, "plain.py") == [_PLAIN[3:20], _PLAIN[:40]]
    _assert_reads_index(root, _delete_texts(snapshot), "plain.py")


def test_lines_are_not_read_through_a_folder_that_a_link_has_replaced(
    tmp_path: Path, make_app: MakeApp
) -> None:
    root = make_repository(tmp_path / "repo", {"sub/plain.py": _PLAIN})
    make_app(root).index()
    snapshot = open_snapshot(tmp_path / "index")
    write(tmp_path / "outside", "plain.py", _PLAIN.replace("one", "six"))
    (root / "sub").rename(tmp_path / "moved")
    (root / "sub").symlink_to(tmp_path / "outside")

    assert _read(root, snapshot, "sub/plain.py") == [_PLAIN[3:20], _PLAIN[:40]]


def test_a_file_that_was_written_while_it_was_indexed_is_not_read(
    tmp_path: Path, make_app: MakeApp
) -> None:
    root = make_repository(tmp_path / "repo", {"plain.py": _PLAIN})
    app = make_app(root)
    later = time.time() + 5  # later than the run, so that the file counts as written during the run
    os.utime(root / "plain.py", (later, later))
    app.index()
    info = (root / "plain.py").stat()
    (root / "plain.py").write_text(_PLAIN.replace("one", "six"))
    os.utime(root / "plain.py", ns=(info.st_atime_ns, info.st_mtime_ns))
    snapshot = open_snapshot(tmp_path / "index")
    assert _read(root, snapshot, "plain.py") == [_PLAIN[3:20], _PLAIN[:40]]


def test_cached_character_positions_are_used_only_for_the_same_content(
    root: Path, tmp_path: Path, make_app: MakeApp
) -> None:
    app, path = make_app(root), root / "wide.py"
    app.index()
    tree, snapshots = WorkingTree(root), [open_snapshot(tmp_path / "index")]
    text = path.read_text()
    reversed_text = text[::-1]  # the multi-byte characters are at other positions
    path.write_text(reversed_text)
    os.utime(path, (OLD_S, OLD_S))
    read = []
    for rebuild in (False, True):
        if rebuild:
            app.index(rebuild=True)
            snapshots.append(open_snapshot(tmp_path / "index"))
        states = {state.id: state for state in snapshots[-1].all_files()}
        file_id = next(state.id for state in states.values() if state.path == "wide.py")
        texts = ExcerptReader(tree, snapshots[-1], states)
        read.append(texts.read([(file_id, 0, len(text))])[0])
    assert read[1] == reversed_text


def test_a_page_may_mix_lines_from_files_and_from_the_index(root: Path, make_app: MakeApp) -> None:
    app = make_app(root, stale_check_seconds=3600.0)
    app.index()
    (root / "plain.py").unlink()
    found = {one.file_path: one for one in app.search(SearchQuery("def one two")).results}
    for name in ("other.py", "wide.py", "dos.py"):
        lines = (root / name).read_bytes().decode().split("\n")
        shown = found[name]
        assert shown.snippet.split("\n") == lines[shown.start_line - 1 : shown.end_line]
