"""One page over HTTP: from where, how much of it, how long, and what goes wrong."""

from __future__ import annotations

import gzip
import socket
import ssl
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from json_server import JsonServer, Reply, Request, serving

from rootle.errors import UnavailableError, WebPageError
from rootle.http import connection
from rootle.web.page_download import DownloadedPage, PageDownloader
from rootle.web.url import parse_page_url

_HTML = {"Content-Type": "text/html; charset=UTF-8"}
# Tries to read pages of this machine, whatever it is called, and says what came of it.
_READ_ALL = """\
import sys
from rootle.errors import WebPageError
from rootle.web.page_download import PageDownloader
from rootle.web.url import parse_page_url
for url in sys.argv[1:]:
    try:
        print(PageDownloader(timeout_s=10).fetch(parse_page_url(url)))
    except WebPageError as error:
        print(error)
"""


@pytest.fixture
def server() -> Iterator[JsonServer]:
    with serving(lambda request: Reply(raw=b"hello", headers=_HTML)) as running:
        yield running


def fetch(url: str, timeout_s: float = 20.0, **options: Any) -> DownloadedPage:
    fetcher = PageDownloader(
        timeout_s=timeout_s, **{"allows": lambda address: address == "127.0.0.1", **options}
    )
    return fetcher.fetch(parse_page_url(url))


def reply_with(server: JsonServer, reply: Reply, **options: Any) -> DownloadedPage:
    server.answer = lambda request: reply
    return fetch(f"{server.url}/page", **options)


def by_path(**replies: Reply) -> Callable[[Request], Reply]:
    return lambda request: replies[request.path.strip("/")]


def to(location: str, status: int = 302) -> Reply:
    return Reply(raw=b"", status=status, headers={"Location": location})


def test_a_page_comes_as_it_is(server: JsonServer) -> None:
    page = fetch(f"{server.url}/a b?x=é")
    assert page == DownloadedPage(
        f"{server.url}/a%20b?x=%C3%A9", "text/html", "UTF-8", b"hello", is_cut=False
    )
    sent = server.requests[0].headers
    assert sent["host"] == f"127.0.0.1:{server.port}"
    assert "rootle" in sent["user-agent"]
    assert not {"cookie", "authorization", "referer"} & set(sent)


def test_a_page_comes_over_tls(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with serving(lambda request: Reply(raw=b"hello"), context=context) as server:
        url = server.url.replace("http:", "https:")
        assert fetch(url).body == b"hello"
        monkeypatch.delenv("SSL_CERT_FILE")
        connection._tls.cache_clear()
        with pytest.raises(UnavailableError, match="certificate"):
            fetch(url)


def test_the_port_that_everybody_knows_is_not_said() -> None:
    for is_tls, port in ((True, 443), (False, 80)):
        asked = connection.Connection("e.com", port, is_tls=is_tls, clock=time.monotonic)
        asked.putrequest("GET", "/")
        assert b"Host: e.com" in asked._buffer  # type: ignore[attr-defined]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed(server: JsonServer, status: int) -> None:
    server.answer = by_path(
        a=to("b", status), b=to(f"{server.url}/c", status), c=Reply(raw=b"here", headers=_HTML)
    )
    page = fetch(f"{server.url}/a")
    assert (page.url, page.body) == (f"{server.url}/c", b"here")


def test_redirects_end(server: JsonServer) -> None:
    server.answer = lambda request: to(f"{request.path}x")
    with pytest.raises(WebPageError, match="more than 5 redirects"):
        fetch(f"{server.url}/x")
    assert len(server.requests) == 6


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "http://u:p@e.com/", "http://[", "gopher://e.com/"]
)
def test_a_redirect_leads_to_pages_alone(server: JsonServer, location: str) -> None:
    with pytest.raises(WebPageError):
        reply_with(server, to(location))


@pytest.mark.parametrize("host", ["127.0.0.2", "[::1]"])
def test_a_redirect_does_not_lead_to_what_is_forbidden(server: JsonServer, host: str) -> None:
    # The test's own guard raises where 127.0.0.2 is connected to.
    with serving(lambda request: Reply(raw=b"secret")) as inner:
        url = f"http://{host}:{inner.port}/latest/meta-data"
        with pytest.raises(WebPageError, match="is not on the public internet"):
            fetch_with_numbers(server, to(url))
        assert inner.connections == 0


def fetch_with_numbers(server: JsonServer, reply: Reply) -> DownloadedPage:
    """With a look-up that knows numbers alone, as the test's guard wants it."""
    real = socket.getaddrinfo

    def look_up(host: str, *rest: Any, **options: Any) -> Any:
        if host == "127.0.0.2":
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, rest[0]))]
        return real(host, *rest, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", look_up)
        return reply_with(server, reply)


def test_this_machine_is_not_read_whatever_it_is_called(server: JsonServer) -> None:
    names = [
        *("127.0.0.1", "localhost", "LOCALHOST", "127.1", "2130706433", "0x7f000001", "0"),
        *("0177.0.0.1", "0x7f.0.0.1", "017700000001", "0.0.0.0", "１２７.０.０.１", "127。0。0。1"),
        *("[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:0:0:1]"),
    ]
    urls = [f"http://{name}:{server.port}/" for name in names]
    # Without the guard against look-ups, which does not know these spellings.
    command = [sys.executable, "-I", "-c", _READ_ALL, *urls]
    child = subprocess.run(command, capture_output=True, text=True, check=True)
    said = child.stdout.splitlines()
    assert len(said) == len(urls)
    for name, line in zip(names, said, strict=True):
        assert "is not on the public internet" in line or "is no address" in line, (name, line)
    assert server.connections == 0


def test_a_name_is_looked_up_once_and_connected_to_where_it_was_then(
    server: JsonServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter(["127.0.0.1", "10.0.0.1"])

    def look_up(host: str, port: int, **options: Any) -> Any:
        assert host == "rebind.example"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), port))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    page = fetch(f"http://rebind.example:{server.port}/")
    assert page.body == b"hello"
    assert server.requests[0].headers["host"] == f"rebind.example:{server.port}"
    with pytest.raises(WebPageError, match=r"is at 10\.0\.0\.1, which is not on the public"):
        fetch(f"http://rebind.example:{server.port}/")


