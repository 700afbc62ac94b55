"""Sphinx configuration of the documentation site: `make site` builds it into build/site.

The source directory is the repository, so relative links work on the site and in the repository
alike. The navigation is made of the links in docs/index.md and docs/decisions/README.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import rootle

HOME: Final = "docs/index"
NAVIGATION_PAGES: Final = {HOME, "docs/decisions/README"}
_SECTION: Final = re.compile(r"^## (.+)\n((?:.+\n|\n(?!## ))+)", re.MULTILINE)
_PAGE_LINK: Final = re.compile(r"\[([^\]]+)\]\(([^):#]+)\.md\)")
_REDIRECT: Final = f'<!doctype html><meta http-equiv="refresh" content="0; url={HOME}.html">\n'

project = "rootle"
version = release = rootle.__version__
project_copyright = "The rootle developers"
extensions = ["myst_parser"]
include_patterns = ["*.md", "docs/**.md", "benchmarks/README.md", "training/*.md"]
# Sphinx would otherwise list all files of the virtual environment, twice.
exclude_patterns = [".*", "build", "dist", "src", "tests"]
root_doc = HOME
nitpicky = True
myst_heading_anchors = 4  # headings get the anchors that GitHub gives them
html_theme = "furo"
html_title = "rootle"
html_copy_source = False


def setup(app: Any) -> None:  # Any: sphinx.application.Sphinx
    app.connect("source-read", add_navigation)
    app.connect("build-finished", write_start_page)


def add_navigation(_app: Any, page: str, content: list[str]) -> None:
    """Append a table of contents per section to the pages that list other pages."""
    if page in NAVIGATION_PAGES:
        content[0] += "\n\n".join(["", *navigation(content[0])])


def navigation(listing: str) -> Iterator[str]:
    """Yield one hidden `toctree` per section that links to pages."""
    for title, body in _SECTION.findall(listing):
        pages = "\n".join(f"{text} <{path}>" for text, path in _PAGE_LINK.findall(body))
        if pages:
            yield f"```{{toctree}}\n:hidden:\n:caption: {title}\n\n{pages}\n```"


def write_start_page(app: Any, error: Exception | None) -> None:
    """Write an index.html that leads to the home page."""
    if error is None:
        Path(app.outdir, "index.html").write_text(_REDIRECT, encoding="utf-8")
