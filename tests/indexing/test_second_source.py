"""A source whose documents are not files of the folder: presentations that consist of slides."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest
from sample import OLD_S, MakeApp, write

from rootle import App, open_app
from rootle.errors import ConfigError, SourceError
from rootle.ingest.workers import scheduler
from rootle.serialization.json import to_json
from rootle.serialization.markdown import response_as_markdown
from rootle.sources.guarded_source import guard_sources
from rootle.sources.source import Document, DocumentEntry, Scan, SkippedDocument, Trust
from rootle.tools.definitions.vectordb_read import vectordb_read
from rootle.tools.definitions.vectordb_search import search_folder
from rootle.types import DocumentSection, SearchQuery, SearchResponse

MAIN_SCRIPT = """
from rootle import open_app
from rootle.sources.source import Document, DocumentEntry, Scan

class Reader:
    def read(self, uri):
        return Document(uri, "the printer is offline", b"digest", "text", "document")

class Tickets:
    name = "tickets"
    trust = "project"
    def scan(self, token=""):
        return Scan((DocumentEntry("ticket:1", 20, 0),))
    def look_up(self, uris):
        return None
    def is_readable(self, uri):
        return True
    def reader(self):
        return Reader()

with open_app("tree", index_dir="index", sources=[Tickets()]) as app:
    print(app.index().files_total, app.search("printer offline").results[0].file_path)
