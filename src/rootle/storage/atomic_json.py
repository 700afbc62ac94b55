"""Read and atomically replace small JSON files that several processes share."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from rootle.storage.atomic_file import write_file
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
    """Replace a file atomically with a JSON object. Raises OSError if writing fails."""
    content = json.dumps(data).encode()
    if not path.parent.is_dir():
        make_private_dir(path.parent)
    write_file(path, content, mode=mode, sync=False)
