"""Sources in the formats of Sphinx, DevDocs, Dash, MDN, Stack Exchange and llms.txt."""

from __future__ import annotations

import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

import pytest
from external_samples import (
    PAGE,
    write_devdocs,
    write_docset,
    write_mdn,
    write_sphinx,
    write_stack_exchange,
)
from sample import write_tree

from rootle.sources.external.kinds import FoundDocument, read_kind, recognize_folder
from rootle.sources.external.readers.html_to_markdown import MarkdownPage
from rootle.sources.external.readers.llms_text import split_llms_text
from rootle.sources.external.readers.symbol_pages import PageSymbol, read_page
from rootle.sources.external.records import CutFile, ExternalDocument, ExternalSourceError
from rootle.text.agent_orders.detector import describe_orders


def read(folder: Path, kind: str) -> list[ExternalDocument]:
    """Return the documents of a folder, which must be recognized as a source of this kind."""
    found, root = recognize_folder(str(folder))
    assert found == kind
    return [one for one in read_kind(root, kind, 100) if isinstance(one, ExternalDocument)]


def section_of(document: ExternalDocument, label: str) -> str:
    """Return the text of a section."""
    section = next(one for one in document.sections if one.label == label)
    return "\n".join(document.text.split("\n")[section.start_line - 1 : section.end_line])


def test_a_symbol_of_an_inventory_names_its_place_on_the_page(tmp_path: Path) -> None:
    (page,) = read(write_sphinx(tmp_path / "html"), "sphinx")
    assert (page.path, page.title) == ("api/streams.html", "Streams")
    assert "lock the file" in section_of(page, "lib.open_stream")
    assert "close_stream" not in section_of(page, "lib.open_stream")
    assert "# no heading" in section_of(page, "lib.open_stream")
    assert "2019" not in section_of(page, "lib.close_stream")


def test_an_inventory_without_pages_lists_its_symbols(tmp_path: Path) -> None:
    (page,) = read(write_sphinx(tmp_path / "html", with_pages=False), "sphinx")
    assert "`lib.open_stream` (py:function): api/streams.html#lib.open_stream" in page.text


def test_a_devdocs_page_has_the_places_of_the_index_and_its_address(tmp_path: Path) -> None:
    (page,) = read(write_devdocs(tmp_path / "lib"), "devdocs")
    assert page.address == "https://devdocs.io/lib~1/streams"
    assert "lock the file" in section_of(page, "open_stream()")


def test_the_pages_of_devdocs_may_be_files(tmp_path: Path) -> None:
    folder = write_devdocs(tmp_path / "lib")
    (one,) = read(folder, "devdocs")
    (folder / "db.json").unlink()
    (folder / "streams.html").write_text(PAGE)
    assert recognize_folder(str(folder)) == ("devdocs", str(folder))
    assert list(read(folder, "devdocs")) == [one]


def test_pages_that_sphinx_generates_are_left_out(tmp_path: Path) -> None:
    folder = write_docset(tmp_path / "lib.docset")
    (page,) = read(folder, "dash")
    with closing(sqlite3.connect(folder / "Contents/Resources/docSet.dsidx")) as index, index:
        index.execute(
            "INSERT INTO searchIndex(name, type, path) VALUES ('Index', 'Section', 'genindex.html')"
        )
    write_tree(folder / "Contents/Resources/Documents", {"genindex.html": "<p>open_stream</p>"})
    assert [one.path for one in read(folder, "dash")] == [page.path]


def test_a_docset_is_read_below_its_documents_only(tmp_path: Path) -> None:
    (tmp_path / "outside.html").write_text("<p>outside</p>")
    (page,) = read(write_docset(tmp_path / "Lib.docset"), "dash")
    assert page.path == "api/streams.html"
    assert "lock the file" in section_of(page, "open_stream")


def test_a_page_of_mdn_loses_its_front_matter_and_macros(tmp_path: Path) -> None:
    (page,) = read(write_mdn(tmp_path / "content"), "mdn")
    assert page.address == "https://developer.mozilla.org/en-US/docs/Web/API/LockManager"
    assert page.text.startswith("# LockManager\n")
    assert "The `LockManager` requests locks." in page.text
    assert "Use `promises` to wait." in page.text
    assert "page-type" not in page.text


