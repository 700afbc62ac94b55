"""URLs of pages: normalization, rejected texts and redirects."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rootle.errors import WebPageError
from rootle.web.url import parse_page_url


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://example.com", "https://example.com/"),
        (" HTTPS://Example.COM/Path?q=A#part\n", "https://example.com/Path?q=A"),
        ("http://example.com:80/", "http://example.com/"),
        ("http://example.com:8080/x", "http://example.com:8080/x"),
        ("https://e.com/a b/é?x=ü&y=%20", "https://e.com/a%20b/%C3%A9?x=%C3%BC&y=%20"),
        ("https://e.com/wiki/Foo_(bar)", "https://e.com/wiki/Foo_(bar)"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("http://[2001:4860:4860::8888]/", "http://[2001:4860:4860::8888]/"),
        ("http://１２７.０.０.１/", "http://127.0.0.1/"),
        ("https://e.com/\ud800", "https://e.com/?"),
    ],
)
def test_a_url_is_normalized(text: str, expected: str) -> None:
    assert str(parse_page_url(text)) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is not a web page"),
        ("example.com/page", "is not a web page; write http"),
        ("file:///etc/passwd", "is not a web page"),
        ("ftp://example.com/", "is not a web page"),
        ("javascript:alert(1)", "is not a web page"),
        ("gopher://example.com:70/_x", "is not a web page"),
        ("data:text/html,x", "is not a web page"),
        ("https://", "is not a valid URL"),
        ("https:///path", "is not a valid URL"),
        ("https://user:secret@example.com/", "user or password"),
        ("http://example.com:0x50/", "is not a valid URL"),
        ("http://example.com:99999/", "is not a valid URL"),
        ("http://[::1", "is not a valid URL"),
        ("http://[fe80::1%25eth0]/", "is not a valid URL"),
        ("http://a..b/", "is not a valid URL"),
        (f"http://{'a' * 70}.com/", "is not a valid URL"),
        ("http://a b/", "is not a valid URL"),
        ("http://a\0b/", "is not a valid URL"),
        ("http://a%00b/", "is not a valid URL"),
    ],
)
def test_an_invalid_url_is_an_error(text: str, reason: str) -> None:
    with pytest.raises(WebPageError, match=reason) as caught:
        parse_page_url(text)
    assert "secret" not in str(caught.value)


@pytest.mark.slow
@settings(deadline=None)
@given(st.text(max_size=12), st.text(max_size=20))
def test_normalization_is_idempotent(host: str, path: str) -> None:
    for text in (f"{host}{path}", f"https://{host}/{path}", f"http://e.com/{path}"):
        with suppress(WebPageError):
            url = str(parse_page_url(text))
            assert url.isascii()
            assert url.isprintable()
            assert " " not in url
            assert str(parse_page_url(url)) == url


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("/other", "https://e.com/other"),
        ("next?x=1", "https://e.com/a/next?x=1"),
        ("//other.example/x", "https://other.example/x"),
        ("http://other.example/", "http://other.example/"),
    ],
)
def test_a_redirect_is_resolved(location: str, expected: str) -> None:
    assert str(parse_page_url("https://e.com/a/b").resolve(location)) == expected


@pytest.mark.parametrize("location", ["file:///etc/passwd", "http://[", "http://u:p@e.com/"])
def test_a_redirect_to_another_scheme_is_rejected(location: str) -> None:
    with pytest.raises(WebPageError):
        parse_page_url("https://e.com/a/b").resolve(location)
