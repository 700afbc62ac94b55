"""Create a view: an index of some documents of another index, whose data files it shares.

The data files of the word index never change, and those of the vector matrix only grow. A view
therefore links to them, and has its own small state files, which mark all other documents as
deleted. Word statistics count only the documents of the view.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from rootle.index.local.content_dir import DATABASE_FILES
from rootle.index.local.database import open_database
from rootle.index.local.derived_indexes import DENSE_FOLDER, SPARSE_FOLDER
from rootle.index.local.inverted_index import commit_state
from rootle.index.local.inverted_index.segment import Segment
from rootle.index.local.manifest import Manifest
from rootle.index.local.vector_matrix import matrix_files
from rootle.index.local.views.shared_database import BASE_NAME
from rootle.index.reader import FileState, Level
from rootle.protocols import Ids
from rootle.storage.permissions import file_mode, make_subfolder
from rootle.storage.transaction import write_transaction


def write_view(
    base: Path,
    folder: Path,
    files: Sequence[FileState],
    own_files: Sequence[FileState],
    values: Mapping[str, str],
    add_dates: Callable[[sqlite3.Connection], None],
) -> None:
    """Write a view of `files`, which are in the index at `base`, to an empty folder next to it.

    `own_files` are skipped files that only the view contains. `values` become its manifest values.
    `add_dates` is called in the transaction that writes the files.
    """
    last = max((state.id for state in files), default=0)
    with closing(open_database(folder, create=True)) as connection:
        manifest = Manifest(connection)
        with write_transaction(connection):
            for state in files:
                manifest.put(state)
            for number, state in enumerate(own_files, start=last + 1):
                manifest.put(state._replace(id=number))
            for name, value in values.items():
                manifest.set_value(name, value)
            add_dates(connection)
        connection.execute("VACUUM")
    link_data(base, folder, [state.id for state in files], int(values["generation"]))
    (folder / BASE_NAME).write_text(f"{base.name}\n", "ascii")
    (folder / BASE_NAME).chmod(file_mode(folder))


def list_view_files(folder: Path) -> list[FileState]:
    """Return the files of a view whose content is in the shared index."""
    with closing(open_database(folder, create=False)) as connection:
        return [state for state in Manifest(connection).files() if state.digest is not None]


def link_data(base: Path, folder: Path, file_ids: Collection[int], generation: int) -> None:
    """Link a view to the current data files of its index; replace older links."""
    ids = np.sort(np.fromiter(file_ids, np.int64, len(file_ids)))
    _link_words(base / SPARSE_FOLDER, folder / SPARSE_FOLDER, ids, generation)
    _link_vectors(base / DENSE_FOLDER, folder / DENSE_FOLDER, ids, generation)


def has_current_links(base: Path, folder: Path) -> bool:
    """Return whether the index still uses all data files to which a view links."""
    own = {path.name for path in folder.glob("*/*") if path.suffix in (".words", ".bin")}
    return own <= {path.name for path in base.glob("*/*")}


def _link_words(source: Path, target: Path, ids: Ids, generation: int) -> None:
    make_subfolder(target)
    state = commit_state.read_state(source)
    segments: dict[Level, list[commit_state.SegmentEntry]] = {}
    for level, entries in state.segments.items():
        kept = []
        for entry in entries:
            path = commit_state.segment_path(source, entry.name)
            segment = Segment(path, commit_state.FIELDS[level])
            live = segment.mark_files(ids)
            stored = entry.live(segment.count)
            live = live if stored is None else live & stored
            if live.any():
                _link(path, target / path.name)
                kept.append(commit_state.entry_with(entry.name, live))
        segments[level] = kept
    commit_state.write_state(target, commit_state.CommitState(generation, segments))


def _link_vectors(source: Path, target: Path, ids: Ids, generation: int) -> None:
    make_subfolder(target)
    state = matrix_files.read_state(source)
    info = matrix_files.read_row_table(source, state)
    gone = np.flatnonzero(~np.isin(info["file"], ids)).tolist()
    paths = [matrix_files.data_path(source, state.epoch, kind) for kind in state.row_bytes]
    links = [target / path.name for path in paths]
    for path, link in zip(paths, links, strict=True):
        _link(path, link)
    dead = tuple(sorted({*state.dead, *gone}))
    matrix_files.write_state(target, replace(state, generation=generation, dead=dead))
    matrix_files.delete_other_files(target, links)


def copy_index(source: Path, target: Path) -> None:
    """Copy an index to an empty folder. The caller holds the writer lock of the source."""
    with closing(open_database(source, create=False)) as connection:
        connection.execute("VACUUM INTO ?", (str(target / DATABASE_FILES[0]),))
    (target / DATABASE_FILES[0]).chmod(file_mode(target))
    for name in (SPARSE_FOLDER, DENSE_FOLDER):
        make_subfolder(target / name)
        for path in (source / name).iterdir():
            if path.suffix == ".words":
                _link(path, target / name / path.name)
            elif path.is_file():  # the writer appends to the vectors
                shutil.copy2(path, target / name / path.name)


def _link(path: Path, link: Path) -> None:
    """Create a hard link, or a copy where the file system has no hard links."""
    if link.exists() and os.path.samefile(path, link):
        return
    with suppress(FileNotFoundError):
        link.unlink()
    try:
        os.link(path, link)
    except OSError:
        shutil.copy2(path, link)
