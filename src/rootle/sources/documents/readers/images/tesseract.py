"""Recognize the text in images with the program Tesseract."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Final

from rootle.sources.documents.places import DocumentError
from rootle.sources.documents.recognition import find_tesseract
from rootle.sources.files.skip_rules import READER_FAILED, TOO_SLOW
from rootle.types import NEEDS_OCR

# The time limit for one image. A page of text takes about two seconds.
_TIMEOUT_S: Final = 20.0
_MAX_CPU_S: Final = 30
_MAX_CHARS: Final = 200_000
# A line is kept if it has at least this many consecutive letters or digits. Other lines come from
# frames, icons and shadows.
_MIN_RUN: Final = 2
# A variable of libtiff, which by default refuses large progressive JPEG images inside TIFF images.
_ALLOW_LARGE_JPEG: Final = "LIBTIFF_ALLOW_LARGE_LIBJPEG_MEM_ALLOC"


def recognize_text(image: bytes, timeout_s: float = _TIMEOUT_S) -> str:
    """Return the lines of text in an image; an empty string if there are none.

    Raise DocumentError if Tesseract is missing, fails or takes too long. The limits on this
    process, for example on its memory, apply to Tesseract too.
    """
    program = find_tesseract()
    if program is None:
        raise DocumentError(NEEDS_OCR)
    # Each worker process reads one image at a time. More threads would only compete for the cores.
    environment = {**os.environ, "OMP_THREAD_LIMIT": "1", _ALLOW_LARGE_JPEG: "1"}
    try:
        done = subprocess.run(
            [program, "stdin", "stdout"],
            input=image,
            capture_output=True,
            timeout=timeout_s,
            cwd="/",
            env=environment,
            # Tesseract must end even if this process is killed before the timeout.
            preexec_fn=_limit_time if sys.platform != "win32" else None,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise DocumentError(TOO_SLOW) from error
    except OSError as error:
        raise DocumentError(READER_FAILED) from error
    if done.returncode:
        raise DocumentError(READER_FAILED)
    lines = done.stdout.decode("utf-8", "replace")[:_MAX_CHARS].split("\n")
    return "\n".join(line for line in map(_clean, lines) if line)


def _limit_time() -> None:
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (_MAX_CPU_S, _MAX_CPU_S))


def _clean(line: str) -> str:
    """Return a line without form feeds, or an empty string if it contains no word."""
    line = " ".join(line.split())
    run = 0
    for character in line:
        run = run + 1 if character.isalnum() else 0
        if run >= _MIN_RUN:
            return line
    return ""
