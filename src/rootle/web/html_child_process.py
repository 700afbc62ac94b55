"""Runs the conversion of HTML to Markdown in a child process with a timeout.

The HTML is untrusted, and the library contains native code. A child process prevents both from
crashing or blocking rootle.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from typing import Final

from rootle.errors import MissingExtraError, WebPageError

_TIMEOUT_S: Final = 10.0
# The child process has the import path of this process, without the current folder.
_PROGRAM: Final = """\
import sys
sys.path[:] = {path!r}
from rootle.web.main_content_to_markdown import main
main()
"""


def convert_html(html: str, url: str) -> str:
    """Return a page as Markdown. Raise WebPageError if the conversion fails or times out."""
    if find_spec("html_to_markdown") is None:
        raise MissingExtraError(
            "reading web pages requires another package: pip install 'rootle[web]'"
        )
    path = [folder for folder in sys.path if folder]
    try:
        child = subprocess.run(
            [sys.executable, "-P", "-c", _PROGRAM.format(path=path)],
            input=json.dumps([html, url]).encode(),
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
            # Ctrl-C must interrupt this process, but not the child process.
            process_group=0 if os.name == "posix" else None,
        )
    except subprocess.TimeoutExpired as error:
        raise WebPageError(
            f"{url} cannot be converted to Markdown within {_TIMEOUT_S:g} s"
        ) from error
    if child.returncode:
        raise WebPageError(f"{url} cannot be converted to Markdown")
    return child.stdout.decode()
