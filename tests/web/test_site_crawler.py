"""Sites are read within their robots.txt, their folder, and the limits of depth and pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from forked_children import fork_children
from json_server import JsonServer, Reply, Request, serving

from rootle.errors import UnavailableError, WebPageError
from rootle.web.page_download import PageDownloader
from rootle.web.site.crawler import MAX_SECONDS, SiteCrawler, SiteLimits, SitePage
from rootle.web.site.links import forbids
from rootle.web.site.omissions import MAX_FAILED_REQUESTS
from rootle.web.site.robots import matches, parse_robots
from rootle.web.site.sitemap import parse_sitemap
from rootle.web.url import parse_page_url

_HTML = {"Content-Type": "text/html"}


@pytest.fixture(autouse=True)
def _forked_children(monkeypatch: pytest.MonkeyPatch) -> None:
    fork_children(monkeypatch)


def page(title: str, *links: str, head: str = "") -> Reply:
    anchors = "".join(f'<p><a href="{link}">{link}</a></p>' for link in links)
    body = f"<html><head><title>{title}</title>{head}</head><body><main><h1>{title}</h1>"
    text = f"{body}<p>All about {title}, at some length.</p>{anchors}</main></body></html>"
    return Reply(raw=text.encode(), headers=_HTML)


def text(content: str, media_type: str = "text/plain") -> Reply:
    return Reply(raw=content.encode(), headers={"Content-Type": media_type})


class Site:
    """A site whose pages a test sets by path."""

    def __init__(self, server: JsonServer) -> None:
        self.server = server
        self.pages: dict[str, Reply] = {}
        server.answer = self._answer

    def _answer(self, request: Request) -> Reply:
        return self.pages.get(request.path, Reply(status=404, raw=b"gone", headers=_HTML))

    def crawl(self, start: str = "/docs/", *, depth: int = 3, max_pages: int = 50) -> SiteCrawler:
        """Read the site, and return the crawler. `found` and `paths` then describe the pages."""
        downloads = PageDownloader(timeout_s=20.0, is_allowed=lambda address: True)
        limits = SiteLimits(depth, max_pages)
        crawler = SiteCrawler(downloads, limits, self.waits.append, lambda: sum(self.waits))
        self.found = list(crawler.crawl(parse_page_url(f"{self.server.url}{start}")))
        return crawler

    found: list[SitePage]
    waits: list[float]

    @property
    def paths(self) -> list[str]:
        return [one.path for one in self.found]

    @property
    def requested(self) -> list[str]:
        return [request.path for request in self.server.requests]


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(lambda request: Reply(status=404)) as server:
        site = Site(server)
        site.waits = []
        yield site


@pytest.mark.slow
def test_linked_pages_below_the_first_one_are_read(site: Site) -> None:
    site.pages = {
        "/docs/": page(
            "Start", "a.html#part", "sub/b.html", "/blog/", "mailto:x@y.z", "https://a.b/"
        ),
        "/docs/a.html": page("A", "./", "a.html?"),
        "/docs/sub/b.html": page("B", "../../docs/a.html", "/docs/../private.html"),
    }
    crawler = site.crawl()
    assert site.paths == ["index", "a.html", "sub/b.html"]
    assert site.found[1].text.startswith("# A")
    assert site.found[1].url == f"{site.server.url}/docs/a.html"
    assert "/blog/" not in site.requested
    assert "/private.html" not in site.requested
    assert crawler.omissions.describe() == ""


@pytest.mark.slow
def test_robots_txt_is_obeyed(site: Site) -> None:
    robots = (
        "User-agent: *\nDisallow: /\n\nUser-agent: rootle\nDisallow: /docs/private\n"
        "Allow: /docs/private/open.html\nCrawl-delay: 2\n"
    )
    site.pages = {
        "/robots.txt": text(robots),
        "/docs/": page("Start", "private/x.html", "private/open.html"),
        "/docs/private/x.html": page("X"),
        "/docs/private/open.html": page("Open"),
    }
    site.crawl()
    assert site.paths == ["index", "private/open.html"]
    assert "/docs/private/x.html" not in site.requested
    assert set(site.waits) == {2.0}


def test_a_site_that_forbids_the_first_page_is_not_read(site: Site) -> None:
    site.pages = {"/robots.txt": text("User-agent: *\nDisallow: /docs"), "/docs/": page("Start")}
    with pytest.raises(WebPageError, match=r"robots\.txt of the site forbids"):
        site.crawl()
    assert site.requested == ["/robots.txt"]


def test_a_site_whose_rules_cannot_be_read_is_not_read(site: Site) -> None:
    site.pages = {"/robots.txt": Reply(status=503), "/docs/": page("Start")}
    with pytest.raises(WebPageError, match="forbids"):
        site.crawl()


@pytest.mark.slow
def test_the_sitemap_leads_to_pages_without_links(site: Site) -> None:
    base = site.server.url
    index = f"<sitemapindex><sitemap><loc>{base}/map2.xml</loc></sitemap></sitemapindex>"
    urls = "".join(
        f"<url><loc>{url}</loc></url>"
        for url in (f"{base}/docs/deep/c.html", f"{base}/blog/", "https://other.example/docs/")
    )
    site.pages = {
        "/robots.txt": text(f"Sitemap: {base}/map.xml"),
        "/map.xml": text(index, "application/xml"),
        "/map2.xml": text(f"<urlset xmlns='http://www.sitemaps.org/x'>{urls}</urlset>"),
        "/docs/": page("Start"),
        "/docs/deep/c.html": page("C"),
    }
    site.crawl()
    assert site.paths == ["index", "deep/c.html"]


@pytest.mark.slow
def test_depth_and_number_of_pages_are_limited(site: Site) -> None:
    site.pages = {f"/docs/{at}": page(f"Page {at}", f"{at + 1}") for at in range(1, 30)}
    crawler = site.crawl("/docs/1", depth=2)
    assert site.paths == ["1", "2", "3"]
    crawler = site.crawl("/docs/1", depth=20, max_pages=4)
    assert len(site.found) == 4
    assert "1 more page is beyond the limits" in crawler.omissions.describe()
    site.crawl("/docs/1", depth=0)
    assert site.paths == ["1"]


@pytest.mark.slow
def test_a_site_with_endless_pages_ends_at_the_limit(site: Site) -> None:
    def answer(request: Request) -> Reply:
        if not request.path.startswith("/docs"):
            return Reply(status=404)
        number = len(request.path)
        return page(f"Number {number}", f"{request.path}x", f"{request.path}?day={number}")

    site.server.answer = answer
    crawler = site.crawl("/docs/", depth=20, max_pages=12)
    assert len(site.found) == 12
    assert crawler.omissions.beyond_limits


@pytest.mark.slow
def test_a_site_with_endless_equal_pages_ends(site: Site) -> None:
    links = [f"?day={day}" for day in range(500)]
    site.pages = {"/docs/": page("Start", *links)}
    site.pages |= {f"/docs/{link}": page("Same") for link in links}
    crawler = site.crawl(max_pages=5)
    assert site.paths == ["index", "?day=0"]
    assert len(site.requested) < 20
    assert "more pages are beyond the limits" in crawler.omissions.describe()


@pytest.mark.slow
def test_a_sitemap_that_lists_itself_and_many_pages_of_other_hosts_ends(site: Site) -> None:
    address = f"{site.server.url}/sitemap.xml"
    index = f"<sitemapindex>{f'<sitemap><loc>{address}</loc></sitemap>' * 40}</sitemapindex>"
    urls = [f"https://other.example/docs/{at}" for at in range(60_000)]
    site.pages = {
        "/robots.txt": text(
            f"Sitemap: {address}\nSitemap: {site.server.url}/urls.txt\n"
            "User-agent: *\nCrawl-delay: 3\n"
        ),
        "/sitemap.xml": text(index, "application/xml"),
        "/urls.txt": text("\n".join([*urls, f"{site.server.url}/docs/b.html"])),
        "/docs/": page("Start"),
        "/docs/b.html": page("B"),
    }
    site.crawl()
    assert site.requested == ["/robots.txt", "/docs/", "/sitemap.xml", "/urls.txt"]
    assert site.waits == [3.0, 3.0]


@pytest.mark.slow
def test_pages_with_the_same_text_are_stored_once(site: Site) -> None:
    site.pages = {"/docs/": page("Start", "?a=1", "?a=2")}
    site.pages |= {f"/docs/?a={at}": page("Same") for at in (1, 2)}
    site.crawl()
    assert site.paths == ["index", "?a=1"]


@pytest.mark.slow
def test_missing_pages_are_reported_and_the_others_read(site: Site) -> None:
    site.pages = {"/docs/": page("Start", "gone.html", "b.html"), "/docs/b.html": page("B")}
    crawler = site.crawl()
    assert site.paths == ["index", "b.html"]
    assert "1 page could not be read: " in crawler.omissions.describe()
    assert "HTTP 404" in crawler.omissions.describe()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["archives", "missing pages"])
def test_a_page_after_many_links_that_lead_to_no_text_is_read(site: Site, kind: str) -> None:
    links = [f"{at}.zip" for at in range(25)]
    site.pages = {"/docs/": page("Start", *links, "b.html"), "/docs/b.html": page("B")}
    if kind == "archives":
        site.pages |= {f"/docs/{link}": text("PK", "application/zip") for link in links}
    crawler = site.crawl()
    assert site.paths == ["index", "b.html"]
    assert crawler.omissions.describe().startswith("25 pages could not be read, the first: ")
    assert crawler.omissions.describe_silence() == ""


@pytest.mark.slow
def test_a_site_that_stops_answering_is_given_up(site: Site) -> None:
    links = [f"{at}.html" for at in range(MAX_FAILED_REQUESTS + 3)]
    site.pages = {"/docs/": page("Start", *links)}
    site.pages |= {f"/docs/{link}": Reply(status=503) for link in links}
    crawler = site.crawl()
    assert site.paths == ["index"]
    assert sum(path.endswith(".html") for path in site.requested) == MAX_FAILED_REQUESTS
    assert "20 failed requests in a row" in crawler.omissions.describe_silence()
    assert crawler.omissions.describe().startswith(
        "3 more pages were not requested; 20 pages could not be read, the first: "
    )


@pytest.mark.slow
def test_a_page_that_is_too_long_is_read_in_part(site: Site) -> None:
    site.pages = {"/docs/": page("Start", "long.txt"), "/docs/long.txt": text("word " * 500_000)}
    crawler = site.crawl()
    assert site.paths == ["index", "long.txt"]
    assert crawler.omissions.describe() == "1 page is too long, and only its beginning was read"


def test_a_missing_first_page_is_an_error(site: Site) -> None:
    with pytest.raises(WebPageError, match="HTTP 404"):
        site.crawl()


@pytest.mark.slow
def test_redirects_stay_on_the_site(site: Site) -> None:
    site.pages = {
        "/docs/": page("Start", "old.html", "away.html", "b.html"),
        "/docs/old.html": Reply(status=301, headers={"Location": "/docs/b.html"}),
        "/docs/away.html": Reply(status=302, headers={"Location": "/blog/away.html"}),
        "/docs/b.html": page("B"),
        "/blog/away.html": page("Away"),
    }
    site.crawl()
    assert site.paths == ["index", "b.html"]
    assert "/blog/away.html" not in site.requested


@pytest.mark.slow
def test_robots_txt_is_obeyed_before_the_target_of_a_redirect_is_requested(site: Site) -> None:
    site.pages = {
        "/robots.txt": text("User-agent: *\nDisallow: /docs/private\n"),
        "/docs/": page("Start", "moved.html", "b.html"),
        "/docs/moved.html": Reply(status=302, headers={"Location": "/docs/private/x.html"}),
        "/docs/private/x.html": page("X"),
        "/docs/b.html": page("B"),
    }
    site.crawl()
    assert site.paths == ["index", "b.html"]
    with pytest.raises(WebPageError, match=r"robots\.txt of the site forbids"):
        site.crawl("/docs/moved.html")
    assert "/docs/private/x.html" not in site.requested


def test_the_rules_of_another_site_are_read_before_its_page(site: Site) -> None:
    with serving(lambda request: Reply(status=404)) as server:
        other = Site(server)
        other.pages = {"/robots.txt": text("User-agent: *\nDisallow: /"), "/docs/": page("Other")}
        site.pages = {"/docs/": Reply(status=302, headers={"Location": f"{server.url}/docs/"})}
        with pytest.raises(WebPageError, match=r"robots\.txt of the site forbids"):
            site.crawl()
        assert other.requested == ["/robots.txt"]


@pytest.mark.slow
def test_a_redirect_of_the_first_page_moves_the_folder(site: Site) -> None:
    site.pages = {
        "/docs/": Reply(status=301, headers={"Location": "/en/docs/"}),
        "/en/docs/": page("Start", "a.html", "/docs/other.html"),
        "/en/docs/a.html": page("A"),
        "/docs/other.html": page("Other"),
    }
    site.crawl()
    assert site.paths == ["index", "a.html"]


@pytest.mark.slow
def test_links_are_relative_to_the_declared_base(site: Site) -> None:
    old = '<!--[if IE]><base href="/elsewhere/"><![endif]-->'
    site.pages = {
        "/docs/": page("Start", "a.html", head=f"{old}<base target=_top href='/docs/v1/'>"),
        "/docs/v1/a.html": page("A", "b.html", head='<base href="https://[broken/">'),
        "/docs/v1/b.html": page("B"),
    }
    site.crawl()
    assert site.paths == ["index", "v1/a.html", "v1/b.html"]


@pytest.mark.slow
def test_links_are_decoded_with_the_charset_of_their_page(site: Site) -> None:
    raw = '<meta charset="shift_jis"><p>Start</p><a href="日本.html">日本</a>'.encode("cp932")
    target = "/docs/%E6%97%A5%E6%9C%AC.html"
    site.pages = {"/docs/": Reply(raw=raw, headers=_HTML), target: page("Japan")}
    site.crawl()
    assert len(site.paths) == 2


@pytest.mark.parametrize(
    ("content", "is_forbidden"),
    [
        ('"none, noarchive"', True),
        ("'none'", True),
        ("noindex", True),
        ('"max-snippet:-1, NOINDEX"', True),
        ('"noarchive noindex"', True),
        ('"index, max-image-preview: none"', False),
        ('"max-image-preview:none"', False),
        ('"noindexing"', False),
        ('""', False),
    ],
)
def test_a_page_forbids_indexing_in_any_notation(content: str, *, is_forbidden: bool) -> None:
    assert forbids(f'<meta name="robots" content={content}>', "noindex") == is_forbidden
    assert forbids(f"<META content={content} NAME=robots />", "noindex") == is_forbidden


@pytest.mark.slow
def test_pages_can_forbid_indexing_and_following(site: Site) -> None:
    site.pages = {
        "/docs/": page("Start", "hidden.html", "end.html"),
        "/docs/hidden.html": page(
            "Hidden", "c.html", head='<meta name="robots" content="noindex">'
        ),
        "/docs/end.html": page("End", "d.html", head='<meta content="nofollow" name="robots">'),
        "/docs/c.html": page("C"),
        "/docs/d.html": page("D"),
    }
    site.crawl()
    assert site.paths == ["index", "end.html", "c.html"]


def test_llms_txt_leads_to_its_pages(site: Site) -> None:
    site.pages = {
        "/docs/llms.txt": text("# Lib\n\n- [Guide](guide.md): all\n- [X](https://x.example/y)\n"),
        "/docs/guide.md": text("# Guide\n\nStart here.\n", "text/markdown"),
    }
    site.crawl("/docs/llms.txt", depth=1)
    assert site.paths == ["llms.txt", "guide.md"]


def test_private_addresses_are_refused() -> None:
    crawler = SiteCrawler(PageDownloader(timeout_s=5.0), SiteLimits())
    with pytest.raises((WebPageError, UnavailableError), match="not on the public internet"):
        list(crawler.crawl(parse_page_url("http://127.0.0.1:9/docs/")))


@pytest.mark.parametrize(
    ("pattern", "path", "is_match"),
    [
        ("/a", "/abc", True),
        ("/a$", "/abc", False),
        ("/a$", "/a", True),
        ("/*.pdf$", "/x/y.pdf", True),
        ("/*.pdf$", "/x/y.pdf?z", False),
        ("/a*b*c", "/a1b2c3", True),
        ("/a*b*c", "/a1c2b3", False),
        ("*", "/", True),
        ("/" + "*a" * 500 + "$", "/" + "a" * 499 + "b", False),
    ],
)
def test_patterns_of_robots_txt(pattern: str, path: str, *, is_match: bool) -> None:
    assert matches(pattern, path) == is_match


def test_the_longest_rule_of_the_named_group_decides() -> None:
    rules = parse_robots(
        b"User-agent: other\nDisallow: /\nUser-agent: a\nUser-agent: *\nDisallow: /x\n"
        b"Allow: /x/y\nDisallow:\nnonsense\nCrawl-delay: nan\n"
    )
    assert rules.allows("/")
    assert not rules.allows("/x/a")
    assert rules.allows("/x/%79")
    assert rules.delay_s == 0


@pytest.mark.parametrize("agent", ["rootle", "Rootle/1.0", "rootle 2 (+https://example.org)"])
def test_a_group_names_rootle_with_or_without_a_version(agent: str) -> None:
    rules = parse_robots(
        f"User-agent: {agent}\nDisallow: /x\n\nUser-agent: *\nDisallow:\n".encode()
    )
    assert not rules.allows("/x")
    other = parse_robots(b"User-agent: rootle-bot\nDisallow: /x\n")
    assert other.allows("/x")


@pytest.mark.slow
def test_a_long_delay_is_kept_until_the_time_is_over(site: Site) -> None:
    links = [f"{at}.html" for at in range(200)]
    site.pages = {"/docs/": page("Start", *links)}
    site.pages |= {f"/docs/{link}": page(link) for link in links}
    site.pages["/robots.txt"] = text("User-agent: *\nCrawl-delay: 400\n")
    crawler = site.crawl(max_pages=200)
    assert set(site.waits) == {400.0}
    assert sum(site.waits) <= MAX_SECONDS
    assert len(site.found) == 9  # one of the waits preceded the request for the sitemap
    assert crawler.omissions.beyond_limits == 192


def test_robots_txt_may_name_any_number_of_other_crawlers() -> None:
    others = "".join(f"User-agent: bot{at}\n" for at in range(20_000))
    own = "Disallow: /x\n" * 3_000
    rules = parse_robots(f"{others}User-agent: rootle\n{own}".encode())
    assert not rules.allows("/x")
    assert rules.allows("/y")


def test_a_sitemap_with_entities_is_ignored() -> None:
    bomb = b'<!DOCTYPE u [<!ENTITY a "aaaa">]><urlset><url><loc>http://a/&a;</loc></url></urlset>'
    assert parse_sitemap(bomb).pages == ()


def test_a_robots_file_with_many_crawlers_takes_linear_time() -> None:
    others = "".join(f"User-agent: crawler{number}\n" for number in range(15_000))
    text = f"{others}User-agent: *\n" + "Disallow: /private\n" * 5_000
    rules = parse_robots(text.encode())
    assert not rules.allows("/private/a")
    assert rules.allows("/public")
