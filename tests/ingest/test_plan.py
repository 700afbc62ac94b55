"""The plan of an indexing run: the differences between the documents of sources and the index."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import pytest

from rootle.index.reader import FileState
from rootle.ingest.plan import Plan, make_plan, plan_documents, plan_sources, token_key
from rootle.sources.source import Document, DocumentEntry, Scan, SkippedDocument, Trust

NOW_NS = 1_700_000_000_123_456_789


@dataclass
class FakeSource:
    """A source with a fixed scan, which records the tokens that it receives."""

    scanned: Scan
    name: str = "files"
    trust: Trust = "project"
    readable: bool = False
    looked_up: Scan | None = None
    tokens: list[str] = field(default_factory=list)

    def scan(self, token: str = "") -> Scan:
        self.tokens.append(token)
        return self.scanned

    def look_up(self, uris: Collection[str]) -> Scan | None:
        assert uris
        return self.looked_up

    def is_readable(self, uri: str) -> bool:
        assert uri
        return self.readable

    def reader(self) -> FakeSource:
        return self

    def read(self, uri: str) -> Document | str:
        raise AssertionError(f"{uri} is read")


def state(path: str, **changes: Any) -> FileState:
    known = FileState(
        id=1,
        path=path,
        size=10,
        mtime_ns=NOW_NS,
        seen_ns=NOW_NS + 10_000_000_000,
        digest=b"digest",
        skip=None,
        language="python",
        encoding="utf-8",
        chars=10,
        skipped_chars=0,
        committed_s=None,
        is_dirty=True,
        generation=1,
    )
    return known._replace(**changes)


def entry(uri: str, size: int = 10, mtime_ns: int = NOW_NS) -> DocumentEntry:
    return DocumentEntry(uri, size, mtime_ns)


def plan_for(scan: Scan, *known: FileState, readable: bool = False) -> Plan:
    return make_plan(FakeSource(scan, readable=readable), scan, known)


def read_uris(plan: Plan) -> list[str]:
    return [planned.entry.uri for planned in plan.read]


def test_new_documents_are_read() -> None:
    plan = plan_for(Scan((entry("a.py"), entry("b.py"))))
    assert [(planned.entry.uri, planned.state) for planned in plan.read] == [
        ("a.py", None),
        ("b.py", None),
    ]
    assert plan.only_adds
    assert plan.bytes_to_read == 20


def test_a_document_of_the_same_size_and_time_is_unchanged() -> None:
    plan = plan_for(Scan((entry("a.py"),)), state("a.py"))
    assert plan.is_empty
    assert plan.unchanged == 1


@pytest.mark.parametrize(
    "known",
    [
        state("a.py", size=11),
        state("a.py", mtime_ns=NOW_NS - 1),
        state("a.py", digest=None, skip="too large"),
        # The file was read in the same clock tick in which it was written.
        state("a.py", seen_ns=NOW_NS),
    ],
)
def test_a_document_that_may_have_changed_is_read(known: FileState) -> None:
    plan = plan_for(Scan((entry("a.py"),)), known)
    assert [planned.state for planned in plan.read] == [known]
    assert not plan.only_adds


def test_an_unreadable_document_is_read_once_it_is_readable() -> None:
    known = state("a.py", skip="unreadable")
    assert plan_for(Scan((entry("a.py"),)), known).is_empty
    assert read_uris(plan_for(Scan((entry("a.py"),)), known, readable=True)) == ["a.py"]


def test_a_skipped_document_is_recorded_once() -> None:
    scan = Scan((), (SkippedDocument("a.png", "binary", 5),))
    assert [planned.skip.reason for planned in plan_for(scan).skip] == ["binary"]
    assert plan_for(scan, state("a.png", skip="binary")).is_empty
    (changed,) = plan_for(scan, state("a.png")).skip
    assert changed.state == state("a.png")


def test_documents_that_a_complete_scan_does_not_list_are_removed() -> None:
    plan = plan_for(Scan((entry("a.py"),)), state("a.py"), state("b.py"))
    assert plan.remove == (state("b.py"),)
    assert not plan.only_adds


def test_a_partial_scan_removes_only_the_documents_that_it_names() -> None:
    scan = Scan((), is_complete=False, removed=("b.py", "never-indexed.py"))
    plan = plan_for(scan, state("a.py"), state("b.py"))
    assert plan.remove == (state("b.py"),)


def test_each_source_is_compared_only_with_its_own_documents() -> None:
    files = FakeSource(Scan((entry("same"),), token="t1"))
    pages = FakeSource(Scan((entry("same"),), token="t2"), name="pages")
    plan = plan_sources(
        [files, pages], [state("same"), state("old", source="gone")], {"token:files": "t0"}.get
    )
    assert [(planned.source, planned.entry.uri) for planned in plan.read] == [("pages", "same")]
    assert plan.remove == ()
    assert plan.unchanged == 1
    assert plan.tokens == {"files": "t1", "pages": "t2"}
    assert (files.tokens, pages.tokens) == (["t0"], [""])
    assert token_key("files") == "token:files"


def test_documents_of_a_renamed_source_are_replaced() -> None:
    tickets = FakeSource(Scan((entry("ticket:1"),)), name="tickets")
    old = state("ticket:1", source="issues")
    plan = plan_sources([tickets], [old, state("wiki:1", source="wiki")], lambda _: None)
    assert read_uris(plan) == ["ticket:1"]
    assert plan.remove == (old,)


def test_a_scan_of_changes_retries_documents_that_their_source_could_not_read() -> None:
    failed = state("a.py", digest=b"", skip="source failed")
    scan = Scan((), is_complete=False)
    assert plan_for(scan, failed).is_empty
    assert read_uris(plan_for(scan, failed, state("b.py"), readable=True)) == ["a.py"]


def test_given_documents_are_compared_without_a_scan() -> None:
    looked_up = Scan((entry("a.py", size=11),), is_complete=False, removed=("b.py",))
    source = FakeSource(Scan(()), looked_up=looked_up)
    known = [state("a.py"), state("b.py"), state("b.py", source="pages")]
    plan = plan_documents(source, ["a.py", "b.py"], known)
    assert plan is not None
    assert read_uris(plan) == ["a.py"]
    assert plan.remove == (state("b.py"),)
    assert source.tokens == []


def test_a_source_may_need_a_complete_scan_to_look_up_documents() -> None:
    assert plan_documents(FakeSource(Scan(())), ["a.py"], []) is None
