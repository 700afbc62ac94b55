"""Documents are cut at their headings, and know which headings they stand under."""

from __future__ import annotations

from rootle.ingest.chunking.chunker import split_text
from rootle.ingest.chunking.limits import ChunkLimits

LIMITS = ChunkLimits()
PARAGRAPH = "A sentence of some words, with a second half. " * 8 + "\n"


def places(text: str, language: str) -> list[tuple[int, str]]:
    return [(piece.start_line, piece.scope) for piece in split_text(text, language, LIMITS).chunks]


def test_markdown_sections_carry_their_heading_path() -> None:
    text = (
        f"Title\n=====\n\n{PARAGRAPH}\n## Install\n\n{PARAGRAPH}\n"
        f"### From source\n\n{PARAGRAPH}\n## Use it #\n\n{PARAGRAPH}"
    )
    assert places(text, "markdown") == [
        (1, "Title"),
        (6, "Title > Install"),
        (10, "Title > Install > From source"),
        (14, "Title > Use it"),
    ]


def test_a_hash_in_a_fence_is_no_heading() -> None:
    text = f"# Title\n\n{PARAGRAPH}\n```sh\n# not a heading\n```\n\n~~~\n## nor this\n~~~\n"
    assert {scope for _, scope in places(text, "markdown")} == {"Title"}


def test_a_fence_is_kept_in_one_piece_where_it_fits() -> None:
    fence = "```python\n" + "first = 1\n\nsecond = 2\n" * 30 + "```\n"
    text = f"# Title\n\n{PARAGRAPH}\n{fence}\n{PARAGRAPH}"
    pieces = split_text(text, "markdown", LIMITS).chunks
    assert any(fence.strip() in text[piece.start : piece.end] for piece in pieces)


def test_front_matter_is_no_heading() -> None:
    text = f"---\ntitle: A page\ntags: x\n---\n\n# Title\n\n{PARAGRAPH}"
    assert places(text, "markdown")[-1][1] == "Title"
    assert all("tags" not in scope for _, scope in places(text, "markdown"))


def test_big_sections_are_cut_at_paragraphs() -> None:
    text = "# Title\n\n" + f"{PARAGRAPH}\n" * 20
    pieces = split_text(text, "markdown", LIMITS).chunks
    assert len(pieces) >= 8
    lines = text.split("\n")
    assert all(lines[piece.start_line - 1][:1] in ("#", "A") for piece in pieces)
    assert all(300 <= piece.end - piece.start <= 1_100 for piece in pieces)


def test_tiny_sections_under_one_heading_are_joined() -> None:
    text = "# Title\n\n" + "".join(f"## Part {n}\n\nA few words.\n\n" for n in range(4))
    assert places(text, "markdown") == [(1, "Title")]


def test_rst_headings_get_their_level_from_their_order() -> None:
    text = (
        f"=====\nTitle\n=====\n\n{PARAGRAPH}\nInstall\n-------\n\n{PARAGRAPH}\n"
        f"From source\n~~~~~~~~~~~\n\n{PARAGRAPH}\nUse it\n------\n\n{PARAGRAPH}"
    )
    assert places(text, "rst") == [
        (1, "Title"),
        (7, "Title > Install"),
        (12, "Title > Install > From source"),
        (17, "Title > Use it"),
    ]


def test_a_table_in_rst_is_no_heading() -> None:
    text = f"Title\n=====\n\n{PARAGRAPH}\n=====  =====\nleft   right\n=====  =====\n1      2\n"
    assert {scope for _, scope in places(text, "rst")} == {"Title"}


def test_asciidoc_sections_carry_their_heading_path() -> None:
    text = f"= Title\n\n{PARAGRAPH}\n== Install\n\n----\n== no heading\n----\n\n{PARAGRAPH}"
    assert places(text, "asciidoc") == [(1, "Title"), (5, "Title > Install")]


def test_plain_text_is_cut_at_paragraphs() -> None:
    pieces = split_text(f"{PARAGRAPH}\n" * 10, "text", LIMITS).chunks
    assert len(pieces) >= 4
    assert {(piece.scope, piece.symbols, piece.comments) for piece in pieces} == {("", (), "")}
