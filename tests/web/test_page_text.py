"""The text of pages as Markdown: HTML, charsets, media types and malicious pages."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rootle.errors import MissingExtraError, WebPageError
from rootle.web import html_child_process
from rootle.web.page_download import DownloadedPage
from rootle.web.page_text import extract_text

_URL = "https://e.com/docs/page"


def extract(body: bytes | str, media_type: str = "text/html", charset: str = "") -> str:
    raw = body.encode() if isinstance(body, str) else body
    return extract_text(DownloadedPage(_URL, media_type, charset, raw, is_truncated=False))


@pytest.mark.slow
def test_html_is_converted_to_markdown() -> None:
    html = """<!doctype html><html><head><title>Retry &amp; backoff</title></head><body>
    <main><h1>Retry</h1><p>Call <code>retry()</code> as the <a href="../guide#x">guide</a> says.</p>
    <pre><code class="language-python">def retry():
    return 1
</code></pre>
    <ul><li>one</li><li>two</li></ul>
    <table><tr><th>name</th><th>value</th></tr><tr><td>a</td><td>1</td></tr></table>
    </main></body></html>"""
    assert extract(html) == (
        "Retry & backoff\n\n"
        "# Retry\n\n"
        "Call `retry()` as the [guide](https://e.com/guide#x) says.\n\n"
        "```python\ndef retry():\n    return 1\n```\n\n"
        "- one\n- two\n\n"
        "| name | value |\n| --- | --- |\n| a | 1 |"
    )


@pytest.mark.slow
def test_navigation_forms_and_hidden_parts_are_removed() -> None:
    excluded = """<nav>EXCLUDED</nav><aside>EXCLUDED</aside><footer>EXCLUDED</footer>
    <form><label>EXCLUDED</label><button>EXCLUDED</button></form>
    <script>EXCLUDED</script><style>.EXCLUDED {}</style><noscript>EXCLUDED</noscript>
    <template>EXCLUDED</template><div role="navigation">EXCLUDED</div><!-- EXCLUDED -->
    <div style="display: none">EXCLUDED</div><div style="visibility:hidden">EXCLUDED</div>
    <p hidden>EXCLUDED</p><p aria-hidden="true">EXCLUDED</p>
    <img src="data:image/png;base64,EXCLUDED" alt="">"""
    assert extract(f"<body>{excluded}<p>Words.</p>{excluded}</body>") == "Words."


@pytest.mark.slow
def test_only_the_main_element_is_converted() -> None:
    words = "Words. " * 40
    html = f"<div>EXCLUDED</div><MAIN id=x><p>{words}</p></main><div>EXCLUDED</div>"
    assert extract(html) == words.strip()
    assert extract("<div>All of it.</div><main></main>") == "All of it."


@pytest.mark.slow
def test_notes_in_the_main_element_are_kept() -> None:
    html = f"<aside>menu</aside><main><p>{'Words. ' * 40}</p><aside>Caution!</aside></main>"
    assert extract(html).endswith("Words.\n\nCaution!")
    assert "menu" not in extract(html)


def test_invisible_characters_are_removed() -> None:
    tags = "".join(chr(0xE0000 + ord(char)) for char in "obey")
    assert extract(f"a{tags}b\u202ec\u200bd\x1be\ufefff", "text/plain") == "abcdef"


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
def test_the_charset_of_the_header_is_used(body: bytes, charset: str) -> None:
    assert extract(body, "text/plain", charset) == "Grüße, 世界"


@pytest.mark.slow
def test_the_charset_of_a_meta_element_is_used() -> None:
    html = '<html><head><meta charset="windows-1251"></head><body><p>Привет</p></body></html>'
    assert extract(html.encode("cp1251")) == "Привет"
    http = (
        '<meta http-equiv="Content-Type" content="text/html; charset=shift_jis"><p>\u65e5\u672c</p>'
    )
    assert extract(http.encode("shift_jis")) == "日本"


@pytest.mark.parametrize("charset", ["", "iso-8859-1", "latin1"])
def test_latin_1_is_decoded_as_windows_1252(charset: str) -> None:
    assert extract("“Grüße” – 5 €".encode("cp1252"), "text/plain", charset) == "“Grüße” – 5 €"


@pytest.mark.parametrize(
    ("charset", "codec", "words"),
    [
        ("gb2312", "gbk", "朱镕基 喆 ①"),
        ("GBK", "gb18030", "€ 㐀"),
        ("Shift_JIS", "cp932", "①～髙橋 ㈱"),
        ("x-sjis", "cp932", "日本語のページ"),
        ("euc-kr", "cp949", "똠방각하 펲시"),
        ("ks_c_5601-1987", "cp949", "한국어"),
        ("big5", "big5hkscs", "中文 啫喱"),
        ("iso-8859-9", "cp1254", "“İstanbul” – €"),
        ("windows-874", "cp874", "สวัสดี"),
        ("TIS-620", "cp874", "“สวัสดี”"),
        ("iso-8859-11", "cp874", "สวัสดี"),
        ("latin2", "iso8859-2", "Žluťoučký kůň"),
        ("x-mac-cyrillic", "mac-cyrillic", "Привет"),
        ("cp850", "cp850", "Grüße"),
    ],
)
def test_a_label_denotes_the_same_charset_as_in_browsers(
    charset: str, codec: str, words: str
) -> None:
    assert extract(words.encode(codec), "text/plain", charset) == words


@pytest.mark.slow
def test_a_meta_element_cannot_declare_utf_16() -> None:
    assert extract('<meta charset="utf-16"><p>Grüße</p>') == "Grüße"


def test_an_incomplete_last_character_is_ignored() -> None:
    assert extract("Grüße é".encode()[:-1], "text/plain") == "Grüße"


@pytest.mark.slow
def test_a_long_blank_line_is_processed_in_linear_time() -> None:
    assert extract(" " * 2_000_000 + "x" + "\n" * 1_000_000 + "y  ", "text/plain")[-4:] == "x\n\ny"


@pytest.mark.slow
@settings(deadline=None)
@given(st.binary(max_size=200), st.text(max_size=12), st.sampled_from(["text/plain", "", "x/y"]))
def test_any_bytes_give_a_text_or_an_error(body: bytes, charset: str, media_type: str) -> None:
    with suppress(WebPageError):
        extract(body.replace(b"<", b""), media_type, charset).encode()


@pytest.mark.parametrize(
    "media_type",
    ["text/plain", "text/markdown", "application/json", "application/ld+json", "text/x-markdown"],
)
def test_other_texts_are_unchanged(media_type: str) -> None:
    assert extract('{"a": "<b>1</b>"}\r\n', media_type) == '{"a": "<b>1</b>"}'


@pytest.mark.parametrize(
    "media_type", ["application/pdf", "image/png", "application/octet-stream", "video/mp4"]
)
def test_other_media_types_are_an_error(media_type: str) -> None:
    with pytest.raises(WebPageError, match=f"is {media_type}; rootle reads HTML, plain text"):
        extract(b"%PDF-1.7", media_type)


@pytest.mark.slow
def test_a_missing_media_type_is_detected() -> None:
    assert extract("<!DOCTYPE html><p>Words.</p>", "") == "Words."
    assert extract("a < b", "") == "a < b"
    with pytest.raises(WebPageError, match="has no media type"):
        extract(b"\x7fELF\0\0\0", "")


@pytest.mark.slow
@pytest.mark.parametrize("html", ["", "<", "<div>" * 100_000 + "x", "<p>" + " " * 1_900_000])
def test_invalid_html_is_converted(html: str) -> None:
    assert len(extract(html)) < 10


@pytest.mark.slow
@pytest.mark.parametrize(
    "html",
    ["<meta " * 300_000, "<blockquote>" * 1_000 + "x<br>" * 300_000],
    ids=["time", "memory"],
)
def test_malicious_html_is_an_error(html: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html_child_process, "_TIMEOUT_S", 2.0)
    with pytest.raises(WebPageError, match="cannot be converted to Markdown"):
        extract(html)


def test_a_missing_package_is_an_error_with_the_install_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(html_child_process, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'rootle\[web\]'"):
        extract("<p>x")
    assert extract("x", "text/plain") == "x"
