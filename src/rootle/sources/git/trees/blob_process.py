"""Read the contents of many files of a repository from one running git process."""

from __future__ import annotations

import re
import secrets
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from rootle.sources.git.command import GitSession, open_session

_HEADER: Final = re.compile(rb"[0-9a-f]{40,64} blob (\d+)\n")
_MAX_HEADER_BYTES: Final = 200
# Time limit for one file. git needs this long only if the disk hangs.
_TIMEOUT_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class BlobContent:
    """The content of a stored file, or its beginning up to a limit."""

    raw: bytes
    size: int  # the size of the whole content, in bytes


class BlobProcess:
    """A git process. It starts on first use, and again after a read that exceeds `max_bytes`.

    An object of this class can be pickled; the copy starts its own process.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._session: GitSession | None = None

    def __reduce__(self) -> tuple[type[BlobProcess], tuple[str]]:
        return BlobProcess, (self._folder,)

    def read(self, blob: str, max_bytes: int) -> BlobContent | None:
        """Return the content with this hash, at most `max_bytes` of it.

        Return None if the repository lacks this content.
        """
        if self._session is None:
            self._session = open_session(self._folder, "cat-file", "--batch", config={})
        if self._session is None:
            return None
        # The hash is followed by a marker, which is not the name of an object. git prints the
        # marker after the output for the hash, so the marker shows where this output ends.
        marker = f"end-{secrets.token_hex(16)}"
        request, end = f"{blob}\n{marker}\n", f"\n{marker} missing\n"
        limit = max_bytes + _MAX_HEADER_BYTES
        data = self._session.ask(request.encode("ascii"), end.encode("ascii"), limit, _TIMEOUT_S)
        is_cut = not self._session.is_open
        if is_cut:
            self.close()
        return _parse(data, max_bytes, is_cut=is_cut)

    def close(self) -> None:
        """End the process; the next read starts another one."""
        session, self._session = self._session, None
        if session is not None:
            with suppress(OSError):
                session.close()


def _parse(data: bytes, max_bytes: int, *, is_cut: bool) -> BlobContent | None:
    header = _HEADER.match(data)
    if header is None:
        return None
    size = int(header[1])
    raw = data[header.end() : header.end() + min(size, max_bytes)]
    if len(raw) < min(size, max_bytes):  # git ended early
        return None
    return BlobContent(raw, size) if is_cut or len(data) == header.end() + size else None
