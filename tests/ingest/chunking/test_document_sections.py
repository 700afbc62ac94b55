"""Chunks of documents that have sections, such as slides."""

from __future__ import annotations

from functools import partial

from rootle.ingest.chunking.chunk_size_defaults import ChunkLimits
from rootle.ingest.chunking.chunker import ChunkedText, split_text
from rootle.ingest.chunking.document_sections import split_sections
from rootle.types import DocumentSection

TEXT = "cover\nfirst slide\nits second line\n\nbetween\nlast slide\n"
SECTIONS = (DocumentSection("slide-1", 2, 3, "Start"), DocumentSection("slide-2", 6, 6))


def split(text: str, sections: tuple[DocumentSection, ...], max_file_chars: int = 0) -> ChunkedText:
    limits = ChunkLimits(max_file_chars=max_file_chars)
    split_one = partial(split_text, language="markdown", limits=limits)
    return split_sections(text, sections, split_one, max_file_chars, "markdown")


def test_a_chunk_lies_in_one_section_or_between_sections() -> None:
    chunks = split(TEXT, SECTIONS).chunks
    assert [(chunk.start_line, chunk.end_line) for chunk in chunks] == [
        (1, 1),
        (2, 3),
        (5, 5),
        (6, 6),
    ]


def test_the_characters_of_a_chunk_are_those_of_its_lines() -> None:
    lines = TEXT.split("\n")
    for chunk in split(TEXT, SECTIONS).chunks:
        expected = "\n".join(lines[chunk.start_line - 1 : chunk.end_line])
        assert TEXT[chunk.start : chunk.end] == expected


def test_the_title_of_a_section_is_the_outermost_scope() -> None:
    text = f"# Agenda\n\n{'words ' * 100}\nend"
    sections = (
        DocumentSection("page-1", 1, 3, "Page 1"),
        DocumentSection("page-2", 4, 4, "Page 2"),
    )
    scopes = [chunk.scope for chunk in split(text, sections).chunks]
    assert scopes == ["Page 1 > Agenda", "Page 2"]


def test_a_section_without_a_title_adds_no_scope() -> None:
    assert {chunk.scope for chunk in split("text", (DocumentSection("page-1", 1, 1),)).chunks} == {
        ""
    }


def test_the_limit_applies_to_the_whole_document() -> None:
    text = "\n".join("x" * 100 for _ in range(10))
    sections = tuple(DocumentSection(f"page-{row}", row, row) for row in range(1, 11))
    chunked = split(text, sections, max_file_chars=250)
    assert [chunk.start_line for chunk in chunked.chunks] == [1, 2]
    assert chunked.skipped_chars == len(text) - 201


def test_a_section_may_end_beyond_the_text() -> None:
    chunks = split("one\ntwo", (DocumentSection("all", 1, 9),)).chunks
    assert [(chunk.start_line, chunk.end_line) for chunk in chunks] == [(1, 2)]
