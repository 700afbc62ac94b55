"""Start the child process that reads documents, send it files, and end it if it hangs."""

from __future__ import annotations

import atexit
import json
import logging
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from rootle.sources.documents.limited_child_main import HEADER, MAX_SECONDS, RECOGNITION_SECONDS
from rootle.sources.documents.places import join_places
from rootle.sources.files.skip_rules import (
    DAMAGED,
    ENCRYPTED,
    IMAGE_WITHOUT_TEXT,
    NO_TEXT,
    READER_FAILED,
    TOO_LARGE,
    TOO_MUCH_MEMORY,
    TOO_SLOW,
    UNREADABLE,
)
from rootle.sources.plain_text import plain_text
from rootle.types import NEEDS_OCR, DocumentSection

_LOG = logging.getLogger(__name__)

# The current folder may be untrusted. The option -P and the assignment to `sys.path` exclude it
# from the import path.
_PROGRAM: Final = (
    "import sys; sys.path[:] = {path!r}; "
    "from rootle.sources.documents.limited_child_main import main; main()"
)
# On Windows, the child cannot end itself after MAX_SECONDS, but this timeout works there too.
_TIMEOUT_S: Final = MAX_SECONDS + 5.0
# JSON writes a character outside ASCII as up to 12 bytes.
_BYTES_PER_CHAR: Final = 12
_MAX_OTHER_BYTES: Final = 100_000_000
_REASONS: Final = frozenset(
    {
        DAMAGED,
        ENCRYPTED,
        IMAGE_WITHOUT_TEXT,
        NEEDS_OCR,
        NO_TEXT,
        READER_FAILED,
        TOO_LARGE,
        TOO_MUCH_MEMORY,
        TOO_SLOW,
        UNREADABLE,
    }
)


@dataclass(frozen=True, slots=True)
class DocumentText:
    """The text of a document with its places."""

    text: str
    sections: tuple[DocumentSection, ...]
    title: str
    author: str
    date_s: float | None
    language: str
    omitted_chars: int
    is_recognized: bool = False  # whether some of the text was recognized in images


class DocumentProcess:
    """A child process that is started for the first document, and again after it has ended.

    Thread-safe; the child reads one document at a time.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def read(
        self,
        root: str,
        path: str,
        document_format: str,
        max_chars: int,
        *,
        recognizes: bool = False,
    ) -> DocumentText | str:
        """Return the text of a document below `root`, or the reason to skip it.

        At most `max_chars` characters are returned; the number of omitted characters is estimated.
        With `recognizes`, text is also recognized in images and in scanned pages.
        """
        request = {
            "root": root,
            "path": path,
            "document_format": document_format,
            "max_chars": max_chars,
            "recognizes": recognizes,
        }
        message = json.dumps(request).encode()
        timeout_s = _TIMEOUT_S + RECOGNITION_SECONDS * recognizes
        with self._lock:
            answer = (
                self._ask(message, max_chars, timeout_s)
                or self._ask(message, max_chars, timeout_s)
                or READER_FAILED
            )
        if isinstance(answer, str):
            _LOG.warning("%s: the process that reads documents ended: %s", path, answer)
            return answer
        if "reason" in answer:
            reason = answer["reason"]
            return reason if reason in _REASONS else READER_FAILED
        try:
            return _make_text(answer)
        except (KeyError, TypeError, ValueError):
            return READER_FAILED

    def end(self) -> None:
        """End the child process, if there is one. Another one is started for the next document."""
        child, self._child = self._child, None
        if child is not None and self._owner == os.getpid():
            child.kill()
            child.communicate()

    def _ask(self, request: bytes, max_chars: int, timeout_s: float) -> dict[str, Any] | str | None:
        """Return the answer, or the reason to skip the document.

        Return None if the child had just ended itself because it was idle.
        """
        started = time.monotonic()
        try:
            child = self._running()
        except OSError as error:  # for example, there is no memory for another process
            _LOG.warning("the process that reads documents cannot be started: %s", error)
            return READER_FAILED
        assert child.stdin is not None
        assert child.stdout is not None
        timed_out = threading.Event()

        def stop() -> None:
            timed_out.set()
            child.kill()

        timer = threading.Timer(timeout_s, stop)
        timer.daemon = True
        timer.start()
        try:
            child.stdin.write(HEADER.pack(len(request)) + request)
            child.stdin.flush()
            header = child.stdout.read(HEADER.size)
            size = HEADER.unpack(header)[0] if len(header) == HEADER.size else 0
            if 0 < size <= max_chars * _BYTES_PER_CHAR + _MAX_OTHER_BYTES:
                answer = json.loads(child.stdout.read(size))
                if isinstance(answer, dict):
                    return answer
        except (OSError, ValueError, RecursionError):
            pass
        finally:
            timer.cancel()
        with suppress(subprocess.TimeoutExpired):
            child.wait(1)  # its exit status shows why it ended
        ended_itself = child.returncode == -_SIGALRM
        hung = timed_out.is_set() or ended_itself
        self.end()
        if ended_itself and time.monotonic() - started < MAX_SECONDS / 2:
            return None
        return TOO_SLOW if hung else READER_FAILED

    def _running(self) -> subprocess.Popen[bytes]:
        """Return the running child, or start one. A forked process starts its own child."""
        child = self._child
        if child is not None and self._owner == os.getpid() and child.poll() is None:
            return child
        self.end()
        path = [folder for folder in sys.path if folder]
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-c", _PROGRAM.format(path=path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Only this process handles Ctrl-C; it then ends the child.
            process_group=0 if os.name == "posix" else None,
        )
        if not self._owner:
            atexit.register(self.end)
        self._owner = os.getpid()
        return self._child


_SIGALRM: Final = 14

DOCUMENT_PROCESS: Final = DocumentProcess()


def _make_text(answer: dict[str, Any]) -> DocumentText:
    """Join the places of an untrusted answer: a malicious document may control the child."""
    places = [
        (_single_line(label), _single_line(title), plain_text(text))
        for label, title, text in answer["places"]
    ]
    text, sections = join_places(places)
    date_s = answer["date_s"]
    return DocumentText(
        text,
        sections,
        _single_line(answer["title"])[:500],
        _single_line(answer["author"])[:500],
        None if date_s is None else float(date_s),
        plain_text(answer["language"]),
        max(0, int(answer["omitted_chars"])),
        bool(answer["is_recognized"]),
    )


def _single_line(text: object) -> str:
    return plain_text(text).replace("\n", " ")
