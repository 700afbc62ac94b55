"""Sites that Sphinx built are read through their inventory. Symbol names are cited as places."""

from __future__ import annotations

import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from forked_children import fork_children
from json_server import JsonServer, Reply, Request, serving
from sample import MakeApp, write_tree

from rootle import App
from rootle.app.external_sources import ExternalSources
from rootle.errors import IngestError, SourceError, WebPageError
from rootle.web.page_download import PageDownloader
from rootle.web.site.omissions import MAX_FAILED_REQUESTS

pytestmark = pytest.mark.slow

_INVENTORY = b"# Sphinx inventory version 2\n# Project: x\n# Version: 1\n# zlib\n"

_SOURCES = {
    "conf.py": 'project = "Harbor"\nhtml_theme = "alabaster"\n',
    "index.rst": "Harbor\n======\n\nThe harbor opens at noon.\n\n"
    ".. toctree::\n\n   api/gates\n   tides\n",
    "tides.rst": "Tides\n=====\n\nThe tide rises twice a day.\n",
    "api/gates.rst": """\
Gates
=====

.. py:module:: harbor.gates

.. py:function:: open_gate(number)

   Lift the barrier of a gate with the winch.

.. py:class:: Winch

   A winch on the pier.

   .. py:method:: grease(amount)

      Put fat on the axle, otherwise it squeaks.
""",
}


@pytest.fixture(autouse=True)
def _forked_children(monkeypatch: pytest.MonkeyPatch) -> None:
    fork_children(monkeypatch)


def build(folder: Path, builder: str) -> Path:
    """Build the documentation with Sphinx."""
    source = write_tree(folder / "source", _SOURCES)
    html = folder / builder
    command = [sys.executable, "-m", "sphinx", "-q", "-b", builder, str(source), str(html)]
    subprocess.run(command, check=True)
    return html


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("docs"), "html")


class Site:
    """A server that serves a folder at /docs/, and the sources that are read from the server."""

    def __init__(self, app: App, server: JsonServer) -> None:
        self.app = app
        self.server = server
        self.folder = Path()
        self.robots = b""
        self.unreadable: Callable[[str], bool] = lambda path: False
        server.answer = self._answer
        parts = app._container.external()
        downloads = PageDownloader(timeout_s=20.0, is_allowed=lambda address: True)
        self.sources = ExternalSources(
            parts.store, app.config, parts.index, downloads, sleep=lambda seconds: None
        )

    def _answer(self, request: Request) -> Reply:
        if request.path == "/robots.txt":
            return Reply(raw=self.robots, headers={"Content-Type": "text/plain"})
        path = self.folder / request.path.removeprefix("/docs/")
        path = path / "index.html" if path.is_dir() else path
        if not path.is_file():
            return Reply(status=404, raw=b"")
        if self.unreadable(request.path):
            return Reply(status=503, raw=b"")
        is_page = path.suffix == ".html"
        media_type = "text/html" if is_page else "application/octet-stream"
        return Reply(raw=path.read_bytes(), headers={"Content-Type": media_type})

    @property
    def requested(self) -> list[str]:
        return [request.path for request in self.server.requests]

    def url(self, path: str) -> str:
        return f"{self.server.url}/docs/{path}"


@pytest.fixture
def site(tmp_path: Path, make_app: MakeApp) -> Iterator[Site]:
    app = make_app(write_tree(tmp_path / "project", {"a.py": "A = 1\n"}))
    with serving(lambda request: Reply(status=404)) as server:
        yield Site(app, server)


@pytest.mark.parametrize("start", ["objects.inv", "", "index.html"])
def test_a_symbol_of_a_site_is_found_at_its_place(site: Site, html: Path, start: str) -> None:
    site.folder = html
    added = site.sources.add(site.url(start), name="harbor")
    assert (added.kind, added.documents, added.note) == ("sphinx", 3, "")
    found = site.app.search("in:web Winch.grease squeaking axle").results[0]
    assert found.file_path == "web:harbor/api/gates.html"
    assert found.place == "harbor.gates.Winch.grease"
    assert found.origin == site.url("api/gates.html")
    passage = site.app.read("web:harbor/api/gates.html#harbor.gates.open_gate")
    assert "Lift the barrier" in "\n".join(passage.lines)
    assert "squeaks" not in "\n".join(passage.lines)
    prose = site.app.search("in:web how often does the tide rise").results[0]
    assert prose.origin == site.url("tides.html")
    assert not list((site.app.index_dir / "external").glob("unpacked-*"))


