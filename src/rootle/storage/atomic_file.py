"""Replace or create a file atomically: it never exists with a part of its content."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from rootle.storage.permissions import PRIVATE_FILE


def write_user_file(path: Path, content: bytes, *, overwrite: bool = True) -> None:
    """Write a file that the user has named, and keep links; raise OSError.

    A stream, such as a pipe or `/dev/stdout`, is written and not replaced.
    """
    if overwrite and _is_stream(path):
        path.write_bytes(content)
    else:
        target = Path(os.path.realpath(path)) if overwrite else path
        write_file(target, content, overwrite=overwrite)


def _is_stream(path: Path) -> bool:
    # These folders contain links to the open files of the process, which may be regular files.
    if Path(os.path.abspath(path)).parts[1:2] in (("dev",), ("proc",)):
        return True
    return path.exists() and not path.is_file()


def write_file(
    path: Path,
    content: bytes,
    *,
    mode: int = PRIVATE_FILE,
    overwrite: bool = True,
    sync: bool = True,
) -> None:
    """Write a file with the whole content, or leave the previous one; raise OSError.

    Raise FileExistsError if the file exists and `overwrite` is false. With `sync`, the content
    survives a power failure.
    """
    # The temporary file's name starts with the name of the target, so that folder cleanup can
    # delete the file that a killed process left behind.
    temporary = path.with_name(f"{path.name}.{token_hex(4)}.new")
    try:
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            os.chmod(temporary, mode)  # whatever the umask
            file.write(content)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        if overwrite:
            os.replace(temporary, path)
        else:
            _rename_to_new(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _rename_to_new(temporary: Path, path: Path) -> None:
    """Rename a file; raise FileExistsError if there is a file of that name."""
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
