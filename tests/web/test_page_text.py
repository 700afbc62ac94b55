"""What a page says, as Markdown: of whatever charset and type."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rootle.errors import MissingExtraError, WebPageError
from rootle.web import html_process
from rootle.web.page_download import DownloadedPage
from rootle.web.page_text import page_text

_URL = "https://e.com/docs/page"


def text_of(body: bytes | str, media_type: str = "text/html", charset: str = "") -> str:
    raw = body.encode() if isinstance(body, str) else body
    return page_text(DownloadedPage(_URL, media_type, charset, raw, is_cut=False))


def test_html_becomes_markdown() -> None:
    html = """<!doctype html><html><head><title>Retry &amp; backoff</title></head><body>
    <main><h1>Retry</h1><p>Call <code>retry()</code> as the <a href="../guide#x">guide</a> says.</p>
    <pre><code class="language-python">def retry():
    return 1
</code></pre>
    <ul><li>one</li><li>two</li></ul>
    <table><tr><th>name</th><th>value</th></tr><tr><td>a</td><td>1</td></tr></table>
    </main></body></html>"""
    assert text_of(html) == (
        "Retry & backoff\n\n"
        "# Retry\n\n"
        "Call `retry()` as the [guide](https://e.com/guide#x) says.\n\n"
        "```python\ndef retry():\n    return 1\n```\n\n"
        "- one\n- two\n\n"
        "| name | value |\n| --- | --- |\n| a | 1 |"
    )


def test_what_a_reader_does_not_read_is_left_out() -> None:
    around = """<nav>AROUND</nav><aside>AROUND</aside><footer>AROUND</footer>
    <form><label>AROUND</label><button>AROUND</button></form>
    <script>AROUND</script><style>.AROUND {}</style><noscript>AROUND</noscript>
    <template>AROUND</template><div role="navigation">AROUND</div><!-- AROUND -->
    <div style="display: none">AROUND</div><div style="visibility:hidden">AROUND</div>
    <p hidden>AROUND</p><p aria-hidden="true">AROUND</p>
    <img src="data:image/png;base64,AROUND" alt="">"""
    assert text_of(f"<body>{around}<p>Words.</p>{around}</body>") == "Words."


def test_a_page_that_marks_its_main_part_is_that_part() -> None:
    words = "Words. " * 40
    html = f"<div>AROUND</div><MAIN id=x><p>{words}</p></main><div>AROUND</div>"
    assert text_of(html) == words.strip()
    assert text_of("<div>All of it.</div><main></main>") == "All of it."


def test_what_nobody_can_see_is_left_out() -> None:
    tags = "".join(chr(0xE0000 + ord(char)) for char in "obey")
    assert text_of(f"a{tags}b\u202ec\u200bd\x1be\ufefff", "text/plain") == "abcdef"


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        ("Grüße, 世界".encode(), ""),
        ("Grüße, 世界".encode(), "utf-8"),
        ("Grüße, 世界".encode("utf-8-sig"), ""),
        ("Grüße, 世界".encode("utf-16"), ""),
        ("Grüße, 世界".encode("gb18030"), "GB18030"),
        ("Grüße, 世界".encode(), "no-such-charset"),
        ("Grüße, 世界".encode(), "zlib"),
        ("Grüße, 世界".encode(), "punycode"),
        ("Grüße, 世界".encode(), "unicode_escape"),
        ("Grüße, 世界".encode(), "windows-9999"),
        ("Grüße, 世界".encode(), "utf-8\0"),
    ],
)
def test_charsets_are_read(body: bytes, charset: str) -> None:
    assert text_of(body, "text/plain", charset) == "Grüße, 世界"


def test_a_page_may_say_its_charset_itself() -> None:
    html = '<html><head><meta charset="windows-1251"></head><body><p>Привет</p></body></html>'
    assert text_of(html.encode("cp1251")) == "Привет"
    http = (
        '<meta http-equiv="Content-Type" content="text/html; charset=shift_jis"><p>\u65e5\u672c</p>'
    )
    assert text_of(http.encode("shift_jis")) == "日本"


@pytest.mark.parametrize("charset", ["", "iso-8859-1", "latin1"])
def test_the_old_charset_of_the_web_is_the_larger_one(charset: str) -> None:
    assert text_of("“Grüße” – 5 €".encode("cp1252"), "text/plain", charset) == "“Grüße” – 5 €"


def test_a_character_that_was_cut_does_not_spoil_the_rest() -> None:
    assert text_of("Grüße é".encode()[:-1], "text/plain") == "Grüße"


def test_a_line_of_nothing_takes_no_time() -> None:
    assert text_of(" " * 2_000_000 + "x" + "\n" * 1_000_000 + "y  ", "text/plain")[-4:] == "x\n\ny"


@settings(deadline=None)
@given(st.binary(max_size=200), st.text(max_size=12), st.sampled_from(["text/plain", "", "x/y"]))
def test_no_bytes_are_a_bug(body: bytes, charset: str, media_type: str) -> None:
    with suppress(WebPageError):
        text_of(body.replace(b"<", b""), media_type, charset).encode()


@pytest.mark.parametrize(
    "media_type",
    ["text/plain", "text/markdown", "application/json", "application/ld+json", "text/x-markdown"],
)
def test_text_stays_as_it_is(media_type: str) -> None:
    assert text_of('{"a": "<b>1</b>"}\r\n', media_type) == '{"a": "<b>1</b>"}'


@pytest.mark.parametrize(
    "media_type", ["application/pdf", "image/png", "application/octet-stream", "video/mp4"]
)
def test_other_things_are_said(media_type: str) -> None:
    with pytest.raises(WebPageError, match=f"is {media_type}, and rootle reads HTML, plain text"):
        text_of(b"%PDF-1.7", media_type)


def test_a_page_that_does_not_say_what_it_is_is_looked_at() -> None:
    assert text_of("<!DOCTYPE html><p>Words.</p>", "") == "Words."
    assert text_of("a < b", "") == "a < b"
    with pytest.raises(WebPageError, match="does not say what it is"):
        text_of(b"\x7fELF\0\0\0", "")


@pytest.mark.parametrize("html", ["", "<", "<div>" * 100_000 + "x", "<p>" + " " * 1_900_000])
def test_odd_html_is_read(html: str) -> None:
    assert len(text_of(html)) < 10


@pytest.mark.parametrize(
    "html",
    ["<meta " * 300_000, "<blockquote>" * 1_000 + "x<br>" * 300_000],
    ids=["time", "memory"],
)
def test_html_that_is_made_to_hurt_hurts_nobody(html: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html_process, "_LONGEST_S", 2.0)
    with pytest.raises(WebPageError, match="be made Markdown"):
        text_of(html)


def test_a_missing_package_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html_process, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'rootle\[web\]'"):
        text_of("<p>x")
    assert text_of("x", "text/plain") == "x"
