"""Read the patches of many commits from one running git process."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from typing import Final
from weakref import finalize

from rootle.sources.git.command import GitSession, open_session
from rootle.sources.git.commits.patch_parsing import FORMAT, CommitPatch, parse_patch

# A longer patch moves or imports many files. Its beginning is kept.
_MAX_PATCH_BYTES: Final = 2_000_000
# git needs this long only for a commit that changes thousands of files.
_TIMEOUT_S: Final = 60.0
_OPTIONS: Final = (
    *("--stdin", "--always", "--root", "-r", "-M", "-l300", "--raw", "-p", "-z", "-U1"),
    *("--no-ext-diff", "--no-textconv", "--no-color", "--no-notes", "--encoding=UTF-8"),
    *("--diff-algorithm=myers", "--ignore-submodules", f"--format={FORMAT}"),
)
# The lines that begin a definition, by file type. git knows these languages, but not by file name.
_ATTRIBUTES: Final = os.path.join(os.path.dirname(__file__), "definitions.gitattributes")
_DEFINITIONS: Final = {
    "core.attributesFile": _ATTRIBUTES,
    "diff.rootle-script.xfuncname": (
        "!^[ \t]*(if|else|for|while|switch|catch|return|await|do|throw|new|yield)[^A-Za-z0-9_$]\n"
        "^[ \t]*((export|default|async|static|public|private|protected|abstract|override|get|set"
        "|readonly)[ \t]+)*((function|class|interface|enum|type|namespace)[ \t*]"
        "|(const|let|var)[ \t]+[A-Za-z0-9_$]+[^=]*=[^=].*(=>|function)"
        "|[A-Za-z_$#][A-Za-z0-9_$]*[ \t]*(<[^>]*>)?\\([^;]*\\{[ \t]*$).*"
    ),
    "diff.rootle-script.binary": "auto",
    "diff.rootle-swift.xfuncname": (
        "^[ \t]*((@?[A-Za-z]+(\\([a-z]+\\))?)[ \t]+)*"
        "(func|class|struct|enum|protocol|extension|init|actor)[ \t(<].*"
    ),
    "diff.rootle-shell.xfuncname": (
        "^[ \t]*((function[ \t]+[A-Za-z0-9_:-]+)|([A-Za-z0-9_:-]+[ \t]*\\(\\))).*"
    ),
}


class PatchProcess:
    """A git process that is started on first use, and again after a patch that is too long.

    It can be pickled: the copy starts its own process.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._session: GitSession | None = None

    def __reduce__(self) -> tuple[type[PatchProcess], tuple[str]]:
        return PatchProcess, (self._folder,)

    def read(self, sha: str) -> CommitPatch | None:
        """Return a commit with its changes; None if the repository does not have it."""
        if self._session is None:
            self._session = open_session(self._folder, "diff-tree", *_OPTIONS, config=_DEFINITIONS)
            if self._session is None:
                return None
            finalize(self, self._session.close)  # if nothing calls `close`
        # git repeats a line that is no hash, after the output for the lines before it.
        marker = f"end {secrets.token_hex(16)}\n"
        request = f"{sha}\n{marker}".encode("ascii")
        data = self._session.ask(request, marker.encode("ascii"), _MAX_PATCH_BYTES, _TIMEOUT_S)
        is_cut = not self._session.is_open
        if is_cut:
            self.close()
        return parse_patch(data, is_cut=is_cut)

    def close(self) -> None:
        """End the process; the next read starts another one."""
        session, self._session = self._session, None
        if session is not None:
            with suppress(OSError):
                session.close()
