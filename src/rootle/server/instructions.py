"""The instructions that a server sends to its clients: the folder, and the use of each tool."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from rootle.serialization.path_text import escape_path
from rootle.tools.query_wording import QUERY_ADVICE

_USES: Final[Mapping[str, str]] = {
    "vectordb_search": (
        "find where or how something is done, or something that you cannot name exactly, before "
        f"you open files. The query: {QUERY_ADVICE}"
    ),
    "vectordb_read": (
        "read more around a result, by its source, or any file, section, definition or commit."
    ),
    "recall": "look up facts about the user and the project that earlier sessions stored.",
    "remember": "store such a fact for later sessions.",
    "web_search": "find public web pages.",
    "web_read": "read one of them.",
}
_GREP: Final = (
    "grep is better for a known name, text or pattern, for every occurrence of it, and as long as "
    "answers are partial because the index is still being built."
)


def instructions_for(folder: Path, tools: Collection[str]) -> str:
    """Return the instructions for a server that searches a folder with the named tools."""
    about = (
        f"Searches the code and documents in {short_path(folder)}, by meaning and by words. "
        "The index is updated automatically."
    )
    uses = [f"- {name}: {use}" for name, use in _USES.items() if name in tools]
    return "\n".join([about, *uses, f"- {_GREP}"])


def short_path(folder: Path) -> str:
    """Return the absolute path of a folder, with `~` for the home folder."""
    path, home = os.path.abspath(folder), os.path.expanduser("~")
    if os.path.isabs(home) and path.startswith(home.rstrip(os.sep) + os.sep):
        path = "~" + path[len(home.rstrip(os.sep)) :]
    return escape_path(path)
