"""Read and atomically replace small JSON files that several processes share."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

from rootle.storage.permissions import PRIVATE_FILE, make_private_dir


def read_json(path: Path) -> dict[str, Any]:  # Any: the content of the file
    """Return the object in a file, or {} if the file is missing, unreadable or damaged.

    A damaged file is deleted, because later reads would fail too.
    """
    try:
        data = json.loads(path.read_bytes())
    except OSError:
        return {}
    except (ValueError, RecursionError):
        data = None
    if isinstance(data, dict):
        return data
    with suppress(OSError):
        path.unlink()
    return {}


def write_json(path: Path, data: dict[str, Any], *, mode: int = PRIVATE_FILE) -> None:
    """Replace a file atomically with a JSON object. Raises OSError."""
    content = json.dumps(data).encode()
    if not path.parent.is_dir():
        make_private_dir(path.parent)
    # The temporary file's name starts with the name of the target, so that folder cleanup can
    # delete the file that a killed process left behind.
    temporary = path.with_name(f"{path.name}.{token_hex(4)}.new")
    try:
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            os.chmod(temporary, mode)  # whatever the umask
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
