"""Helpers of the documentation tests that parse the pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
DOCS = TOP / "docs"
PAGES = sorted(
    [
        *TOP.glob("*.md"),
        *DOCS.rglob("*.md"),
        TOP / "benchmarks/README.md",
        *TOP.glob("training/*.md"),
    ]
)
_FENCE = re.compile(r"^(`{3,})(\w*)\n(.*?)^\1$", re.DOTALL | re.MULTILINE)
_GENERATED = re.compile(r"<!-- generated: .*?<!-- end -->", re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced code block of a page."""

    language: str
    code: str


def page_name(page: Path) -> str:
    """Return the path of a page relative to the repository."""
    return page.relative_to(TOP).as_posix()


def handwritten(page: Path) -> str:
    """Return the text of a page without its generated parts."""
    return _GENERATED.sub("", page.read_text())


def blocks(page: Path, language: str | None = None) -> list[Block]:
    """Return the handwritten code blocks of a page, optionally of one language."""
    found = [Block(match[2], match[3]) for match in _FENCE.finditer(handwritten(page))]
    return [block for block in found if language in (None, block.language)]


def console_sessions(page: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield each command of the console blocks with the output lines printed below it."""
    for block in blocks(page, "console"):
        for session in re.split(r"^\$ ", block.code, flags=re.MULTILINE)[1:]:
            command, *output = session.replace("\\\n", "").splitlines()
            yield command, output


def links(page: Path) -> list[str]:
    """Return the link targets of a page, code blocks excluded."""
    return _LINK.findall(_FENCE.sub("", page.read_text()))


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page."""
    text = _FENCE.sub("", page.read_text())
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {
        re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }
