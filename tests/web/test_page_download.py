"""Downloads: redirects, public addresses, size limits, timeouts and failures."""

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
# Downloads each URL and prints the page or the error.
_DOWNLOAD_ALL = """\
import sys
from rootle.errors import WebPageError
from rootle.web.page_download import PageDownloader
from rootle.web.url import parse_page_url
for url in sys.argv[1:]:
    try:
        print(PageDownloader(timeout_s=10).download(parse_page_url(url)))
    except WebPageError as error:
        print(error)
"""


@pytest.fixture
def server() -> Iterator[JsonServer]:
    with serving(lambda request: Reply(raw=b"hello", headers=_HTML)) as running:
        yield running


def download(url: str, timeout_s: float = 20.0, **options: Any) -> DownloadedPage:
    downloader = PageDownloader(
        timeout_s=timeout_s, **{"is_allowed": lambda address: address == "127.0.0.1", **options}
    )
    return downloader.download(parse_page_url(url))


def download_reply(server: JsonServer, reply: Reply, **options: Any) -> DownloadedPage:
    server.answer = lambda request: reply
    return download(f"{server.url}/page", **options)


def answer_by_path(**replies: Reply) -> Callable[[Request], Reply]:
    return lambda request: replies[request.path.strip("/")]


def redirect_to(location: str, status: int = 302) -> Reply:
    return Reply(raw=b"", status=status, headers={"Location": location})


def test_a_page_is_downloaded(server: JsonServer) -> None:
    page = download(f"{server.url}/a b?x=é")
    assert page == DownloadedPage(
        f"{server.url}/a%20b?x=%C3%A9", "text/html", "UTF-8", b"hello", is_truncated=False
    )
    sent = server.requests[0].headers
    assert sent["host"] == f"127.0.0.1:{server.port}"
    assert "rootle" in sent["user-agent"]
    assert not {"cookie", "authorization", "referer"} & set(sent)


def test_a_page_is_downloaded_over_tls(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with serving(lambda request: Reply(raw=b"hello"), context=context) as server:
        url = server.url.replace("http:", "https:")
        assert download(url).body == b"hello"
        monkeypatch.delenv("SSL_CERT_FILE")
        connection._tls_context.cache_clear()
        with pytest.raises(UnavailableError, match="certificate"):
            download(url)


def test_the_default_port_is_not_in_the_host_header() -> None:
    for is_tls, port in ((True, 443), (False, 80)):
        opened = connection.Connection("e.com", port, is_tls=is_tls, clock=time.monotonic)
        opened.putrequest("GET", "/")
        assert b"Host: e.com" in opened._buffer  # type: ignore[attr-defined]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed(server: JsonServer, status: int) -> None:
    server.answer = answer_by_path(
        a=redirect_to("b", status),
        b=redirect_to(f"{server.url}/c", status),
        c=Reply(raw=b"here", headers=_HTML),
    )
    page = download(f"{server.url}/a")
    assert (page.url, page.body) == (f"{server.url}/c", b"here")


def test_the_number_of_redirects_is_limited(server: JsonServer) -> None:
    server.answer = lambda request: redirect_to(f"{request.path}x")
    with pytest.raises(WebPageError, match="more than 5 redirects"):
        download(f"{server.url}/x")
    assert len(server.requests) == 6


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "http://u:p@e.com/", "http://[", "gopher://e.com/"]
)
def test_a_redirect_to_another_scheme_is_rejected(server: JsonServer, location: str) -> None:
    with pytest.raises(WebPageError):
        download_reply(server, redirect_to(location))


@pytest.mark.parametrize("host", ["127.0.0.2", "[::1]"])
def test_a_redirect_to_a_private_address_is_rejected(server: JsonServer, host: str) -> None:
    # The network guard of the tests raises an error for a connection to 127.0.0.2.
    with serving(lambda request: Reply(raw=b"secret")) as inner:
        url = f"http://{host}:{inner.port}/latest/meta-data"
        with pytest.raises(WebPageError, match="is not on the public internet"):
            download_with_resolver(server, redirect_to(url))
        assert inner.connections == 0


def download_with_resolver(server: JsonServer, reply: Reply) -> DownloadedPage:
    """Download with a resolver that resolves 127.0.0.2, which the network guard does not allow."""
    real = socket.getaddrinfo

    def resolve(host: str, *rest: Any, **options: Any) -> Any:
        if host == "127.0.0.2":
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, rest[0]))]
        return real(host, *rest, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", resolve)
        return download_reply(server, reply)


def test_this_machine_is_rejected_in_any_notation(server: JsonServer) -> None:
    names = [
        *("127.0.0.1", "localhost", "LOCALHOST", "127.1", "2130706433", "0x7f000001", "0"),
        *("0177.0.0.1", "0x7f.0.0.1", "017700000001", "0.0.0.0", "１２７.０.０.１", "127。0。0。1"),
        *("[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:0:0:1]"),
    ]
    urls = [f"http://{name}:{server.port}/" for name in names]
    # The network guard of the tests does not support these notations, so a child process runs this.
    command = [sys.executable, "-I", "-c", _DOWNLOAD_ALL, *urls]
    child = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = child.stdout.splitlines()
    assert len(lines) == len(urls)
    for name, line in zip(names, lines, strict=True):
        assert "is not on the public internet" in line or "is not a valid URL" in line, (name, line)
    assert server.connections == 0


def test_a_name_is_resolved_once_per_download(
    server: JsonServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter(["127.0.0.1", "10.0.0.1"])

    def resolve(host: str, port: int, **options: Any) -> Any:
        assert host == "rebind.example"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    page = download(f"http://rebind.example:{server.port}/")
    assert page.body == b"hello"
    assert server.requests[0].headers["host"] == f"rebind.example:{server.port}"
    with pytest.raises(WebPageError, match=r"is at 10\.0\.0\.1, which is not on the public"):
        download(f"http://rebind.example:{server.port}/")


def test_a_name_with_one_private_address_is_rejected(
    server: JsonServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = [
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, server.port))
        for address in ("127.0.0.1", "192.168.0.1")
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **options: both)
    with pytest.raises(WebPageError, match=r"192\.168\.0\.1"):
        download(f"http://two.example:{server.port}/")
    assert server.connections == 0


def test_a_large_page_is_truncated(server: JsonServer) -> None:
    page = download_reply(server, Reply(raw=b"x" * 300_000), max_bytes=100_000)
    assert (len(page.body), page.is_truncated) == (100_000, True)
    page = download_reply(server, Reply(raw=b"x" * 100_000), max_bytes=100_000)
    assert (len(page.body), page.is_truncated) == (100_000, False)


def test_a_compressed_page_is_decompressed(server: JsonServer) -> None:
    compressed = Reply(raw=gzip.compress(b"hello" * 1_000), headers={"Content-Encoding": "GZIP"})
    assert download_reply(server, compressed).body == b"hello" * 1_000
    deflated = Reply(raw=zlib.compress(b"hello"), headers={"Content-Encoding": "deflate"})
    assert download_reply(server, deflated).body == b"hello"


@pytest.mark.slow
def test_a_decompression_bomb_is_truncated(server: JsonServer) -> None:
    bomb = gzip.compress(b"\0" * 50_000_000)
    page = download_reply(
        server, Reply(raw=bomb, headers={"Content-Encoding": "gzip"}), max_bytes=1_000_000
    )
    assert (len(page.body), page.is_truncated) == (1_000_000, True)


def test_endless_empty_compressed_blocks_are_truncated(server: JsonServer) -> None:
    compressor = zlib.compressobj(wbits=31)
    empty = b"".join(compressor.flush(zlib.Z_SYNC_FLUSH) for _ in range(2))
    raw = empty[:10] + b"\x00\x00\x00\xff\xff" * 100_000  # empty blocks
    page = download_reply(
        server, Reply(raw=raw, headers={"Content-Encoding": "gzip"}), max_bytes=10_000
    )
    assert page.body == b""


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip"])
def test_an_unsupported_encoding_is_an_error(server: JsonServer, encoding: str) -> None:
    with pytest.raises(WebPageError, match=f"has the encoding {encoding}"):
        download_reply(server, Reply(raw=b"x", headers={"Content-Encoding": encoding}))


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(raw=b"no gzip", headers={"Content-Encoding": "gzip"}), "cannot be read"),
        (Reply(raw=b"x" * 1_000, cut=True), "cannot be read: IncompleteRead"),
        (Reply(raw=b"x", status=500), "answered HTTP 500; try later"),
        (Reply(raw=b"x", status=429), "answered HTTP 429; try later"),
        (Reply(hang=True), r"did not answer within 0\.3 s"),
        (Reply(raw=b"x" * 10_000, drip_s=0.02), r"did not answer within 0\.3 s"),
    ],
)
def test_a_temporary_failure_is_reported_as_unavailable(
    server: JsonServer, reply: Reply, reason: str
) -> None:
    with pytest.raises(UnavailableError, match=reason):
        download_reply(server, reply, timeout_s=0.3)


@pytest.mark.parametrize("status", [204, 304, 401, 403, 404, 410, 451])
def test_a_permanent_failure_is_an_error(server: JsonServer, status: int) -> None:
    if status == 204:
        assert download_reply(server, Reply(raw=b"", status=204)).body == b""
        return
    with pytest.raises(WebPageError, match=f"answered HTTP {status}"):
        download_reply(server, Reply(raw=b"", status=status))


def test_all_redirects_share_one_deadline(server: JsonServer) -> None:
    server.answer = lambda request: Reply(
        raw=b"x" * 20, status=302, headers={"Location": f"{request.path}x"}, drip_s=0.02
    )
    start = time.monotonic()
    with pytest.raises((UnavailableError, WebPageError)):
        download(f"{server.url}/x", timeout_s=0.3)
    assert time.monotonic() - start < 5


def test_an_unreachable_server_is_reported_as_unavailable(server: JsonServer) -> None:
    server.close()
    with pytest.raises(UnavailableError, match=r"cannot be read: .*refused"):
        download(server.url)


def test_an_answer_that_is_not_http_is_reported_as_unavailable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(20)
        port = listening.getsockname()[1]
        server = subprocess.Popen(
            [sys.executable, "-c", _ANSWER_GARBAGE.format(fd=listening.fileno())],
            pass_fds=[listening.fileno()],
        )
        with pytest.raises(UnavailableError, match="cannot be read"):
            download(f"http://127.0.0.1:{port}/")
        server.wait(timeout=20)


_ANSWER_GARBAGE = """\
import socket
listening = socket.socket(fileno={fd})
connection, _ = listening.accept()
connection.recv(10_000)
connection.sendall(b"SSH-2.0-OpenSSH_9.2\\r\\n" * 10)
connection.close()
"""
