"""Links, modules, files and make targets in the pages exist, and the site contains every page."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from doc_pages import PAGES, TOP, anchors, console_sessions, links, page_name

# Names that look like modules: a span, a file and an entry point.
NO_MODULES = {"rootle.watch", "rootle.db", "rootle.plugins"}
# The folders to which the paths in the pages are relative.
PATH_BASES = [
    TOP / folder for folder in (".", "src/rootle", "src/rootle/search", "tests", "training")
]

# As in "`a/b.py` (160 lines)", "`a/b.py` does so in 250 lines" and "a matcher of about 250 lines".
_SIZE_OF_MODULE = re.compile(
    r"`[\w/]+\.py`[^.]{0,60}?\b\d+\s+lines|\b(?:parser|matcher|editor|protocol)s?\s(?:[^.]{0,40}?)"
    r"\b\d[\d,]*\s+lines",
)


def names_project_files(page: Path) -> bool:
    """Return whether the paths in a page belong to this project, not to an example project."""
    return not page_name(page).startswith(("docs/how-to/", "docs/tutorials/", "docs/reference/"))


def is_importable(name: str) -> bool:
    """Return whether a dotted name is a module or an attribute of one."""
    parts = name.split(".")
    for depth in range(len(parts), 0, -1):
        try:
            module = importlib.import_module(".".join(parts[:depth]))
        except ModuleNotFoundError:
            continue
        return depth == len(parts) or hasattr(module, parts[depth])
    return False


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation site, built with warnings as errors."""
    out = tmp_path_factory.mktemp("site")
    child = subprocess.run(
        [
            *(sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet"),
            *("-d", os.fspath(out / "doctrees"), "-c", "docs", ".", os.fspath(out / "html")),
        ],
        cwd=TOP,
        capture_output=True,
        text=True,
    )
    assert child.returncode == 0, child.stderr
    return out / "html"


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_lead_to_existing_pages_and_headings(page: Path) -> None:
    for link in links(page):
        if "://" in link or link.startswith("mailto:"):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.is_file(), f"{page_name(page)}: {link}"
        if anchor:
            assert anchor in anchors(target), f"{page_name(page)}: {link}"


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_named_modules_exist(page: Path) -> None:
    for name in re.findall(r"`(rootle(?:\.\w+)+)", page.read_text()):
        if name not in NO_MODULES:
            assert is_importable(name), f"{page_name(page)}: {name}"


@pytest.mark.parametrize(
    "page", [page for page in PAGES if names_project_files(page)], ids=page_name
)
def test_named_files_exist(page: Path) -> None:
    for name in re.findall(r"`([\w./-]+\.py)\b", page.read_text()):
        places = [base / name for base in (*PATH_BASES, page.parent)]
        assert any(place.exists() for place in places), f"{page_name(page)}: {name}"


@pytest.mark.slow
def test_the_site_navigation_contains_every_page(site: Path) -> None:
    for page in PAGES:
        assert (site / page_name(page)).with_suffix(".html").is_file(), page_name(page)
    navigation = (site / "docs/index.html").read_text().partition('class="sidebar-tree"')[2]
    records = (site / "docs/decisions/README.html").read_text()
    for page in PAGES:
        if page_name(page) != "docs/index.md":
            listing = records if re.match(r"\d", page.name) else navigation
            assert f"{page.stem}.html" in listing, f"{page_name(page)} is not in the navigation"


@pytest.mark.slow
def test_the_site_has_a_start_page_and_a_search_index(site: Path) -> None:
    assert "docs/index.html" in (site / "index.html").read_text()
    assert "retry" in (site / "searchindex.js").read_text()


@pytest.mark.slow
def test_the_site_loads_nothing_from_the_network(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert pages
    for page in pages:
        loaded = re.findall(
            r"""<(?:script|link|img|iframe)\b[^>]*["'](https?://[^"']+)""", page.read_text()
        )
        assert not loaded, f"{page.name}: {loaded}"


def test_every_make_target_in_the_docs_exists() -> None:
    targets = make_targets()
    for page in PAGES:
        named = set(re.findall(r"`make ([a-z-]+)[^`]*`", page.read_text()))
        for command, _ in console_sessions(page):
            named |= set(re.findall(r"^make ([a-z-]+)", command))
        assert named <= targets, f"{page_name(page)}: make {named - targets}"


def test_every_make_target_is_phony_and_described() -> None:
    makefile = (TOP / "Makefile").read_text()
    targets = make_targets()
    phony = makefile.partition(".PHONY:")[2].split("\n")[0].split()
    assert set(phony) == targets
    assert set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE)) == targets


def make_targets() -> set[str]:
    makefile = (TOP / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    assert targets
    return targets


def test_decisions_state_no_sizes_of_modules() -> None:
    decisions = [page for page in PAGES if page_name(page).startswith("docs/decisions/")]
    assert len(decisions) > 40
    wrong = [
        f"{page_name(page)}: {found.group()!r}"
        for page in decisions
        for found in _SIZE_OF_MODULE.finditer(page.read_text(encoding="utf-8"))
    ]
    assert not wrong, f"sizes change, so leave them out: {wrong}"
