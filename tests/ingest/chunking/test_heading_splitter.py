"""Documents are split at their headings, and each chunk has the path of its headings."""

from __future__ import annotations

import time

import pytest

from rootle.ingest.chunking.chunk_size_defaults import ChunkLimits
from rootle.ingest.chunking.chunker import split_text
from rootle.ingest.chunking.heading_splitter import clean_title

LIMITS = ChunkLimits()
PARAGRAPH = "A sentence of some words, with a second half. " * 8 + "\n"


def places(text: str, language: str) -> list[tuple[int, str]]:
    return [(chunk.start_line, chunk.scope) for chunk in split_text(text, language, LIMITS).chunks]


def test_markdown_sections_have_the_path_of_their_headings() -> None:
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


def test_an_underlined_heading_has_the_level_of_its_underline() -> None:
    text = (
        f"Title\n=====\n\n{PARAGRAPH}\nInstall\n-------\n\n{PARAGRAPH}\n"
        f"### From source\n\n{PARAGRAPH}\n## Use it\n\n{PARAGRAPH}"
    )
    assert places(text, "markdown") == [
        (1, "Title"),
        (6, "Title > Install"),
        (11, "Title > Install > From source"),
        (15, "Title > Use it"),
    ]


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("[CodeRed Cloud](https://www.codered.cloud/)", "CodeRed Cloud"),
        ("[![Vim The editor](https://example.org/logo.gif)](https://vim.org)", "Vim The editor"),
        ("**[1.2.0](https://example.org/a_(b)) (2024-01-31)**", "1.2.0 (2024-01-31)"),
        ("Use [a](b) and [c](d 'e')", "Use a and c"),
        ("![](logo.svg)", "![](logo.svg)"),
        ("`items[0](x)`", "items[0](x)"),
    ],
)
def test_a_heading_with_links_is_named_by_their_texts(title: str, expected: str) -> None:
    assert places(f"## {title}\n\n{PARAGRAPH}", "markdown") == [(1, expected)]


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("`[table]` Section", "`[table]` Section"),
        ("Depth & `X-Forwarded-For`", "Depth & `X-Forwarded-For`"),
        ("**Title**", "Title"),
        ("*`limit`*", "limit"),
        ("`a` and `b`", "`a` and `b`"),
    ],
)
def test_only_marks_that_enclose_a_whole_heading_are_removed(title: str, expected: str) -> None:
    assert clean_title(title) == expected


@pytest.mark.parametrize("part", ["[", "[](", "*_", "*", "![a](", "[a](b)", "[a]((b)"])
def test_a_heading_of_many_brackets_takes_little_time(part: str) -> None:
    start = time.monotonic()
    clean_title(part * 100_000)
    assert time.monotonic() - start < 1


def test_a_hash_in_a_fenced_block_is_not_a_heading() -> None:
    text = f"# Title\n\n{PARAGRAPH}\n```sh\n# not a heading\n```\n\n~~~\n## nor this\n~~~\n"
    assert {scope for _, scope in places(text, "markdown")} == {"Title"}


def test_a_heading_may_follow_a_fenced_block_without_a_blank_line() -> None:
    text = f"# Title\n\n```sh\n{PARAGRAPH}```\n## Install\n\n{PARAGRAPH}"
    assert places(text, "markdown") == [(1, "Title"), (6, "Title > Install")]


def test_a_fenced_block_that_fits_is_not_split() -> None:
    fence = "```python\n" + "first = 1\n\nsecond = 2\n" * 30 + "```\n"
    text = f"# Title\n\n{PARAGRAPH}\n{fence}\n{PARAGRAPH}"
    chunks = split_text(text, "markdown", LIMITS).chunks
    assert any(fence.strip() in text[chunk.start : chunk.end] for chunk in chunks)


def test_front_matter_is_not_a_heading() -> None:
    text = f"---\ntitle: A page\ntags: x\n---\n\n# Title\n\n{PARAGRAPH}"
    assert places(text, "markdown")[-1][1] == "Title"
    assert all("tags" not in scope for _, scope in places(text, "markdown"))


def test_large_sections_are_split_at_paragraphs() -> None:
    text = "# Title\n\n" + f"{PARAGRAPH}\n" * 20
    chunks = split_text(text, "markdown", LIMITS).chunks
    assert len(chunks) >= 8
    lines = text.split("\n")
    assert all(lines[chunk.start_line - 1][:1] in ("#", "A") for chunk in chunks)
    assert all(300 <= chunk.end - chunk.start <= 1_100 for chunk in chunks)


def test_tiny_sections_under_one_heading_are_joined() -> None:
    text = "# Title\n\n" + "".join(f"## Part {n}\n\nA few words.\n\n" for n in range(4))
    assert places(text, "markdown") == [(1, "Title")]


def test_rst_headings_get_their_levels_in_order_of_appearance() -> None:
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


def test_an_rst_heading_between_two_lines_begins_with_the_upper_one() -> None:
    text = f"{PARAGRAPH}\n=====\nUsing\n=====\n\n{PARAGRAPH}"
    assert places(text, "rst") == [(1, ""), (3, "Using")]


def test_a_table_in_rst_is_not_a_heading() -> None:
    text = f"Title\n=====\n\n{PARAGRAPH}\n=====  =====\nleft   right\n=====  =====\n1      2\n"
    assert {scope for _, scope in places(text, "rst")} == {"Title"}