def test_a_translated_page_of_mdn_has_the_address_of_its_language(tmp_path: Path) -> None:
    folder = write_mdn(tmp_path / "content")
    text = "---\ntitle: LockManager\nslug: Web/API/LockManager\n---\n\nDie Sperren.\n"
    for locale in ("de", "pt-br"):
        write_tree(folder, {f"files/{locale}/web/api/lockmanager/index.md": text})
    address = "https://developer.mozilla.org/{}/docs/Web/API/LockManager"
    found = {page.path: page.address for page in read(folder, "mdn")}
    assert found == {
        "Web/API/LockManager": address.format("en-US"),
        "de/Web/API/LockManager": address.format("de"),
        "pt-BR/Web/API/LockManager": address.format("pt-BR"),
    }
    assert [page.path for page in read(folder / "files/de/web", "mdn")] == [
        "de/Web/API/LockManager"
    ]


def test_a_page_outside_the_folders_of_mdn_has_no_address(tmp_path: Path) -> None:
    page = "---\ntitle: Locks\nslug: Web/Locks\n---\n\nText.\n"
    (found,) = read(write_tree(tmp_path, {"locks/index.md": page}), "mdn")
    assert (found.path, found.address) == ("Web/Locks", "")


def test_a_definition_has_the_qualified_name_of_its_symbol() -> None:
    html = (
        "<h1>Locks</h1><dl><dt id=a>class lib.Lock</dt><dt id=b>async release(self, lock)</dt>"
        "<dt id=c>owner</dt><dt id=d>-q</dt><dt id=f>Lock.wait()</dt></dl><h2 id=e>close</h2>"
        "<h2 id=g>open the file</h2><h3 id=h>read(size)</h3>"
    )
    names = {"a": "lib.Lock", "b": "lib.Lock.release", "c": "lib::Lock::owner", "d": "cmd.-q"}
    names |= {"e": "x.close", "f": "lib.Lock.wait", "g": "x.open", "h": "x.read"}
    symbols = [PageSymbol(name, "", anchor) for anchor, name in names.items()]
    lines = read_page("locks.html", html, symbols).text.split("\n")
    assert "**class lib.Lock**" in lines
    assert "`async lib.Lock.release(self, lock)`" in lines
    assert "**lib::Lock::owner**" in lines
    assert "**-q**" in lines
    assert "`lib.Lock.wait()`" in lines
    assert "## x.close" in lines
    assert "## open the file" in lines
    assert "### x.read(size)" in lines


def test_a_question_and_its_answers_are_one_document(tmp_path: Path) -> None:
    folder = write_stack_exchange(tmp_path / "unix.stackexchange.com")
    first, second = read(folder, "stack-exchange")
    assert first.path == "questions/1"
    assert first.address == "https://unix.stackexchange.com/questions/1"
    assert "Tags: python, dictionary\nVotes: 12" in first.text
    labels = [section.label for section in first.sections]
    assert labels == ["question", "answer-5", "answer-4"]  # the accepted answer is first
    assert "## Accepted solution (40 votes)" in section_of(first, "answer-5")
    assert "z = x | y" in section_of(first, "answer-5")
    assert first.factor > 1 > second.factor
    assert first.date_s == 1577934245


def test_the_headings_of_ordinary_answers_do_not_make_them_orders_to_an_agent(
    tmp_path: Path,
) -> None:
    commands = (
        "Run `lsof +L1` to list open files with no links.",
        "You can run `sudo systemctl restart nginx` after editing the file.",
        "Set `innodb_buffer_pool_size` to 70% of the memory of the machine.",
        "Send SIGHUP to the daemon to make it read its configuration.",
        "Open `/etc/fstab` and run `mount -a`.",
        "Write a script that deletes the files, and run it from cron.",
    )
    rows = [
        f'<row Id="{at}" PostTypeId="2" ParentId="1" Score="{at}" Body="{body}" />'
        for at, body in enumerate(commands, 2)
    ]
    question = '<row Id="1" PostTypeId="1" AcceptedAnswerId="5" Score="3" Title="How?" Body="x" />'
    (tmp_path / "Posts.xml").write_text("\n".join(["<posts>", question, *rows, "</posts>"]))
    (document,) = read(tmp_path, "stack-exchange")
    answers = [section_of(document, f"answer-{at}") for at in (5, 4, 3, 2, 6, 7)]
    assert "Send SIGHUP" in answers[0]
    assert [describe_orders(answer) for answer in answers] == [None] * 6


@pytest.mark.slow
def test_a_damaged_dump_keeps_the_posts_before_the_damage(tmp_path: Path) -> None:
    folder = write_stack_exchange(tmp_path / "dump")
    posts = folder / "Posts.xml"
    rows = posts.read_text().split("\n")
    filler = [rows[2].replace(' Id="1"', f' Id="{at}"') for at in range(10, 2_000)]
    posts.write_text("\n".join([*rows[:4], *filler, '<row Id="9" <']))
    found = list(read_kind(str(folder), "stack-exchange", 10_000))
    assert found[0] == CutFile("Posts.xml")
    assert len(found) == 1_993


