"""The process that makes Markdown of HTML, from the side of whoever waits for it.

The HTML is a stranger's and the library is not Python: whatever they do to each other, it ends
after some seconds and costs nobody else anything.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from typing import Final

from rootle.errors import MissingExtraError, WebPageError

_LONGEST_S: Final = 10.0
# It imports what this process does, wherever that came from, and nothing of the current folder.
_COMMAND: Final = """\
import sys
sys.path[:] = {path!r}
from rootle.web.html_page import main
main()
"""


def markdown_of(html: str, url: str) -> str:
    """The page as Markdown. Raises WebPageError for one that cannot be read in some seconds."""
    if find_spec("html_to_markdown") is None:
        raise MissingExtraError(
            "reading pages of the web needs another package: pip install 'rootle[web]'"
        )
    path = [folder for folder in sys.path if folder]
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", _COMMAND.format(path=path)],
            input=json.dumps([html, url]).encode(),
            capture_output=True,
            timeout=_LONGEST_S,
            check=False,
            # Ctrl-C is for this process alone.
            process_group=0 if os.name == "posix" else None,
        )
    except subprocess.TimeoutExpired as error:
        raise WebPageError(
            f"{url} takes longer than {_LONGEST_S:g} s to be made Markdown"
        ) from error
    if done.returncode:
        raise WebPageError(f"{url} cannot be made Markdown")
    return done.stdout.decode()
