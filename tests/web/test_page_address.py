"""Which texts are the address of a page, and which machines rootle never asks."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rootle.errors import WebPageError
from rootle.web.ssrf_guard import is_public
from rootle.web.url import parse_page_url


@pytest.mark.parametrize(
    ("text", "wanted"),
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
def test_an_address_has_one_form(text: str, wanted: str) -> None:
    assert str(parse_page_url(text)) == wanted


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no page of the web"),
        ("example.com/page", "no page of the web; write http"),
        ("file:///etc/passwd", "no page of the web"),
        ("ftp://example.com/", "no page of the web"),
        ("javascript:alert(1)", "no page of the web"),
        ("gopher://example.com:70/_x", "no page of the web"),
        ("data:text/html,x", "no page of the web"),
        ("https://", "is no address"),
        ("https:///path", "is no address"),
        ("https://user:secret@example.com/", "user or password"),
        ("http://example.com:0x50/", "is no address"),
        ("http://example.com:99999/", "is no address"),
        ("http://[::1", "is no address"),
        ("http://[fe80::1%25eth0]/", "is no address"),
        ("http://a..b/", "is no address"),
        (f"http://{'a' * 70}.com/", "is no address"),
        ("http://a b/", "is no address"),
        ("http://a\0b/", "is no address"),
        ("http://a%00b/", "is no address"),
    ],
)
def test_what_is_no_address_is_said(text: str, why: str) -> None:
    with pytest.raises(WebPageError, match=why) as caught:
        parse_page_url(text)
    assert "secret" not in str(caught.value)


@settings(deadline=None)
@given(st.text(max_size=12), st.text(max_size=20))
def test_an_address_stays_what_it_is(host: str, place: str) -> None:
    for text in (f"{host}{place}", f"https://{host}/{place}", f"http://e.com/{place}"):
        with suppress(WebPageError):
            address = str(parse_page_url(text))
            assert address.isascii()
            assert address.isprintable()
            assert " " not in address
            assert str(parse_page_url(address)) == address


@pytest.mark.parametrize(
    ("location", "wanted"),
    [
        ("/other", "https://e.com/other"),
        ("next?x=1", "https://e.com/a/next?x=1"),
        ("//other.example/x", "https://other.example/x"),
        ("http://other.example/", "http://other.example/"),
    ],
)
def test_a_redirect_leads_on(location: str, wanted: str) -> None:
    assert str(parse_page_url("https://e.com/a/b").leads_to(location)) == wanted


@pytest.mark.parametrize("location", ["file:///etc/passwd", "http://[", "http://u:p@e.com/"])
def test_a_redirect_leads_to_pages_alone(location: str) -> None:
    with pytest.raises(WebPageError):
        parse_page_url("https://e.com/a/b").leads_to(location)


@pytest.mark.parametrize(
    "address",
    [
        *("93.184.215.14", "8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "2001:4860:4860::8888"),
        # The newer kind around a public one of the older.
        *("::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1"),
    ],
)
def test_a_public_address(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        # This machine, and "any".
        *("127.0.0.1", "127.8.8.8", "0.0.0.0", "0.1.2.3", "::1", "::", "::127.0.0.1"),
        # Private networks and those of providers.
        *("10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "198.18.0.1"),
        *("fc00::1", "fd12:3456::1", "fec0::1"),
        # Link-local, and where clouds keep a machine's secrets.
        *("169.254.1.1", "169.254.169.254", "fe80::1", "fe80::1%eth0", "fd00:ec2::254"),
        *("100.100.100.200", "168.63.129.16", "192.0.0.192"),
        # Many machines, none, or examples.
        *("224.0.0.1", "239.255.255.255", "ff02::1", "255.255.255.255", "240.0.0.1"),
        *("192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1"),
        # The newer kind around a private one of the older.
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "64:ff9b::7f00:1"),
        *("64:ff9b::169.254.169.254", "64:ff9b:1::1", "2002:7f00:1::", "2002:a00:1::1"),
        "2001:0:7f00:1:0:0:f5ff:fffe",
        # No address.
        *("", "localhost", "0x7f.1", "2130706433"),
    ],
)
def test_no_public_address(address: str) -> None:
    assert not is_public(address)