"""
AUTHOR = "Ada <ada@example.com>"
DECKS = {
    "onboarding.pptx": ["Welcome to the orchard", "Every gardener waters the lemon trees at dawn"],
    "budget.pptx": ["Spending by quarter", "Travel to the lighthouse doubled", "Outlook"],
    "roadmap.pptx": ["Milestones", "The submarine leaves the harbour in autumn"],
}


@dataclass(frozen=True)
class SlideReader:
    """A reader of presentations, which are JSON files with one text per slide."""

    folder: str

    def read(self, uri: str) -> Document | str:
        try:
            raw = Path(self.folder, uri.removeprefix("slides:")).read_bytes()
        except FileNotFoundError:
            return "vanished"
        slides = json.loads(raw)
        sections, line = [], 1
        for number, slide in enumerate(slides, start=1):
            end = line + slide.count("\n")
            sections.append(DocumentSection(f"slide-{number}", line, end, title=f"Slide {number}"))
            line = end + 1
        digest = hashlib.blake2b(raw, digest_size=16).digest()
        return Document(
            uri,
            "\n".join(slides),
            digest,
            language="text",
            encoding="document",
            kind="slides",
            title=uri.removesuffix(".pptx"),
            author=AUTHOR,
            date_s=OLD_S,
            sections=tuple(sections),
        )


@dataclass
class SlideSource:
    """The presentations in a folder; a scan that receives a token returns only changes."""

    folder: Path
    trust: ClassVar[Trust] = "external"
    name: ClassVar[str] = "slides"

    def __post_init__(self) -> None:
        self.tokens: list[str] = []  # the token that each scan received
        self.listed: list[int] = []  # the number of documents in each scan

    def scan(self, token: str = "") -> Scan:
        entries = [self._entry(path) for path in sorted(self.folder.glob("*.pptx"))]
        state = {entry.uri: entry.mtime_ns for entry in entries}
        before = json.loads(token) if token else None
        scan = Scan(
            tuple(entries),
            (SkippedDocument("slides:draft.key", "binary", 7),),
            token=json.dumps(state),
        )
        if before is not None:
            changed = tuple(e for e in entries if before.get(e.uri) != e.mtime_ns)
            removed = tuple(uri for uri in before if uri not in state)
            scan = replace(scan, documents=changed, is_complete=False, removed=removed)
        self.tokens.append(token)
        self.listed.append(len(scan.documents))
        return scan

    def look_up(self, uris: Collection[str]) -> Scan | None:
        return None

    def is_readable(self, uri: str) -> bool:
        return (self.folder / uri.removeprefix("slides:")).exists()

    def reader(self) -> SlideReader:
        return SlideReader(str(self.folder))

    def _entry(self, path: Path) -> DocumentEntry:
        info = path.stat()
        return DocumentEntry(f"slides:{path.name}", info.st_size, info.st_mtime_ns)


@pytest.fixture
def source(tmp_path: Path) -> SlideSource:
    for name, slides in DECKS.items():
        write(tmp_path / "decks", name, json.dumps(slides))
    return SlideSource(tmp_path / "decks")


@pytest.fixture
def app(repository: Path, source: SlideSource, make_app: MakeApp) -> App:
    app: App = make_app(repository, sources=[source])
    return app


def list_citations(response: SearchResponse) -> list[tuple[str, str | None]]:
    return [(result.file_path, result.place) for result in response.results]


def test_documents_are_found_and_cited_by_their_section(app: App) -> None:
    report = app.index()
    assert report.skipped["binary"] == 1
    best = app.search("when does the submarine leave the harbour").results[0]
    assert (best.file_path, best.place) == ("slides:roadmap.pptx", "slide-2")
    assert best.snippet == "The submarine leaves the harbour in autumn"
    assert best.scope == "Slide 2"
    assert best.metadata.last_modified == "2023-11-14T22:13:20Z"
    assert list_citations(app.search("lemon trees"))[0] == ("slides:onboarding.pptx", "slide-2")
    assert list_citations(app.search("travel lighthouse"))[0] == ("slides:budget.pptx", "slide-2")


def test_files_are_found_as_before_and_have_no_section(app: App) -> None:
    response = app.search("retry_backoff")
    assert list_citations(response)[0] == ("src/net/retry.py", None)
    of_files = [r for r in to_json(response)["results"] if not r["filePath"].startswith("slides:")]
    assert of_files
    assert all("place" not in result for result in of_files)


def test_a_citation_can_be_read_in_every_output(app: App) -> None:
    response = app.search("leaves the harbour")
    citation = "slides:roadmap.pptx#slide-2"
    assert to_json(response)["results"][0]["place"] == "slide-2"
    assert f"## {citation}" in response_as_markdown(response)
    answer = search_folder(app).run("submarine harbour")
    assert citation in answer.text
    passage = app.read(citation)
    assert passage.lines == ("The submarine leaves the harbour in autumn",)
    assert (passage.source, passage.start_line, passage.total_lines) == (
        "slides:roadmap.pptx",
        2,
        2,
    )
    assert app.read("slides:roadmap.pptx").lines[0] == "Milestones"
    assert app.read("slides:roadmap.pptx:2-2").lines == passage.lines
    assert "submarine" in vectordb_read(app).run(citation).text
    with pytest.raises(SourceError, match="it has: slide-1, slide-2"):
        app.read("slides:roadmap.pptx#slide-9")


def test_the_context_of_a_result_keeps_its_section(app: App) -> None:
    response = app.search(SearchQuery("submarine harbour", context=True))
    context = response.results[0].context
    assert context is not None
    assert [(span.place, context.changed) for span in context.passages] == [("slide-2", False)]
    assert "stale" not in response.degraded


@pytest.mark.slow
def test_a_changed_document_is_found_only_by_its_new_text(app: App, source: SlideSource) -> None:
    assert list_citations(app.search("submarine"))[0][0] == "slides:roadmap.pptx"
    slides = ["Milestones", "Intermission", "The zeppelin lands at noon"]
    write(source.folder, "roadmap.pptx", json.dumps(slides), when_s=OLD_S + 60)
    assert list_citations(app.search("zeppelin lands"))[0] == ("slides:roadmap.pptx", "slide-3")
    assert all(
        place[0] != "slides:roadmap.pptx" for place in list_citations(app.search('"submarine"'))
    )
    assert app.read("slides:roadmap.pptx#slide-3").lines == ("The zeppelin lands at noon",)


def test_a_removed_document_is_not_cited(app: App, source: SlideSource) -> None:
    assert list_citations(app.search("submarine"))[0][0] == "slides:roadmap.pptx"
    (source.folder / "roadmap.pptx").unlink()
    assert all(uri != "slides:roadmap.pptx" for uri, _ in list_citations(app.search("submarine")))
    with pytest.raises(SourceError):
        app.read("slides:roadmap.pptx#slide-2")


@pytest.mark.slow
def test_a_scan_starts_from_the_token_of_the_last_run(app: App, source: SlideSource) -> None:
    app.index()
    assert (source.tokens, source.listed) == ([""], [3])
    write(source.folder, "budget.pptx", json.dumps(["Cuts"]), when_s=OLD_S + 60)
    report = app.index()
    assert source.listed == [3, 1]
    assert source.tokens[1]
    assert report.files_indexed == 1
    app.index(rebuild=True)
    assert (source.tokens[2], source.listed[2]) == ("", 3)


@pytest.mark.slow
def test_a_process_without_the_source_keeps_its_documents_until_a_rebuild(
    app: App, source: SlideSource, make_app: MakeApp
) -> None:
    app.index()
    notices: list[str] = []
    alone: App = make_app(app.root, notices=notices)
    write(alone.root, "src/new.py", "def new_function(): pass\n")
    report = alone.index()
    assert (report.files_indexed, report.files_removed) == (1, 0)
    assert list_citations(alone.search("submarine"))[0] == ("slides:roadmap.pptx", "slide-2")
    assert app.index().files_indexed == 0
    assert not notices
    alone.index(rebuild=True)
    assert all(place is None for _, place in list_citations(alone.search("submarine")))
    assert notices == [
        'the rebuilt index lacks 3 documents of the source "slides"; the program that has this '
        "source adds them again at its next search"
    ]
    assert list_citations(app.search("submarine"))[0] == ("slides:roadmap.pptx", "slide-2")


@dataclass
class FaultySource(SlideSource):
    """A source of presentations that fails in the way that `fault` names."""

    fault: str = ""

    def scan(self, token: str = "") -> Scan:
        if self.fault == "scan":
            raise ConnectionError("the server is down")
        scan = super().scan(token)
        repeated = scan.documents if self.fault == "repeated" else ()
        return replace(scan, documents=(*scan.documents, *repeated))

    def is_readable(self, uri: str) -> bool:
        return self.fault != "reader"

    def reader(self) -> SlideReader:
        return FaultyReader(str(self.folder), self.fault)


@dataclass(frozen=True)
class FaultyReader(SlideReader):
    """A reader that fails for one of the presentations."""

    fault: str

    def read(self, uri: str) -> Document | str:
        found = super().read(uri)
        if isinstance(found, str) or "roadmap" not in uri:
            return found
        if self.fault == "reader":
            raise OSError("connection lost")
        sections = (DocumentSection("slide-1", 5, 90),)
        return replace(found, sections=sections) if self.fault == "section" else found


@pytest.fixture
def faulty(source: SlideSource) -> FaultySource:
    return FaultySource(source.folder)


@pytest.mark.slow
def test_a_search_works_while_a_source_cannot_be_listed(
    repository: Path, faulty: FaultySource, make_app: MakeApp
) -> None:
    notices: list[str] = []
    app: App = make_app(repository, sources=[faulty], notices=notices)
    faulty.fault = "scan"
    response = app.search("retry_backoff")
    assert list_citations(response)[0] == ("src/net/retry.py", None)
    assert response.degraded == ("source slides",)
    assert notices == [
        'the source "slides" failed: ConnectionError: the server is down; its documents are '
        "searched as they were last indexed"
    ]
    faulty.fault = ""
    response = app.search("submarine harbour")
    assert list_citations(response)[0] == ("slides:roadmap.pptx", "slide-2")
    assert response.degraded == ()
    faulty.fault = "scan"
    write(app.root, "src/new.py", "def zeppelin(): pass\n")
    assert list_citations(app.search("zeppelin"))[0] == ("src/new.py", None)
    response = app.search("submarine harbour")
    assert list_citations(response)[0] == ("slides:roadmap.pptx", "slide-2")
    assert response.degraded == ("source slides",)


def test_an_invalid_answer_about_some_documents_is_reported(
    faulty: FaultySource, monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[str] = []
    (guarded,) = guard_sources([faulty], warnings.append)
    monkeypatch.setattr(faulty, "look_up", lambda uris: sorted(uris))
    assert guarded.look_up(["roadmap.pptx"]) is None
    assert warnings == [
        "the source \"slides\" failed: TypeError: scan returned ['roadmap.pptx'], expected a "
        "Scan; its documents are searched as they were last indexed"
    ]


@pytest.mark.parametrize(
    ("fault", "reason"), [("reader", "source failed"), ("section", "reader failed")]
)
def test_a_document_that_a_source_cannot_read_is_skipped(
    repository: Path,
    faulty: FaultySource,
    make_app: MakeApp,
    caplog: pytest.LogCaptureFixture,
    fault: str,
    reason: str,
) -> None:
    app: App = make_app(repository, sources=[faulty])
    faulty.fault = fault
    assert list_citations(app.search("lemon trees"))[0] == ("slides:onboarding.pptx", "slide-2")
    assert app.status().skipped[reason] == 1
    assert 'the source "slides"' in caplog.text
    assert "slides:roadmap.pptx" in caplog.text
    if fault == "reader":
        faulty.fault = ""
        app.index()
        assert list_citations(app.search("submarine"))[0] == ("slides:roadmap.pptx", "slide-2")


def test_a_uri_that_is_listed_twice_is_indexed_once(
    repository: Path, faulty: FaultySource, make_app: MakeApp
) -> None:
    notices: list[str] = []
    faulty.fault = "repeated"
    app: App = make_app(repository, sources=[faulty], notices=notices)
    assert list_citations(app.search("submarine"))[0] == ("slides:roadmap.pptx", "slide-2")
    (notice,) = notices
    assert 'the source "slides" lists slides:budget.pptx more than once' in notice


def test_an_invalid_source_is_a_configuration_error(source: SlideSource, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match='two sources have the name "slides"'):
        open_app(tmp_path, sources=[source, SlideSource(source.folder)])
    with pytest.raises(ConfigError, match="which is not a source: it has no method scan"):
        open_app(tmp_path, sources=["slides"])  # type: ignore[list-item]


def test_a_document_with_only_a_new_modification_time_is_unchanged(
    app: App, source: SlideSource
) -> None:
    before = app.index().generation
    write(source.folder, "budget.pptx", json.dumps(DECKS["budget.pptx"]), when_s=OLD_S + 60)
    assert app.index().generation == before


@pytest.mark.slow
def test_worker_processes_read_documents_of_every_source(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "_PARALLEL_BYTES", 1)
    monkeypatch.setattr(scheduler, "worker_count", lambda: 2)
    app.index()
    assert list_citations(app.search("submarine"))[0] == ("slides:roadmap.pptx", "slide-2")
    assert list_citations(app.search("retry_backoff"))[0][0] == "src/net/retry.py"


@pytest.mark.slow
def test_a_reader_of_the_main_script_does_not_disturb_worker_processes(tmp_path: Path) -> None:
    for number in range(40):
        lines = (f"def name_{number}_{line}(): return {line}  # {'x' * 99}" for line in range(150))
        write(tmp_path / "tree", f"f{number}.py", "\n".join(lines))
    script = tmp_path / "script.py"
    script.write_text(MAIN_SCRIPT)
    command = [sys.executable, str(script)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["41", "ticket:1"], done.stderr


def test_a_file_name_may_look_like_the_uri_of_a_document(app: App) -> None:
    write(app.root, "slides:roadmap.pptx.txt", "a walrus\n")
    app.index()
    assert list_citations(app.search("walrus"))[0] == ("slides:roadmap.pptx.txt", None)


def test_the_preview_lists_documents_of_all_sources(app: App) -> None:
    plan = app.plan()
    assert {planned.source for planned in plan.read} == {"files", "slides"}
    assert [planned.skip.uri for planned in plan.skip] == ["slides:draft.key"]
    assert app.status().pending == len(plan.read)
