"""Small JSON files that several processes read and replace atomically."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any, Final

OWNER_ONLY: Final = 0o600
DEFAULT_MODE: Final = 0o666  # less the umask, as for any new file


def read_json(path: Path) -> dict[str, Any]:  # Any: the content of the file
    """Return the object in a file, or {} if the file is missing, unreadable or damaged.

    A damaged file is deleted, since no later read would succeed.
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


def write_json(path: Path, data: dict[str, Any], *, mode: int = OWNER_ONLY) -> None:
    """Replace a file atomically with a JSON object. Raises OSError."""
    content = json.dumps(data).encode()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # The draft shares the name of the file, so that the cleanup of a folder finds the draft of a
    # process that was killed.
    draft = path.with_name(f"{path.name}.{token_hex(4)}.new")
    try:
        with open(draft, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.write(content)
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise
