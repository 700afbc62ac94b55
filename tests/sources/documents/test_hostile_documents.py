"""Documents that are damaged, or that were made to take too much time or memory."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from document_samples import (
    ODF_NAMES,
    WORD_RELATIONS,
    write_book,
    write_damaged_word,
    write_mail,
    write_odf,
    write_pdf,
    write_slides,
    write_word,
)

from rootle.sources.documents import limited_child_main
from rootle.sources.documents.child_process import DOCUMENT_PROCESS, DocumentProcess
from rootle.sources.files.discovery import WalkRules, walk_files
from rootle.sources.files.file_source import FileReader, FileSource
from rootle.sources.files.skip_rules import REASONS
from rootle.sources.source import Document

pytestmark = pytest.mark.slow

LAUGHS = (
    '<!DOCTYPE lolz [<!ENTITY a "lol">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in pairwise("abcdefghij"))
    + "]>"
)


def read(path: Path, max_chars: int = 1_000_000) -> Document | str:
    found = FileReader(str(path.parent), WalkRules(max_chars)).read(path.name)
    if isinstance(found, str):
        assert found in REASONS
    return found


def write_docx_parts(path: Path, document: bytes) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("_rels/.rels", WORD_RELATIONS)
        file.writestr("word/document.xml", document)


def assert_others_are_read(folder: Path) -> None:
    write_word(folder / "good.docx")
    assert isinstance(read(folder / "good.docx"), Document)


def test_a_zip_bomb_yields_only_text_up_to_the_limit(tmp_path: Path) -> None:
    body = b"<w:document xmlns:w='w'>" + b"<w:p><w:r><w:t>boom</w:t></w:r></w:p>" * 6_000_000
    write_docx_parts(tmp_path / "bomb.docx", body)
    assert (tmp_path / "bomb.docx").stat().st_size < 2_000_000
    document = read(tmp_path / "bomb.docx")
    assert isinstance(document, Document)
    assert len(document.text) < 1_001_000
    assert document.omitted_chars
    assert_others_are_read(tmp_path)


def test_a_zip_bomb_in_a_single_attribute_does_not_hide_the_text_after_it(tmp_path: Path) -> None:
    # Some versions of the parser need quadratic time for a long tag.
    start = b"<w:document xmlns:w='w' a='" + b"a" * 30_000_000
    body = b"'><w:p><w:r><w:t>The otter</w:t></w:r></w:p></w:document>"
    write_docx_parts(tmp_path / "bomb.docx", start + body)
    found = read(tmp_path / "bomb.docx")
    assert isinstance(found, Document)
    assert found.text == "The otter\n"
    assert not found.omitted_chars


def test_a_zip_bomb_in_a_single_element_is_limited(tmp_path: Path) -> None:
    body = b"<w:document xmlns:w='w'><w:p><w:r><w:t>" + b"a" * 400_000_000
    write_docx_parts(tmp_path / "bomb.docx", body)
    found = read(tmp_path / "bomb.docx")
    assert isinstance(found, str) or len(found.text) < 1_001_000
    assert_others_are_read(tmp_path)


def test_an_archive_with_overlapping_or_nested_parts_is_named(tmp_path: Path) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a", b"\0" * 10_000_000)
    with zipfile.ZipFile(tmp_path / "nested.epub", "w") as file:
        file.writestr("inner.zip", inner.getvalue())
    assert read(tmp_path / "nested.epub") == "damaged"


@pytest.mark.parametrize(
    "text",
    [
        LAUGHS + "<w:document xmlns:w='w'><w:p><w:r><w:t>&j;</w:t></w:r></w:p></w:document>",
        "<!DOCTYPE x [<!ENTITY f SYSTEM 'file:///etc/passwd'>]><w:document xmlns:w='w'><w:t>&f;"
        "</w:t></w:document>",
        "no xml",
        "",
    ],
)
def test_entities_are_refused(tmp_path: Path, text: str) -> None:
    write_docx_parts(tmp_path / "x.docx", text.encode())
    assert read(tmp_path / "x.docx") in {"damaged", "no text"}
    assert_others_are_read(tmp_path)


def test_a_sheet_with_a_billion_repeated_cells_is_small(tmp_path: Path) -> None:
    write_odf(
        tmp_path / "x.ods",
        '<office:spreadsheet><table:table table:name="A">'
        + '<table:table-row table:number-rows-repeated="999999999">'
        '<table:table-cell table:number-columns-repeated="999999999"><text:p>x</text:p>'
        "</table:table-cell></table:table-row>" * 50 + "</table:table></office:spreadsheet>",
    )
    document = read(tmp_path / "x.ods")
    assert isinstance(document, Document)
    assert len(document.text) < 200_000


def test_deeply_nested_documents_stop_nothing(tmp_path: Path) -> None:
    body = f"<a {ODF_NAMES}>" + "<text:p>" * 300_000
    with zipfile.ZipFile(tmp_path / "deep.odt", "w") as file:
        file.writestr("content.xml", body)
    (tmp_path / "deep.ipynb").write_text("[" * 200_000)
    mail = "Subject: x\n" + "".join(
        f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n' for n in range(3_000)
    )
    (tmp_path / "deep.eml").write_text(mail)
    for name in ("deep.odt", "deep.ipynb", "deep.eml"):
        found = read(tmp_path / name)
        assert isinstance(found, str | Document)
    assert_others_are_read(tmp_path)


def test_encrypted_documents_are_named(tmp_path: Path) -> None:
    write_pdf(tmp_path / "locked.pdf", ["secret"], password="x")
    assert read(tmp_path / "locked.pdf") == "encrypted"
    (tmp_path / "locked.docx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(5_000))
    assert read(tmp_path / "locked.docx") == "encrypted"
    with zipfile.ZipFile(tmp_path / "locked.odt", "w") as file:
        file.writestr("META-INF/manifest.xml", "<m:manifest><m:encryption-data/></m:manifest>")
        file.writestr("content.xml", b"\x93\x01")
    assert read(tmp_path / "locked.odt") == "encrypted"


def test_truncated_documents_are_read_in_part_or_named(tmp_path: Path) -> None:
    write_slides(tmp_path / "whole.pptx")
    write_pdf(tmp_path / "whole.pdf", ["The walrus sleeps"] * 20)
    for name in ("whole.pptx", "whole.pdf"):
        raw = (tmp_path / name).read_bytes()
        for share in (0.0, 0.1, 0.5, 0.9, 0.99):
            path = tmp_path / f"cut-{name}"
            path.write_bytes(raw[: int(len(raw) * share)])
            assert isinstance(read(path), str | Document)
    assert read(tmp_path / "cut-whole.pptx") == "damaged"
    assert_others_are_read(tmp_path)


def test_a_flipped_byte_never_ends_the_run(tmp_path: Path) -> None:
    write_word(tmp_path / "whole.docx")
    raw = bytearray((tmp_path / "whole.docx").read_bytes())
    for at in range(0, len(raw), max(1, len(raw) // 40)):
        changed = bytearray(raw)
        changed[at] ^= 0xFF
        (tmp_path / "changed.docx").write_bytes(changed)
        assert isinstance(read(tmp_path / "changed.docx"), str | Document)
    assert_others_are_read(tmp_path)


def test_a_file_of_two_gigabytes_is_not_read(tmp_path: Path) -> None:
    for name in ("huge.pptx", "huge.pdf"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(2 << 30)
    scan = walk_files(tmp_path, WalkRules())
    assert [(skip.uri, skip.reason) for skip in scan.skips] == [
        ("huge.pdf", "too large"),
        ("huge.pptx", "too large"),
    ]
    for name in ("sparse.docx", "sparse.pdf"):  # files with holes, below the size limit
        with (tmp_path / name).open("wb") as file:
            file.truncate(900_000_000)
        assert read(tmp_path / name) == "damaged"


def test_a_document_with_endless_pages_stops_at_the_limit(tmp_path: Path) -> None:
    write_pdf(tmp_path / "endless.pdf", ["The walrus sleeps on every page"] * 3_000)
    document = read(tmp_path / "endless.pdf", max_chars=5_000)
    assert isinstance(document, Document)
    assert len(document.text) < 6_000
    assert document.omitted_chars > 50_000


def test_a_document_that_takes_too_long_is_read_in_part(tmp_path: Path) -> None:
    from rootle.sources.documents.places import ExtractedDocument, LimitReachedError

    seconds = iter(range(100))
    found = ExtractedDocument(1_000, 5.0, clock=lambda: float(next(seconds)))
    for number in range(1, 6):
        found.add(f"page-{number}", "text", remaining=1.0)
    with pytest.raises(LimitReachedError):
        found.add("page-6", "text", remaining=1.0)
    assert len(found.places) == 6  # the text that was read is kept
    assert found.omitted_chars == 24


def test_a_long_sheet_keeps_its_first_rows_when_the_time_is_over() -> None:
    from rootle.sources.documents.places import ExtractedDocument, LimitReachedError
    from rootle.sources.documents.readers.sheet_places import SheetRows

    now = iter(range(10_000_000))
    found = ExtractedDocument(1_000_000, 3.0, clock=lambda: float(next(now)))

    def rows() -> Iterator[tuple[int, dict[int, str]]]:
        for number in range(1, 1_000_000):
            if number % 500 == 0:
                found.check_time()
            yield number, {1: f"row {number}"}

    with pytest.raises(LimitReachedError):
        SheetRows("Costs", found).add(rows())
    assert found.places[0].text.split("\n")[1:3] == ["row 1", "row 2"]


def test_text_that_an_error_hides_is_counted_as_missing(tmp_path: Path) -> None:
    write_damaged_word(tmp_path / "a.docx")
    document = read(tmp_path / "a.docx")
    assert isinstance(document, Document)
    assert "harbour" in document.text
    assert "lighthouse" not in document.text
    assert document.omitted_chars
    write_word(tmp_path / "whole.docx")
    whole = read(tmp_path / "whole.docx")
    assert isinstance(whole, Document)
    assert not whole.omitted_chars


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.svg", '<svg xmlns="http://www.w3.org/2000/svg"><text>the otter</text>'),
        ("a.drawio", '<mxfile><diagram name="p"><mxCell id="1" value="the otter"/></diagram>'),
        ("two.drawio", '<mxfile><diagram><mxCell id="1" value="a"/></diagram><diagram>#</diagram>'),
    ],
)
def test_a_diagram_that_ends_too_early_is_read_in_part(
    tmp_path: Path, name: str, content: str
) -> None:
    (tmp_path / name).write_text(content + ("</mxfile>" if name.startswith("two") else ""))
    document = read(tmp_path / name)
    assert isinstance(document, Document)
    assert document.omitted_chars


def test_a_missing_chapter_is_counted_as_missing(tmp_path: Path) -> None:
    write_book(tmp_path / "a.epub", ["<p>The otter</p>", "<p>The walrus</p>"])
    with (
        zipfile.ZipFile(tmp_path / "a.epub") as old,
        zipfile.ZipFile(tmp_path / "b.epub", "w") as new,
    ):
        for name in old.namelist():
            if not name.endswith("c1.xhtml"):
                new.writestr(name, old.read(name))
    document = read(tmp_path / "b.epub")
    assert isinstance(document, Document)
    assert "otter" in document.text
    assert document.omitted_chars


def test_parts_of_a_message_beyond_the_limit_are_counted_as_missing(tmp_path: Path) -> None:
    head = "Subject: many\nContent-Type: multipart/mixed; boundary=b\n\n"
    for count in (1_200, 10_100):
        parts = "".join(f"--b\n\npart {number}\n" for number in range(count))
        (tmp_path / "a.eml").write_text(f"{head}{parts}--b--\n")
        document = read(tmp_path / "a.eml")
        assert isinstance(document, Document)
        assert "part 1199\n" in document.text
        assert bool(document.omitted_chars) is (count > 10_000)


@pytest.mark.parametrize(
    "field",
    [
        "To: " + "a," * 1_000_000,
        "To: " + '"' * 1_000_000,
        "Subject: " + "=?utf-8?q?a?= " * 100_000,
        "Content-Type: text/plain" + ";a=b" * 500_000,
        "Content-Disposition: attachment" + ';filename*0="b"' * 100_000,
        "Content-Type: text/plain\n" + "X: y\n" * 300_000,
    ],
    ids=lambda field: field[:14],
)
def test_a_message_with_endless_fields_is_read(tmp_path: Path, field: str) -> None:
    # With quadratic time, this would take hours.
    (tmp_path / "a.eml").write_text(f"From: Ann\n{field}\n\nThe otter swims.\n")
    document = read(tmp_path / "a.eml")
    assert isinstance(document, Document)
    assert document.text.startswith(("From: Ann", "Subject: a"))
    assert document.omitted_chars
    if "attachment" not in field:
        assert "The otter swims." in document.text


@pytest.mark.parametrize("start", ["<a ", "<a x='", "<!--", "<?", "</", '<a"'])
def test_a_message_with_endless_tags_is_read(tmp_path: Path, start: str) -> None:
    # A search for the end of the tag after each start would take hours.
    head = "Subject: tags\nContent-Type: text/html\n\n<p>The otter</p>"
    (tmp_path / "a.eml").write_text(head + start * 300_000)
    document = read(tmp_path / "a.eml")
    assert isinstance(document, Document)
    assert "The otter" in document.text


def test_after_slow_documents_others_of_the_format_are_named_and_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        write_mail(tmp_path / f"{name}.eml")
    write_word(tmp_path / "d.docx")
    now = iter(range(0, 10_000, 31))
    monkeypatch.setattr("rootle.sources.documents.reader.time.monotonic", lambda: float(next(now)))
    monkeypatch.setattr(
        DocumentProcess,
        "read",
        lambda _self, _root, path, *_, **__: "no text" if "docx" in path else "too slow to read",
    )
    source = FileSource(tmp_path, WalkRules())
    reader = source.reader()
    names = ("a.eml", "b.eml", "c.eml", "d.docx")
    assert [reader.read(name) for name in names] == [
        "too slow to read",
        "too slow to read",
        "after slow documents",
        "no text",
    ]
    assert source.reader().read("c.eml") == "too slow to read"  # the next update tries again


def test_a_sheet_that_yields_no_row_in_time_is_called_slow() -> None:
    from rootle.sources.documents.places import ExtractedDocument, LimitReachedError
    from rootle.sources.documents.readers.sheet_places import SheetRows

    now = iter(range(100))
    found = ExtractedDocument(1_000, 3.0, clock=lambda: float(next(now)))

    def rows() -> Iterator[tuple[int, dict[int, str]]]:
        while True:
            found.check_time()
            yield 1, {}

    with pytest.raises(LimitReachedError):
        SheetRows("Costs", found).add(rows())


def test_a_document_that_yields_nothing_in_time_is_called_slow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_word(tmp_path / "slow.docx")
    monkeypatch.setattr(limited_child_main, "_TIME_PER_DOCUMENT_S", -1.0)
    answer = limited_child_main._answer(str(tmp_path), "slow.docx", "word", 1_000, recognizes=False)
    assert answer == {"reason": "too slow to read"}


def test_the_number_of_places_in_a_document_is_limited() -> None:
    from rootle.sources.documents.places import ExtractedDocument, LimitReachedError

    found = ExtractedDocument(10_000_000, 60.0)
    for number in range(1, 20_000):
        found.add(f"page-{number}", "text")
    with pytest.raises(LimitReachedError):
        found.add("page-20000", "text")
    assert len(found.places) == 20_000
    assert found.omitted_chars


@pytest.mark.skipif(sys.platform != "linux", reason="the limit exists only on Linux")
def test_a_document_that_needs_much_memory_is_named(tmp_path: Path) -> None:
    cells = '{"cell_type": "code"},' * 2_000_000
    (tmp_path / "cells.ipynb").write_text('{"cells": [' + cells + "{}]}")
    assert read(tmp_path / "cells.ipynb") == "too much memory"
    assert_others_are_read(tmp_path)


@pytest.mark.skipif(os.name != "posix", reason="ends the child with a signal")
def test_a_child_that_hangs_or_crashes_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rootle.sources.documents import child_process

    write_word(tmp_path / "good.docx")
    process = DocumentProcess()
    try:
        good = process.read(str(tmp_path), "good.docx", "word", 10_000)
        assert not isinstance(good, str)
        assert process.read(str(tmp_path), "good.docx", "no such format", 10_000) == "reader failed"
        monkeypatch.setattr(child_process, "_TIMEOUT_S", 0.05)
        os.mkfifo(tmp_path / "pipe")  # refused, because it is not a regular file
        assert process.read(str(tmp_path), "pipe", "word", 10_000) in {
            "unreadable",
            "too slow to read",
        }
        monkeypatch.undo()
        assert process.read(str(tmp_path), "good.docx", "word", 10_000) == good
    finally:
        process.end()


def test_links_and_paths_out_of_the_folder_are_refused(tmp_path: Path) -> None:
    write_word(tmp_path / "outside.docx")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link.docx").symlink_to(tmp_path / "outside.docx")
    for name in ("link.docx", "../outside.docx"):
        found = DOCUMENT_PROCESS.read(str(tmp_path / "in"), name, "word", 10_000)
        assert found == "unreadable"


def test_the_answer_of_the_child_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    process = DocumentProcess()
    for answer in ({"reason": "anything"}, {"places": "x"}, {"places": [[1, 2, 3]]}, {}):
        monkeypatch.setattr(process, "_ask", lambda *_, answer=answer: dict(answer, x=1))
        assert process.read("/", "x", "word", 10) == "reader failed"


def test_a_pointer_to_a_large_file_is_not_called_damaged(tmp_path: Path) -> None:
    (tmp_path / "deck.pptx").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0")
    assert read(tmp_path / "deck.pptx") == "binary"


def test_text_from_a_document_can_be_stored(tmp_path: Path) -> None:
    cell = {"cell_type": "code", "source": "a = '\\ud800'\r\n\0b = 1\rc = 2", "outputs": []}
    raw = json.dumps({"cells": [cell | {"source": "a\ud800\r\n\0b\rc"}]})
    (tmp_path / "x.ipynb").write_text(raw)
    document = read(tmp_path / "x.ipynb")
    assert isinstance(document, Document)
    assert document.text == "a?\nb\nc\n"
    assert limited_child_main.MAX_SECONDS > 0


def test_a_process_that_cannot_be_started_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise BlockingIOError("Resource temporarily unavailable")

    write_mail(tmp_path / "a.eml")
    process = DocumentProcess()
    monkeypatch.setattr(subprocess, "Popen", fail)
    assert process.read(str(tmp_path), "a.eml", "mail", 1_000) == "reader failed"