def test_a_dump_is_cut_before_an_endless_element(tmp_path: Path) -> None:
    folder = write_stack_exchange(tmp_path / "dump")
    posts = folder / "Posts.xml"
    endless = f'<row Id="99" PostTypeId="1" Title="x" Body="{"word " * 3_000_000}"/>'
    posts.write_text(posts.read_text().replace("</posts>", f"{endless}</posts>"))
    found = list(read_kind(str(folder), "stack-exchange", 100))
    assert found[0] == CutFile("Posts.xml")
    assert len(found) == 3


def test_a_dump_that_ends_too_early_is_reported_as_cut(tmp_path: Path) -> None:
    folder = write_stack_exchange(tmp_path / "dump")
    posts = folder / "Posts.xml"
    posts.write_text(posts.read_text().replace("</posts>", ""))
    found = list(read_kind(str(folder), "stack-exchange", 100))
    assert found[0] == CutFile("Posts.xml")
    assert len(found) == 3


def test_answers_beyond_a_limit_are_reported_as_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_stack_exchange(tmp_path / "dump")
    assert not [one for one in _read_all(folder) if isinstance(one, CutFile)]
    monkeypatch.setattr("rootle.sources.external.readers.stack_exchange._MAX_ANSWERS", 1)
    assert CutFile("questions/1") in _read_all(folder)


def _read_all(folder: Path) -> list[FoundDocument]:
    return list(read_kind(str(folder), "stack-exchange", 100))


def test_a_dump_with_entities_is_refused(tmp_path: Path) -> None:
    (tmp_path / "Posts.xml").write_text('<!DOCTYPE a [<!ENTITY a "x">]><posts>&a;</posts>')
    with pytest.raises(ExternalSourceError, match="entities"):
        list(read_kind(str(tmp_path), "stack-exchange", 10))


INVENTORY_HEAD = b"# Sphinx inventory version 2\n# Project: a\n# Version: 1\n# compressed\n"


def test_an_inventory_that_ends_too_early_is_reported_as_cut(tmp_path: Path) -> None:
    body = zlib.compress(b"a.b py:function 1 a.html#$ -\n" * 99)[:-9]
    (tmp_path / "objects.inv").write_bytes(INVENTORY_HEAD + body)
    cut, *documents = read_kind(str(tmp_path), "sphinx", 10)
    assert cut == CutFile("objects.inv")
    assert documents


@pytest.mark.parametrize("content", [b"", b"# Sphinx inventory version 2\n", b"PK\x03\x04"])
def test_a_damaged_inventory_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "objects.inv").write_bytes(content)
    with pytest.raises(ExternalSourceError, match=r"objects\.inv"):
        list(read_kind(str(tmp_path), "sphinx", 10))


def test_a_malicious_docset_ends_at_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rootle.sources.external.readers.dash._MAX_CHECKS", 2)
    index = tmp_path / "Contents/Resources/docSet.dsidx"
    index.parent.mkdir(parents=True)
    with closing(sqlite3.connect(index)) as database:
        database.execute(
            "CREATE VIEW searchIndex AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 "
            "FROM c) SELECT COUNT(*) AS name, '' AS type, '' AS path FROM c"
        )
        database.commit()
    with pytest.raises(ExternalSourceError, match="cannot be read"):
        list(read_kind(str(tmp_path), "dash", 10))


def test_llms_full_is_divided_at_headings_outside_of_code() -> None:
    text = "# One\nSource: https://a.example/one\n\n```\n# no heading\n```\n# Two\n\nMore.\n"
    first, second = split_llms_text("llms-full.txt", text)
    assert (first.title, first.address) == ("One", "https://a.example/one")
    assert "# no heading" in first.text
    assert (second.path, second.title) == ("llms-full.txt/2-two", "Two")


def test_llms_txt_leads_to_files_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "llms.txt").write_text("# Lib\n\n- [Guide](guide.md): all\n- [Up](../up.md)\n")
    (tmp_path / "guide.md").write_text("# Guide\n\nStart here.\n")
    (tmp_path.parent / "up.md").write_text("# Up\n")
    paths = [document.path for document in read(tmp_path, "llms.txt")]
    assert paths == ["llms.txt", "guide.md"]


