"""Read an added folder or archive in a child process with limited memory and time."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rootle.sources.external.records import (
    MAX_DOCUMENT_CHARS,
    ExternalDocument,
    ExternalSourceError,
    document_from_json,
)

# The longest time without output. Unpacking the largest archive takes a few minutes.
_MAX_SILENCE_S: Final = 600.0
UNPACKED_PREFIX: Final = "unpacked-"
# Older folders are not in use, because reading an archive never takes a day.
_ABANDONED_AFTER_S: Final = 86_400.0
_MAX_LINE_CHARS: Final = 12 * MAX_DOCUMENT_CHARS
# The child imports from the same path as this process, but never from the current folder.
_PROGRAM: Final = """\
import sys
sys.path[:] = {path!r}
from rootle.sources.external.limited_child_main import main
main()
"""


@dataclass(frozen=True, slots=True)
class ReadNote:
    """A message from the child process about the source rather than about a document."""

    kind: str = ""  # the kind that was recognized
    skipped: str = ""  # the path of a document that was not read
    reason: str = ""
    cut: str = ""  # the path of a document that was not read to its end
    failure: str = ""  # why the rest of the source was not read
    is_limit: bool = False  # whether the reason is a limit, and not an error
    left_out: str = ""  # what was intentionally not read, in one sentence


def read_local_source(
    path: str, kind: str, max_documents: int, work_dir: str
) -> Iterator[ExternalDocument | ReadNote]:
    """Yield the documents of a folder or a file, and notes.

    An archive is unpacked below `work_dir` while it is read. If `kind` is empty, the kind of the
    source is detected.
    """
    delete_unpacked(work_dir, _ABANDONED_AFTER_S)
    # This process deletes the folder even if the child is killed.
    with tempfile.TemporaryDirectory(prefix=UNPACKED_PREFIX, dir=work_dir) as target:
        request = {"path": path, "kind": kind, "max_documents": max_documents, "target": target}
        yield from _run_child(request)


def delete_unpacked(work_dir: str, min_age_s: float = 0.0) -> None:
    """Delete the unpacked archives of processes that were killed.

    Folders that are younger than `min_age_s` seconds are kept, because another process may still be
    reading them.
    """
    for folder in Path(work_dir).glob(f"{UNPACKED_PREFIX}*"):
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime >= min_age_s:
                shutil.rmtree(folder, ignore_errors=True)


def _run_child(request: dict[str, Any]) -> Iterator[ExternalDocument | ReadNote]:
    path = request["path"]
    folders = [folder for folder in sys.path if folder]
    child = subprocess.Popen(
        [sys.executable, "-P", "-c", _PROGRAM.format(path=folders)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        # Only this process handles Ctrl-C; it then ends the child.
        process_group=0 if os.name == "posix" else None,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    has_ended = False
    try:
        with child.stdin:
            child.stdin.write(json.dumps(request).encode())
        while line := _read_line(child):
            item = _parse(line)
            if item is None:
                has_ended = True
                break
            yield item
            if isinstance(item, ReadNote) and item.failure:
                return
    except (ValueError, TypeError, KeyError, OSError) as error:
        raise ExternalSourceError(f"the process that reads {path} failed: {error}") from error
    finally:
        child.kill()
        child.stdout.close()
        child.wait()
    if not has_ended:
        yield ReadNote(failure=f"the process that reads {path} ended or took too long")


def _read_line(child: subprocess.Popen[bytes]) -> bytes:
    assert child.stdout is not None
    timer = threading.Timer(_MAX_SILENCE_S, child.kill)
    timer.daemon = True
    timer.start()
    try:
        return child.stdout.readline(_MAX_LINE_CHARS)
    finally:
        timer.cancel()


def _parse(line: bytes) -> ExternalDocument | ReadNote | None:
    """Return a document, a note, or None at the end."""
    data: dict[str, Any] = json.loads(line)
    if "document" in data:
        return document_from_json(data["document"])
    if "skipped" in data:
        path, reason = data["skipped"]
        return ReadNote(skipped=str(path), reason=str(reason))
    if "cut" in data:
        return ReadNote(cut=str(data["cut"]))
    if "kind" in data:
        return ReadNote(kind=str(data["kind"]))
    if "error" in data:
        return ReadNote(failure=str(data["error"])[:500])
    if "limited" in data:
        return ReadNote(
            failure=f"only the first {int(data['limited']):,} documents were read", is_limit=True
        )
    return None
