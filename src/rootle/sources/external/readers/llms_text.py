"""The files `llms.txt` and `llms-full.txt`, with which sites describe themselves to models."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rootle.sources.external.readers.tree import FolderTree
from rootle.sources.external.records import ExternalDocument, ExternalSourceError

LIST: Final = "llms.txt"
FULL: Final = "llms-full.txt"
_LINK: Final = re.compile(r"\]\(\s*<?([^()\s<>]{1,2000})>?\s*\)")
_SOURCE: Final = re.compile(r"^(?:source|url|canonical)\s*:\s*(https?://\S{1,1000})", re.IGNORECASE)
_FENCE: Final = re.compile(r"\s{0,3}(?:```|~~~)")
# Number of lines, starting with the heading of a page, that are searched for its URL.
_HEAD_LINES: Final = 6


def read_llms_text(tree: FolderTree, name: str) -> Iterator[ExternalDocument | tuple[str, str]]:
    """Yield the parts of a file, and the local Markdown files to which it links."""
    text = tree.read_text(name)
    yield from split_llms_text(name, text)
    for link in list_links(text):
        path = link.partition("#")[0]
        if "://" not in link and path.lower().endswith((".md", ".txt")) and path != name:
            found = tree.find_page(path)
            if found is not None:
                yield _read_linked(tree, found)


def _read_linked(tree: FolderTree, path: str) -> ExternalDocument | tuple[str, str]:
    try:
        return ExternalDocument(path, tree.read_text(path), path)
    except ExternalSourceError as error:
        return path, str(error)


def list_links(text: str) -> list[str]:
    """Return the targets of the Markdown links in a text, each once."""
    return list(dict.fromkeys(_LINK.findall(text)))


def split_llms_text(name: str, text: str) -> Iterator[ExternalDocument]:
    """Yield a document for each heading of the first level. Headings in code are ignored."""
    parts = _split_at_headings(text.replace("\r\n", "\n"))
    for number, part in enumerate(parts, start=1):
        lines = part.split("\n")
        title = lines[0].lstrip("# ").strip() if lines[0].startswith("# ") else name
        sources = (_SOURCE.match(line.strip(" <>*")) for line in lines[:_HEAD_LINES])
        address = next((match[1] for match in sources if match), "")
        path = name if len(parts) == 1 else f"{name}/{number}-{_slug(title)}"
        yield ExternalDocument(path, part.rstrip("\n") + "\n", title, address=address)


def _split_at_headings(text: str) -> list[str]:
    parts: list[list[str]] = [[]]
    in_code = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            in_code = not in_code
        if line.startswith("# ") and not in_code and any(map(str.strip, parts[-1])):
            parts.append([])
        parts[-1].append(line)
    return ["\n".join(part) for part in parts if any(map(str.strip, part))]


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "part"
