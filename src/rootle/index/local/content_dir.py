"""The content of an index. A rebuild replaces it atomically.

The first index is written to the index directory itself. A rebuild writes to a new subfolder. A
complete rebuild atomically replaces the pointer, a small file that contains the name of the current
subfolder. Until then, all processes read the previous content, even if the rebuild is killed. The
next writer can continue in the subfolder of the killed rebuild.
"""

from __future__ import annotations

import os
import re
import shutil
import zlib
from pathlib import Path
from secrets import token_hex
from typing import Final

from rootle.index.local.read_errors import unreadable
from rootle.storage.atomic_file import write_file
from rootle.storage.permissions import file_mode, make_subfolder

DATABASE_FILES: Final = ("rootle.db", "rootle.db-wal", "rootle.db-shm")
DERIVED_FOLDERS: Final = ("sparse", "dense")
POINTER_NAME: Final = "content"
_PREFIX: Final = "content-"
_POINTER: Final = re.compile(rf"({_PREFIX}[0-9a-f]{{8}}) ([0-9a-f]{{8}})\n")


def content_dir(index_dir: Path) -> Path:
    """Return the folder with the current content of an index.

    This is the index directory itself if the pointer is missing or damaged. Raises
    UnreadableIndexError if the pointer cannot be read. Returning the index directory in this case
    could cause a writer to delete the current content.
    """
    path = os.path.join(index_dir, POINTER_NAME)
    if not os.path.exists(path):  # the usual case; an exception would take longer
        return index_dir
    try:
        pointer = Path(path).read_bytes()
    except FileNotFoundError:  # deleted just now
        return index_dir
    except OSError as error:
        raise unreadable(Path(path), error) from error
    match = _POINTER.fullmatch(pointer.decode("ascii", "replace"))
    if match is None or _checksum(match[1]) != match[2]:
        return index_dir
    return index_dir / match[1]


def create_content_dir(index_dir: Path) -> Path:
    """Create an empty folder for the content of a rebuild."""
    folder = index_dir / f"{_PREFIX}{token_hex(4)}"
    make_subfolder(folder)
    return folder


def publish_content(index_dir: Path, content: Path) -> None:
    """Make a folder the current content of the index, atomically. Raises OSError if this fails."""
    pointer = f"{content.name} {_checksum(content.name)}\n".encode()
    write_file(index_dir / POINTER_NAME, pointer, mode=file_mode(index_dir))


def has_other_content(index_dir: Path) -> bool:
    """Return whether there is replaced content, or content of a running or killed rebuild."""
    current = content_dir(index_dir)
    names = [entry.name for entry in os.scandir(index_dir)]
    is_moved = current != index_dir and DATABASE_FILES[0] in names
    return is_moved or any(name.startswith(_PREFIX) and name != current.name for name in names)


def list_other_content(index_dir: Path) -> list[Path]:
    """Return the subfolders with replaced content, or content of running or killed rebuilds."""
    current = content_dir(index_dir)
    found = sorted(index_dir.glob(f"{_PREFIX}????????"))
    return [path for path in found if path != current and not path.is_symlink() and path.is_dir()]


def delete_other_content(index_dir: Path, keep: Path | None = None) -> None:
    """Delete replaced content and the remains of killed rebuilds, except the subfolder `keep`.

    The caller must hold the writer lock. Readers that have opened these files can still read them.
    """
    current = content_dir(index_dir)
    if current != index_dir:
        delete_content(index_dir)
    for path in (*index_dir.glob(f"{_PREFIX}????????"), *index_dir.glob(f"{POINTER_NAME}.*.new")):
        if path in (current, keep):
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def delete_derived(content: Path) -> None:
    """Delete everything that can be rebuilt from the database."""
    for name in DERIVED_FOLDERS:
        shutil.rmtree(content / name, ignore_errors=True)


def delete_content(content: Path) -> None:
    """Delete the database and the derived indexes."""
    for name in DATABASE_FILES:
        (content / name).unlink(missing_ok=True)
    delete_derived(content)


def delete_all_content(index_dir: Path) -> None:
    """Delete all content of an index, and the pointer to it."""
    delete_other_content(index_dir)  # first: without a pointer, replaced content becomes current
    (index_dir / POINTER_NAME).unlink(missing_ok=True)
    delete_other_content(index_dir)
    delete_content(index_dir)


def has_content(index_dir: Path) -> bool:
    """Return whether an index has a database."""
    return os.path.exists(content_dir(index_dir) / DATABASE_FILES[0])


def is_empty(content: Path) -> bool:
    """Return whether a folder has no database, or an empty file instead of one."""
    try:
        return os.path.getsize(content / DATABASE_FILES[0]) == 0
    except FileNotFoundError:
        return True


def _checksum(name: str) -> str:
    return f"{zlib.crc32(name.encode()):08x}"
