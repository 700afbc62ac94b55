"""The instructions that a server sends to its clients: its folder, and when to use each tool."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from rootle.serialization.path_text import short_path

_USES: Final[Mapping[str, str]] = {
    "vectordb_search": "find where or how something is done, before you open files",
    "vectordb_read": "read more around a result",
    "recall": "look up stored facts about the user and the project",
    "remember": "store such a fact for later sessions",
    "web_search": "find public web pages",
    "web_read": "read one of them",
}
_GREP: Final = (
    "grep: find a known string, or anything while answers are partial (index being built)"
)


def instructions_for(folder: Path, tools: Collection[str]) -> str:
    """Return the instructions for a server that searches a folder with the named tools."""
    about = (
        f"Searches the code and documents in {short_path(folder)}; the index is kept up to date."
    )
    uses = [f"- {name}: {use}" for name, use in _USES.items() if name in tools]
    return "\n".join([about, *uses, f"- {_GREP}"])