def test_a_linked_file_that_cannot_be_read_does_not_hide_the_next_one(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/llms.txt").write_text("# Lib\n\n- [A](a.md)\n- [B](b.md)\n")
    (tmp_path / "outside.md").write_text("# Outside\n")
    (tmp_path / "docs/a.md").symlink_to(tmp_path / "outside.md")
    (tmp_path / "docs/b.md").write_text("# B\n")
    paths = [document.path for document in read(tmp_path / "docs", "llms.txt")]
    assert paths == ["llms.txt", "b.md"]


def test_a_link_among_the_pages_of_mdn_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("---\ntitle: Outside\nslug: Outside\n---\nText\n")
    for name in ("a", "b"):
        (tmp_path / "mdn" / name).mkdir(parents=True)
    (tmp_path / "mdn/a/index.md").symlink_to(tmp_path / "outside.md")
    (tmp_path / "mdn/b/index.md").write_text("---\ntitle: B\nslug: B\n---\nText\n")
    assert [document.path for document in read(tmp_path / "mdn", "mdn")] == ["B"]


def test_a_folder_of_documents_has_html_as_markdown(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(PAGE_WITH_LIST)
    (tmp_path / "b.md").write_text("# B\n\ntext\n")
    (tmp_path / "c.bin").write_bytes(b"\0\1\2" * 100)
    found = {one.path: one for one in read(tmp_path, "folder")}
    assert set(found) == {"a.html", "b.md"}
    assert "## Steps" in found["a.html"].text
    assert "- first\n- second" in found["a.html"].text


PAGE_WITH_LIST = "<h2>Steps</h2><ul><li>first</li><li><p>second</p></li></ul>"


def test_unclosed_tags_do_not_hide_the_rest_of_a_page() -> None:
    page = MarkdownPage("<p>one<li>two<div><table><tr><td>three<p>four")
    for word in ("one", "two", "three", "four"):
        assert word in page.text


@pytest.mark.slow
def test_a_deeply_nested_page_takes_no_deep_recursion() -> None:
    assert "end" in MarkdownPage("<div>" * 50_000 + "end").text


@pytest.mark.slow
@pytest.mark.parametrize("start", ["<a ", '<a x="', "<!--", "<?", "</"])
def test_tags_that_do_not_end_are_read_once(start: str) -> None:
    # A search for the end of the tag after each of the million starts would take hours.
    assert MarkdownPage("<p>before</p>" + start * 1_000_000).text == "before\n"


def test_the_text_after_the_last_tag_is_kept() -> None:
    assert MarkdownPage("<p>one</p>Tom &amp; Ann & me").text == "one\n\nTom & Ann & me\n"


def test_an_unknown_section_of_sgml_is_no_error() -> None:
    assert MarkdownPage("<p>one<![unknown[x]]> two</p>").text == "one two\n"


def test_a_row_of_a_table_is_one_line() -> None:
    html = (
        "<table><tr><td><p><code>gather()</code></p></td><td><p>Wait for all.</p></td></tr>"
        "<tr><td><p>one</p><p>two</p></td></tr></table><p>after</p>"
    )
    assert MarkdownPage(html).text == "`gather()` | Wait for all.\n\none\n\ntwo\n\nafter\n"


def test_code_around_the_main_element_leaves_no_marks() -> None:
    html = "<code>nav</code><main><ul><li><p><code>a()</code> b</li></ul></main><code>x</code>"
    assert MarkdownPage(html).text == "- `a()` b\n"


ASIDES = (
    '<aside class="footnote-list brackets"><aside class="footnote brackets" role="doc-footnote">'
    '<span class="label">[1]</span><p>Seven attempts.</p></aside></aside>'
    '<aside class="topic"><p class="topic-title">Upgrade</p><p>Delete the cache.</p></aside>'
)
ASIDES_TEXT = "[1]\n\nSeven attempts.\n\nUpgrade\n\nDelete the cache.\n"


def test_footnotes_topics_and_sidebars_of_a_page_are_kept() -> None:
    side = '<aside class="sidebar"><nav>menu</nav><p>Side</p></aside>'
    page = f'<aside>menu</aside><div role="main">{ASIDES}{side}</div><aside>menu</aside>'
    assert MarkdownPage(page).text == f"{ASIDES_TEXT}\nSide\n"


def test_without_a_main_element_only_notes_are_kept() -> None:
    page = f'<aside class="sidebar">menu</aside>{ASIDES}<aside role="note">Care!</aside>'
    assert MarkdownPage(page).text == f"{ASIDES_TEXT}\nCare!\n"


def test_an_empty_cell_keeps_its_column() -> None:
    rows = "<tr>\n<td>a</td><td></td><td>c</td></tr><tr><td></td><td>b</td></tr><tr><td><td></tr>"
    assert MarkdownPage(f"<table>{rows}</table>").text == "a | | c\n\n| b\n"
