"""Document readers of plugins that return places."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rootle.plugins import DocumentPlace, Plugin
from rootle.plugins.hook import open_hook
from rootle.sources.files.discovery import WalkRules
from rootle.sources.files.file_source import FileReader
from rootle.sources.source import Document

Read = Callable[[bytes], Any]


@pytest.fixture
def read_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Read], Document | str]:
    def read(function: Read) -> Document | str:
        module = types.ModuleType("pages_plugin")
        module.__dict__["PLUGIN"] = Plugin("document reader", ".pdf", lambda: function)
        monkeypatch.setitem(sys.modules, "pages_plugin", module)
        open_hook.cache_clear()
        (tmp_path / "a.pdf").write_bytes(b"one|two")
        rules = WalkRules(readers=((".pdf", "pages_plugin:PLUGIN"),))
        return FileReader(str(tmp_path), rules).read("a.pdf")

    return read


def test_places_become_sections_even_for_a_format_that_rootle_reads(
    read_with: Callable[[Read], Document | str],
) -> None:
    def pages(data: bytes) -> Iterator[DocumentPlace]:
        for number, text in enumerate(data.decode().split("|"), start=1):
            yield DocumentPlace(f"page-{number}", f"{text}\r\nend", title=text.upper())

    found = read_with(pages)
    assert isinstance(found, Document)
    assert found.text == "one\nend\n\ntwo\nend\n"
    assert [(s.label, s.start_line, s.end_line, s.title) for s in found.sections] == [
        ("page-1", 1, 2, "ONE"),
        ("page-2", 4, 5, "TWO"),
    ]


def test_a_reader_may_still_return_text(read_with: Callable[[Read], Document | str]) -> None:
    found = read_with(lambda data: data.decode())
    assert isinstance(found, Document)
    assert (found.text, found.sections) == ("one|two", ())


@pytest.mark.parametrize(
    ("value", "gave"),
    [
        (None, "NoneType"),
        (7, "int"),
        ([], "no places"),
        ([1], "a list of int"),
        (b"bytes", "bytes"),
        (["text"], "a list of str"),
    ],
)
def test_other_values_are_refused(
    read_with: Callable[[Read], Document | str],
    value: object,
    gave: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert read_with(lambda data: value) == "reader failed"
    assert f"returned {gave} instead of text or places" in caplog.text