def test_asciidoc_sections_have_the_path_of_their_headings() -> None:
    text = f"= Title\n\n{PARAGRAPH}\n== Install\n\n----\n== no heading\n----\n\n{PARAGRAPH}"
    assert places(text, "asciidoc") == [(1, "Title"), (5, "Title > Install")]


def test_a_heading_in_asciidoc_may_follow_a_block_without_a_blank_line() -> None:
    block = f"----\n{PARAGRAPH}----\n"
    text = f"= Title\n\n{block}== Install\n\n{PARAGRAPH}"
    assert places(text, "asciidoc") == [(1, "Title"), (6, "Title > Install")]


def test_asciidoc_headings_can_be_underlined_or_begin_with_hashes() -> None:
    text = (
        f"git-x(1)\n========\n\nNAME\n----\n{PARAGRAPH}\n[[opts]]\nOPTIONS\n-------\n{PARAGRAPH}\n"
        f"Sub options\n~~~~~~~~~~~\n{PARAGRAPH}\n## Markdown style\n\n{PARAGRAPH}"
    )
    assert places(text, "asciidoc") == [
        (1, "git-x(1)"),
        (9, "git-x(1) > OPTIONS"),
        (13, "git-x(1) > OPTIONS > Sub options"),
        (17, "git-x(1) > Markdown style"),
    ]


def test_the_mark_of_a_block_in_asciidoc_underlines_nothing() -> None:
    blocks = (
        ".Title\n------\n# code\n------\n\nSome text:\n----\nNAME\n----\n\n-a::\n----\n"
        "== code\n----\n\n[source]\n--------\n== code\n--------\n\n"
        "above\nbelow\n-----\n== code\n-----\n\n```sh\n# code\n```\n"
    )
    text = f"= Title\n\n{PARAGRAPH}\n{blocks}\n{PARAGRAPH}"
    assert {scope for _, scope in places(text, "asciidoc")} == {"Title"}


def test_an_anchor_is_not_part_of_a_heading() -> None:
    text = (
        f"Title {{#top}}\n=====\n\n{PARAGRAPH}\n## Install {{: #setup .x }} ##\n\n{PARAGRAPH}\n"
        f"## Use {{/* #use */}}\n\n{PARAGRAPH}\n## GET /ships/{{id}}\n\n{PARAGRAPH}"
    )
    assert [scope for _, scope in places(text, "markdown")] == [
        *("Title", "Title > Install", "Title > Use", "Title > GET /ships/{id}")
    ]
    text = f"= [[top]]Title\n\n{PARAGRAPH}\n== Install [[setup,Setup]]\n\n{PARAGRAPH}"
    assert [scope for _, scope in places(text, "asciidoc")] == ["Title", "Title > Install"]


def test_plain_text_is_split_at_paragraphs() -> None:
    chunks = split_text(f"{PARAGRAPH}\n" * 10, "text", LIMITS).chunks
    assert len(chunks) >= 4
    assert {(chunk.scope, chunk.symbols, chunk.comments) for chunk in chunks} == {("", (), "")}


def test_an_html_page_is_split_at_its_headings() -> None:
    text = (
        f"<html><body>\n<h1 class='top'>Shop &amp;\n  Orders</h1>\n<p>{PARAGRAPH}</p>\n"
        f"<h2><a id='pay' href='#pay'>How to <b>pay</b></a></h2>\n<p>{PARAGRAPH}</p>\n"
        f"<h3></h3>\n<H3>Refunds</H3>\n<p>{PARAGRAPH}</p>\n<h2>Returns</h2>\n<p>{PARAGRAPH}</p>\n"
    )
    assert places(text, "html") == [
        (1, "Shop & Orders"),
        (6, "Shop & Orders > How to pay"),
        (10, "Shop & Orders > How to pay > Refunds"),
        (13, "Shop & Orders > Returns"),
    ]


def test_a_page_inside_a_template_script_is_split_at_its_headings() -> None:
    text = (
        "<script id='design' type='text/x-handlebars-template'>\n"
        f"<h3>4.1 Motivation</h3>\n<p>{PARAGRAPH}</p>\n"
        f"<h3>4.2 Persistence</h3>\n<p>{PARAGRAPH}</p>\n</script>\n"
    )
    assert places(text, "html") == [(1, "4.1 Motivation"), (5, "4.2 Persistence")]


def test_a_component_with_one_heading_is_split_like_code() -> None:
    text = f"<h1>Title</h1>\n<p>{PARAGRAPH}</p>\n<script>\n" + "call();\n" * 400 + "</script>\n"
    scopes = [scope for _, scope in places(text, "html")]
    assert scopes[0] == ""
    assert set(scopes[1:]) == {"script"}


def test_headings_in_scripts_and_comments_of_a_page_are_ignored() -> None:
    text = (
        f"<h1 data-if='a > b'>Shop</h1>\n<p>{PARAGRAPH}</p>\n<!-- <h2>Old</h2>\n -->\n"
        f"<script>\nel.innerHTML = '<h2>' + title + '</h2>';\n</script>\n<p>{PARAGRAPH}</p>\n"
        f"<H2\nid='x'>Returns</H2>\n<p>{PARAGRAPH}</p>\n"
    )
    assert {scope for _, scope in places(text, "html")} == {"Shop", "Shop > Returns"}