def test_a_name_with_one_private_address_is_not_read(
    server: JsonServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = [
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, server.port))
        for address in ("127.0.0.1", "192.168.0.1")
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **options: both)
    with pytest.raises(WebPageError, match=r"192\.168\.0\.1"):
        fetch(f"http://two.example:{server.port}/")
    assert server.connections == 0


def test_no_more_is_read_than_the_limit(server: JsonServer) -> None:
    page = reply_with(server, Reply(raw=b"x" * 300_000), max_bytes=100_000)
    assert (len(page.body), page.is_cut) == (100_000, True)
    page = reply_with(server, Reply(raw=b"x" * 100_000), max_bytes=100_000)
    assert (len(page.body), page.is_cut) == (100_000, False)


def test_a_packed_page_is_unpacked(server: JsonServer) -> None:
    packed = Reply(raw=gzip.compress(b"hello" * 1_000), headers={"Content-Encoding": "GZIP"})
    assert reply_with(server, packed).body == b"hello" * 1_000
    deflated = Reply(raw=zlib.compress(b"hello"), headers={"Content-Encoding": "deflate"})
    assert reply_with(server, deflated).body == b"hello"


def test_a_bomb_does_not_go_off(server: JsonServer) -> None:
    bomb = gzip.compress(b"\0" * 50_000_000)
    page = reply_with(
        server, Reply(raw=bomb, headers={"Content-Encoding": "gzip"}), max_bytes=1_000_000
    )
    assert (len(page.body), page.is_cut) == (1_000_000, True)


def test_packing_that_gives_nothing_ends_too(server: JsonServer) -> None:
    packer = zlib.compressobj(wbits=31)
    empty = b"".join(packer.flush(zlib.Z_SYNC_FLUSH) for _ in range(2))
    raw = empty[:10] + b"\x00\x00\x00\xff\xff" * 100_000  # blocks with nothing in them
    page = reply_with(
        server, Reply(raw=raw, headers={"Content-Encoding": "gzip"}), max_bytes=10_000
    )
    assert page.body == b""


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip"])
def test_packing_that_was_not_asked_for_is_said(server: JsonServer, coding: str) -> None:
    with pytest.raises(WebPageError, match=f"packed as {coding}"):
        reply_with(server, Reply(raw=b"x", headers={"Content-Encoding": coding}))


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply(raw=b"no gzip", headers={"Content-Encoding": "gzip"}), "cannot be read"),
        (Reply(raw=b"x" * 1_000, cut=True), "cannot be read: IncompleteRead"),
        (Reply(raw=b"x", status=500), "answered HTTP 500; try later"),
        (Reply(raw=b"x", status=429), "answered HTTP 429; try later"),
        (Reply(hang=True), r"did not come within 0\.3 s"),
        (Reply(raw=b"x" * 10_000, drip_s=0.02), r"did not come within 0\.3 s"),
    ],
)
def test_what_may_pass_is_said(server: JsonServer, reply: Reply, why: str) -> None:
    with pytest.raises(UnavailableError, match=why):
        reply_with(server, reply, timeout_s=0.3)


@pytest.mark.parametrize("status", [204, 304, 401, 403, 404, 410, 451])
def test_what_will_not_pass_is_said(server: JsonServer, status: int) -> None:
    if status == 204:
        assert reply_with(server, Reply(raw=b"", status=204)).body == b""
        return
    with pytest.raises(WebPageError, match=f"answered HTTP {status}"):
        reply_with(server, Reply(raw=b"", status=status))


def test_all_redirects_share_one_deadline(server: JsonServer) -> None:
    server.answer = lambda request: Reply(
        raw=b"x" * 20, status=302, headers={"Location": f"{request.path}x"}, drip_s=0.02
    )
    start = time.monotonic()
    with pytest.raises((UnavailableError, WebPageError)):
        fetch(f"{server.url}/x", timeout_s=0.3)
    assert time.monotonic() - start < 5


def test_a_server_that_is_not_there_is_said(server: JsonServer) -> None:
    server.close()
    with pytest.raises(UnavailableError, match=r"cannot be read: .*refused"):
        fetch(server.url)


def test_what_is_no_http_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(20)
        port = listening.getsockname()[1]
        asked = subprocess.Popen(
            [sys.executable, "-c", _ANSWER_GARBAGE.format(fd=listening.fileno())],
            pass_fds=[listening.fileno()],
        )
        with pytest.raises(UnavailableError, match="cannot be read"):
            fetch(f"http://127.0.0.1:{port}/")
        asked.wait(timeout=20)


_ANSWER_GARBAGE = """\
import socket
listening = socket.socket(fileno={fd})
connection, _ = listening.accept()
connection.recv(10_000)
connection.sendall(b"SSH-2.0-OpenSSH_9.2\\r\\n" * 10)
connection.close()
"""