def test_pages_without_file_names_have_the_places_of_their_symbols(
    site: Site, tmp_path: Path
) -> None:
    site.folder = build(tmp_path, "dirhtml")
    site.sources.add(site.url(""), name="harbor")
    found = site.app.search("in:web Winch.grease squeaking axle").results[0]
    assert found.origin == site.url("api/gates/")
    assert found.place == "harbor.gates.Winch.grease"
    assert "fat" in "\n".join(site.app.read(f"{found.file_path}#{found.place}").lines)
    first = site.app.search("in:web when does the harbor open").results[0]
    assert first.origin == site.url("")
    assert "noon" in "\n".join(site.app.read(first.file_path).lines)


def test_the_pages_with_most_symbols_are_read_first(site: Site, html: Path) -> None:
    site.folder = html
    added = site.sources.add(site.url("objects.inv"), name="harbor", max_pages=1)
    assert added.note == "2 more pages are beyond the limits"
    assert added.documents == 1
    assert "/docs/tides.html" not in site.requested
    assert "/docs/api/gates.html" in site.requested  # the page with the most symbols


def test_the_rules_of_the_site_are_obeyed(site: Site, html: Path) -> None:
    site.folder = html
    site.robots = b"User-agent: *\nDisallow: /docs/api/\n"
    site.sources.add(site.url("objects.inv"), name="harbor")
    assert "/docs/api/gates.html" not in site.requested
    # The inventory names the symbols, but the page was not downloaded.
    found = site.app.search("in:web harbor.gates.Winch").results[0]
    assert found.origin == site.url("objects.inv")


def test_an_inventory_cannot_lead_out_of_its_site(site: Site, tmp_path: Path) -> None:
    lines = [
        "lib.a py:function 1 https://docs.example.org/x.html#$ -",
        "lib.b py:function 1 ../private.html#$ -",
        "lib.c py:function 1 //docs.example.org/x.html#$ -",
        "lib.d py:function 1 page.html#$ -",
        "",
    ]
    site.folder = write_tree(tmp_path / "site", {"page.html": "<p>Walrus</p>"})
    body = zlib.compress("\n".join(lines).encode())
    (site.folder / "objects.inv").write_bytes(_INVENTORY + body)
    added = site.sources.add(site.url("objects.inv"), name="lib")
    assert site.requested == ["/robots.txt", "/docs/objects.inv", "/docs/page.html"]
    assert added.documents == 4
    for name in ("lib.a", "lib.b", "lib.c"):
        assert site.app.search(f"in:web {name}").results[0].origin == site.url("objects.inv")


def test_a_page_that_cannot_be_read_is_not_replaced_by_a_list_of_symbols(
    site: Site, html: Path
) -> None:
    site.folder = html
    site.sources.add(site.url("objects.inv"), name="harbor")
    site.unreadable = lambda path: path.endswith("gates.html")
    (source,) = site.sources.refresh("harbor")
    assert source.note.startswith("1 page could not be read: ")
    assert "web:harbor/api/gates.html" not in [
        result.file_path for result in site.app.search("in:web open_gate").results
    ]
    site.unreadable = lambda path: True
    (source,) = site.sources.refresh()
    assert "HTTP 503" in source.note
    assert source.documents == 2


