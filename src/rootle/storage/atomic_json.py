"""Small files of JSON that many processes read and write: whole ones or none."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any


def read_json(path: Path) -> dict[str, Any]:  # Any: whatever stands in it
    """The object in a file; {} where there is none, and for a broken one, which is deleted."""
    try:
        data = json.loads(path.read_bytes())
        if isinstance(data, dict):
            return data
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError):
        pass
    with suppress(OSError):
        path.unlink()
    return {}


def replace_json(path: Path, data: dict[str, Any]) -> None:
    """Put an object in the place of a file, in one step. Raises OSError."""
    text = json.dumps(data).encode()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Readable for its owner alone: what somebody looks up is nobody else's business. Named after
    # the file, so that what a killed process leaves is found beside it.
    descriptor, name = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".new", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text)
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
