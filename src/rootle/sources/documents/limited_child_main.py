"""The main program of the child process that reads documents.

Documents may be malicious, and some of the libraries contain native code. The memory of the child
is therefore limited, and the child ends itself if a document takes too long, even if its parent has
been killed.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, BinaryIO, Final

from rootle.sources.documents.places import (
    DocumentError,
    ExtractedDocument,
    LimitReachedError,
)
from rootle.sources.files.skip_rules import (
    DAMAGED,
    NO_TEXT,
    READER_FAILED,
    TOO_MUCH_MEMORY,
    TOO_SLOW,
    UNREADABLE,
)
from rootle.storage.open_without_links import open_below

HEADER: Final = struct.Struct("<Q")
# Seconds after which the child stops reading a document. The text read so far is then returned
# without an error.
_TIME_PER_DOCUMENT_S: Final = 20.0
# Seconds after which the child ends itself. This second limit is needed because a single step, such
# as opening a file, can take longer than _TIME_PER_DOCUMENT_S. The parent waits a few seconds
# longer.
MAX_SECONDS: Final = 30
# Seconds added to each of these limits if text in images is recognized. A page takes one to three
# seconds.
RECOGNITION_SECONDS: Final = 100
# Seconds without a request after which the child ends itself. Its parent may run for weeks after it
# has indexed the last document.
_MAX_IDLE_S: Final = 60
# The limit is per child, and each process that indexes documents has a child. Documents of ordinary
# size need less than 100 MB.
_MAX_MEMORY_BYTES: Final = 256 << 20
# Rendering pages, and recognizing text in large images, needs more memory.
_MAX_IMAGE_MEMORY_BYTES: Final = 768 << 20
_IMAGES: Final = frozenset({"image", "screenshot"})

_READERS: Final = {
    "notebook": ("notebook", "read_notebook"),
    "mail": ("messages.mail", "read_mail"),
    "word": ("word", "read_word"),
    "slides": ("slides", "read_slides"),
    "spreadsheet": ("spreadsheet", "read_spreadsheet"),
    "opendocument": ("opendocument", "read_opendocument"),
    "book": ("book", "read_book"),
    "pdf": ("pdf", "read_pdf"),
    "drawio": ("diagrams.drawio", "read_drawio"),
    "svg": ("diagrams.svg", "read_svg"),
    "drawio_png": ("images.image", "read_stored_diagram"),
    "image": ("images.image", "read_image"),
    "screenshot": ("images.image", "read_screenshot"),
}

ReadFormat = Callable[[BinaryIO, ExtractedDocument], None]


def main() -> None:
    """Read the documents that are named on standard input, until the parent closes this stream."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit_process()
    requests = sys.stdin.buffer
    # A library that prints must not break the stream of answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _end_after(_MAX_IDLE_S)
    while header := requests.read(HEADER.size):
        request = json.loads(requests.read(*HEADER.unpack(header)))
        _end_after(MAX_SECONDS + RECOGNITION_SECONDS * request["recognizes"])
        _limit_memory(request["recognizes"] or request["document_format"] in _IMAGES)
        answer = json.dumps(_answer(**request)).encode()
        answers.write(HEADER.pack(len(answer)) + answer)
        answers.flush()
        _end_after(_MAX_IDLE_S)


def _end_after(seconds: int) -> None:
    """End this process after this number of seconds. Each call replaces the previous limit."""
    if sys.platform != "win32":
        signal.alarm(seconds)


def _limit_process() -> None:
    if sys.platform == "win32":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # this process never writes files


def _limit_memory(for_images: bool) -> None:
    """Limit the memory of this process; each process that it starts has its own, equal limit."""
    if sys.platform == "linux":  # other systems do not support this limit
        import resource

        limit = _MAX_IMAGE_MEMORY_BYTES if for_images else _MAX_MEMORY_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (limit, _MAX_IMAGE_MEMORY_BYTES))


def _answer(
    root: str,
    path: str,
    document_format: str,
    max_chars: int,
    recognizes: bool,
) -> dict[str, Any]:
    seconds = _TIME_PER_DOCUMENT_S + RECOGNITION_SECONDS * recognizes
    found = ExtractedDocument(max_chars, seconds, recognizes=recognizes)
    try:
        reason = _read(root, path, document_format, found)
    except MemoryError:
        found.places.clear()
        reason = TOO_MUCH_MEMORY
    if reason:
        return {"reason": reason}
    return {
        "places": [[place.label, place.title, place.text] for place in found.places],
        "title": found.title,
        "author": found.author,
        "date_s": found.date_s,
        "language": found.language,
        "omitted_chars": found.omitted_chars,
        "is_recognized": found.is_recognized,
    }


def _read(root: str, path: str, document_format: str, found: ExtractedDocument) -> str:
    """Read a document; return the reason why it cannot be read, or an empty string."""
    module, function = _READERS[document_format]
    reader: ReadFormat = getattr(
        import_module(f"rootle.sources.documents.readers.{module}"), function
    )
    try:
        file = os.fdopen(open_below(root, path), "rb")
    except OSError:
        return UNREADABLE
    with file:
        try:
            reader(file, found)
        except LimitReachedError:
            return "" if found.places else TOO_SLOW
        except DocumentError as error:
            return str(error)
        except RecursionError:
            return DAMAGED
        except MemoryError:
            raise
        except Exception:
            return READER_FAILED  # a damaged file can cause any error
    return "" if found.places else NO_TEXT