def test_a_site_that_stops_answering_keeps_the_text_of_all_pages(
    site: Site, tmp_path: Path
) -> None:
    count = MAX_FAILED_REQUESTS + 3
    pages = {f"{number}.html": f"<p>Walrus number {number}.</p>" for number in range(count)}
    lines = [f"lib.f{number} py:function 1 {number}.html#$ -\n" for number in range(count)]
    site.folder = write_tree(tmp_path / "site", pages)
    body = zlib.compress("".join(lines).encode())
    (site.folder / "objects.inv").write_bytes(_INVENTORY + body)
    site.sources.add(site.url("objects.inv"), name="lib")
    site.unreadable = lambda path: path.endswith(".html")
    (source,) = site.sources.refresh()
    assert source.failure.startswith(f"reading stopped after {MAX_FAILED_REQUESTS} failed requests")
    assert source.note.startswith(
        f"reading stopped after {MAX_FAILED_REQUESTS} failed requests in a row; "
        "3 more pages were not requested; 20 pages could not be read, the first: "
    )
    assert source.documents == count
    for number in range(count):
        passage = site.app.read(f"web:lib/{number}.html")
        assert f"Walrus number {number}." in "\n".join(passage.lines)
        assert passage.origin == site.url(f"{number}.html")


def test_a_site_without_inventory_that_stops_answering_keeps_the_text_of_all_pages(
    site: Site, tmp_path: Path
) -> None:
    paths = [f"{number}.html" for number in range(MAX_FAILED_REQUESTS + 3)]
    pages = {path: f"<p>Walrus page {path}.</p>" for path in paths}
    pages["index.html"] = "".join(f'<p><a href="{path}">Walrus {path}</a></p>' for path in paths)
    site.folder = write_tree(tmp_path / "site", pages)
    added = site.sources.add(site.url(""), name="lib")
    assert (added.kind, added.documents) == ("web", len(pages))
    site.unreadable = lambda path: path.endswith(".html")
    (source,) = site.sources.refresh()
    assert source.failure.startswith(f"reading stopped after {MAX_FAILED_REQUESTS} failed requests")
    assert source.note.startswith(f"reading stopped after {MAX_FAILED_REQUESTS} failed requests")
    assert source.documents == len(pages)
    assert "Walrus page 22" in "\n".join(site.app.read("web:lib/22.html").lines)


def test_a_file_that_is_no_inventory_is_not_added(site: Site, tmp_path: Path) -> None:
    site.folder = write_tree(tmp_path / "site", {"objects.inv": "<p>Not found</p>"})
    with pytest.raises(WebPageError, match="not an inventory of Sphinx"):
        site.sources.add(site.url("objects.inv"))
    (site.folder / "objects.inv").write_bytes(_INVENTORY + b"damaged")
    with pytest.raises(IngestError, match=r"objects\.inv is damaged"):
        site.sources.add(site.url("objects.inv"))
    with pytest.raises(SourceError):
        site.app.read("web:site/x")


def test_the_note_says_that_only_the_beginning_of_an_inventory_was_read(
    site: Site, tmp_path: Path
) -> None:
    names = Random(1)
    lines = [f"lib.n{names.randbytes(40).hex()} py:function 1 a.html#$ -" for _ in range(60_000)]
    body = zlib.compress("\n".join([*lines, "lib.last py:function 1 last.html#$ -", ""]).encode())
    site.folder = write_tree(tmp_path / "site", {"a.html": "<p>Walrus</p>", "last.html": "<p>x"})
    (site.folder / "objects.inv").write_bytes(_INVENTORY + body)
    added = site.sources.add(site.url("objects.inv"), name="lib")
    assert added.documents == 1
    assert added.note.startswith("objects.inv is too long")


@pytest.mark.parametrize("body", [zlib.compress(b"lib.d py:function 1 api.html#$ -\n"), b"damaged"])
def test_an_inventory_of_symbols_only_or_a_damaged_one_does_not_hide_the_other_pages(
    site: Site, tmp_path: Path, body: bytes
) -> None:
    pages = {"index.html": "<h1>Guide</h1><p>Walruses sleep.</p><a href='api.html'>API</a>"}
    pages["api.html"] = "<h1>API</h1><p id='lib.d'>Wake the walrus.</p>"
    site.folder = write_tree(tmp_path / "site", pages)
    (site.folder / "objects.inv").write_bytes(_INVENTORY + body)
    added = site.sources.add(site.url(""), name="lib")
    assert (added.kind, added.documents) == ("web", 2)
