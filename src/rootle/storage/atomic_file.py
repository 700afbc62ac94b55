"""Create or replace a file atomically: other processes never see it partially written."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from errno import EISDIR
from pathlib import Path
from secrets import token_hex
from typing import Final

from rootle.storage.permissions import PRIVATE_FILE

_OPEN_FILES: Final = re.compile(r"/(?:dev/(?:stdin|stdout|stderr|fd/.*)|proc/.*)\Z", re.DOTALL)


def write_user_file(path: Path, content: bytes, *, overwrite: bool = True) -> None:
    """Write a file that the user has named. If it is a symbolic link, write the file it points to.

    A stream, such as a pipe or `/dev/stdout`, is written directly and not replaced. Raises
    FileExistsError if the file exists and `overwrite` is false, and OSError if writing fails.
    """
    if overwrite and is_stream(path):
        path.write_bytes(content)
    else:
        target = Path(os.path.realpath(path)) if overwrite else path
        write_file(target, content, overwrite=overwrite)


def is_stream(path: Path) -> bool:
    """Return whether a path exists but is not a regular file, as for a pipe or `/dev/stdout`."""
    # These paths are links to files that the process has open. Replacing such a file would break a
    # redirection, even if it is a regular file.
    if _OPEN_FILES.match(os.path.abspath(path)):
        return True
    return path.exists() and not path.is_file()


def write_file(
    path: Path,
    content: bytes,
    *,
    mode: int = PRIVATE_FILE,
    overwrite: bool = True,
    sync: bool = True,
    keep_permissions: bool = False,
) -> None:
    """Write the whole content to a file, or leave the file unchanged and raise OSError.

    Raises FileExistsError if the file exists and `overwrite` is false. With `sync`, the content
    survives a power failure. With `keep_permissions`, an existing file keeps its mode and, if the
    process may change it, its owner; `mode` is the mode of a new file.
    """
    if not path.name:  # a folder, such as "." or "/"
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR), os.fspath(path))
    # The name of the temporary file starts with the name of the target, so that code that cleans up
    # a folder can recognize the temporary files of killed processes.
    temporary = path.with_name(f"{path.name}.{token_hex(4)}.new")
    try:
        # Other users may read the file only when it has its final owner and mode.
        with open(temporary, "xb", opener=_open_privately) as file:
            file.write(content)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        if keep_permissions:
            mode = _take_owner(temporary, path, mode)
        os.chmod(temporary, mode)  # regardless of the umask
        if overwrite:
            os.replace(temporary, path)
        else:
            _rename_to_new(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _open_privately(name: str, flags: int) -> int:
    return os.open(name, flags, PRIVATE_FILE)


def _take_owner(temporary: Path, path: Path, mode: int) -> int:
    """Give `temporary` the owner of `path`. Return the mode of `path`; `mode` if it is new."""
    try:
        state = os.stat(path)
    except FileNotFoundError:
        return mode
    if hasattr(os, "chown"):
        # Only root may change the owner; other users usually own the file already.
        with suppress(PermissionError):
            os.chown(temporary, state.st_uid, state.st_gid)
    return stat.S_IMODE(state.st_mode)


def _rename_to_new(temporary: Path, path: Path) -> None:
    """Rename a file. Raise FileExistsError if the new name is already in use."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError as error:  # the file system has no hard links
        if os.path.lexists(path):
            raise FileExistsError(path) from error
        os.replace(temporary, path)
    else:
        temporary.unlink()
