"""Query expansion: an LLM server adds words to questions, and searches work without it."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from collector import collecting
from command import rootle
from json_server import JsonServer, Reply, Request, completion, serving
from polling import wait_until
from sample import MakeApp, indexed_repository, many_files

from rootle.app import App
from rootle.errors import StaleCursorError
from rootle.storage.paths import search_log_path
from rootle.types import SearchQuery, SearchResponse

# No file contains these words; the server knows the words of src/store/cache.py.
QUESTION = "which of them is sent home before the others"
WORDS = "evict the oldest entry, evict_oldest, LruCache"
TARGET = "src/store/cache.py"
KEY = "sk-very-secret-0123456789"


@pytest.fixture
def server() -> Iterator[JsonServer]:
    with serving(lambda request: completion(WORDS)) as running:
        yield running


@pytest.fixture
def app(make_app: MakeApp, server: JsonServer) -> App:
    """Return an app whose folder and index must not be changed."""
    root, index_dir = indexed_repository()
    return make_app(root, index_dir=index_dir, expand_endpoint=server.url)


@pytest.fixture
def plain(make_app: MakeApp) -> App:
    """Return an app that asks no server."""
    root, index_dir = indexed_repository()
    return make_app(root, index_dir=index_dir)


def sent(server: JsonServer) -> list[str]:
    """Return the questions that the server received."""
    texts = [request.body["messages"][-1]["content"] for request in server.requests]
    return [text.removeprefix("Question: ").removesuffix("\nQuery:") for text in texts]


def paths_of(response: SearchResponse) -> list[str]:
    return [result.file_path for result in response.results]


def test_the_words_of_the_server_find_what_the_question_does_not(
    app: App, plain: App, server: JsonServer
) -> None:
    assert paths_of(plain.search(QUESTION))[:1] != [TARGET]
    response = app.search(QUESTION, explain=True)
    assert paths_of(response)[0] == TARGET
    assert response.degraded == ()
    assert sent(server) == [QUESTION]
    assert response.interpretation is not None
    assert response.interpretation.expansion == WORDS
    unexplained = plain.search(QUESTION, explain=True).interpretation
    assert unexplained is not None
    assert unexplained.expansion == ""


def test_a_query_can_decline_the_expansion(app: App, plain: App, server: JsonServer) -> None:
    query = SearchQuery(QUESTION, expand=False)
    assert app.search(query).results == plain.search(QUESTION).results
    assert server.requests == []
    # The cache distinguishes the answers with and without expansion.
    assert paths_of(app.search(QUESTION))[0] == TARGET
    assert app.search(query).results == plain.search(QUESTION).results


@pytest.mark.parametrize(
    "text",
    [
        "LruCache",
        "LruCache.evict_oldest()",
        "src/store/cache.py",
        '"the entry that was not used"',
        'where is "evict_oldest" called',
        "/evict_\\w+/",
        "regex:evict_\\w+ lang:python",
        "lang:python evict_oldest",
        "where is the cache " + "very " * 300 + "slow",
    ],
)
def test_names_phrases_patterns_and_pasted_files_are_not_sent(
    text: str, app: App, plain: App, server: JsonServer
) -> None:
    response = app.search(text)
    assert server.requests == []
    assert response.degraded == ()
    assert response.results == plain.search(text).results


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("which entry goes first lang:go", "which entry goes first"),
        ("path:docs which entry goes first", "which entry goes first"),
        ("entry removal order -cache", "entry removal order"),
        ('ValueError: "x" is invalid in line 3', 'ValueError: "x" is invalid in line 3'),
        ("最も古い項目を削除する処理はどこ", "最も古い項目を削除する処理はどこ"),
    ],
)
def test_filters_are_kept_and_not_sent(
    text: str, words: str, app: App, plain: App, server: JsonServer
) -> None:
    response = app.search(text, explain=True)
    assert sent(server) == [words]
    assert response.interpretation is not None
    other = plain.search(text, explain=True).interpretation
    assert other is not None
    # The words of the server replace the related words.
    assert response.interpretation.related == ()
    assert replace(response.interpretation, expansion="") == replace(other, related=())
    assert set(paths_of(response)) <= set(paths_of(plain.search(SearchQuery(text, limit=50))))


@pytest.mark.parametrize(
    "answer",
    [
        'lang:swift path:nowhere "no such phrase" -retry_backoff',
        "regex:^nothing$",
        "/nothing/",
        "cursor lang:cobol",
    ],
)
def test_operators_of_an_answer_filter_nothing(
    answer: str, app: App, plain: App, server: JsonServer
) -> None:
    server.answer = lambda request: completion(answer)
    query = SearchQuery("how long to wait before the next attempt", limit=50)
    response = app.search(query, explain=True)
    assert set(paths_of(response)) >= set(paths_of(plain.search(query)))
    assert response.interpretation is not None
    shown = response.interpretation
    assert (shown.phrases, shown.regex, shown.excluded, shown.paths, shown.languages) == (
        (), None, (), (), ()
    )  # fmt: skip


def test_secrets_are_masked_before_a_question_is_sent(app: App, server: JsonServer) -> None:
    secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    app.search(f"where is the token {secret} checked for its age")
    (text,) = sent(server)
    assert secret not in text
    assert "checked for its age" in text
    app.search(f"token={secret}")
    assert len(server.requests) == 1


FAULTS = {
    "401": Reply({"error": f"no {KEY}"}, status=401),
    "429": Reply({}, status=429, headers={"Retry-After": "30"}),
    "500": Reply({}, status=500),
    "invalid": Reply(raw=b"<html>"),
    "empty": Reply({"choices": [{"message": {"content": ""}}]}),
    "huge": Reply({"choices": [{"message": {"content": "evict " * 100_000}}]}),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failure_leaves_the_question_as_typed(
    fault: str, app: App, plain: App, server: JsonServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.answer = lambda request: FAULTS[fault]
    response = app.search(QUESTION)
    expected = plain.search(QUESTION)
    assert response.degraded == ("expansion",)
    assert response.results == expected.results
    assert response.confident == expected.confident
    assert "expansion: " in caplog.text
    # A failure is not cached.
    server.answer = lambda request: completion(WORDS)
    assert paths_of(app.search(QUESTION))[0] == TARGET


@pytest.mark.parametrize("reply", [Reply(hang=True), Reply(raw=b" " * 10_000, drip_s=0.01)])
def test_a_late_answer_leaves_the_question_as_typed(
    reply: Reply, make_app: MakeApp, plain: App, server: JsonServer
) -> None:
    server.answer = lambda request: reply
    app = make_app(
        plain.root, index_dir=plain.index_dir, expand_endpoint=server.url, expand_timeout_ms=100
    )
    response = app.search(QUESTION)
    assert response.degraded == ("expansion",)
    assert response.results == plain.search(QUESTION).results


def test_a_server_that_fails_repeatedly_is_skipped(app: App, server: JsonServer) -> None:
    server.answer = lambda request: Reply({}, status=500)
    for number in range(6):
        response = app.search(f"{QUESTION} {number}")
        assert response.degraded == ("expansion",)
    assert len(server.requests) == 3


def test_a_server_that_is_down_is_reported(make_app: MakeApp, plain: App) -> None:
    with serving(lambda request: completion(WORDS)) as gone:
        pass
    app = make_app(plain.root, index_dir=plain.index_dir, expand_endpoint=gone.url)
    assert app.search(QUESTION).degraded == ("expansion",)


def test_an_equal_question_is_sent_once(make_app: MakeApp, server: JsonServer) -> None:
    root, index_dir = indexed_repository()
    settings: dict[str, Any] = {"expand_endpoint": server.url, "enable_cache": False}
    app = make_app(root, index_dir=index_dir, **settings)
    first = app.search(QUESTION)
    server.answer = lambda request: completion("follow redirects")
    again = app.search(QUESTION)
    assert again.results == first.results
    app.search(f"{QUESTION} lang:python")
    assert len(server.requests) == 1
    app.search(f"{QUESTION} now")
    assert len(server.requests) == 2


@pytest.mark.slow
@pytest.mark.parametrize("cache", [{}, {"enable_cache": False}, {"cache_on_disk": True}])
def test_later_pages_continue_the_ranking_in_any_process_without_the_server(
    cache: dict[str, Any], make_app: MakeApp, server: JsonServer
) -> None:
    root, index_dir = indexed_repository(many_files(20, functions=4))
    settings = {"expand_endpoint": server.url, **cache}
    server.answer = lambda request: completion("rotate the cipher of the snapshot, ledger worker")
    query = SearchQuery("which thing keeps everything in order", limit=4)

    def open_like_a_new_process() -> App:
        return make_app(root, index_dir=index_dir, **settings)

    whole = paths_of(open_like_a_new_process().search(replace(query, limit=12)))
    app = open_like_a_new_process()
    first = app.search(query)
    asked = len(server.requests)
    server.answer = lambda request: completion("socket")
    for later in (app, open_like_a_new_process()):
        second = later.search(replace(query, cursor=first.next_cursor))
        third = later.search(replace(query, cursor=second.next_cursor))
        assert paths_of(first) + paths_of(second) + paths_of(third) == whole
        assert (second.degraded, third.degraded) == ((), ())
    assert len(server.requests) == asked


@pytest.mark.parametrize("tail", [b"other words", b"\xff\xfe"])
def test_a_cursor_with_other_words_is_refused(
    tail: bytes, make_app: MakeApp, server: JsonServer
) -> None:
    root, index_dir = indexed_repository(many_files(20, functions=4))
    app = make_app(root, index_dir=index_dir, expand_endpoint=server.url)
    query = SearchQuery("which thing keeps the ledger in order", limit=4)
    cursor = app.search(query).next_cursor
    assert cursor is not None
    raw = base64.urlsafe_b64decode(cursor).removesuffix(WORDS.encode()) + tail
    with pytest.raises(StaleCursorError):
        app.search(replace(query, cursor=base64.urlsafe_b64encode(raw).decode()))


def test_pages_after_a_failure_continue_the_plain_ranking(
    make_app: MakeApp, server: JsonServer
) -> None:
    root, index_dir = indexed_repository(many_files(20, functions=4))
    query = SearchQuery("which thing keeps the ledger in order", limit=4)
    whole = paths_of(make_app(root, index_dir=index_dir).search(replace(query, limit=8)))
    app = make_app(root, index_dir=index_dir, expand_endpoint=server.url)
    server.answer = lambda request: Reply({}, status=500)
    first = app.search(query)
    server.answer = lambda request: completion("rotate the cipher")
    second = app.search(replace(query, cursor=first.next_cursor))
    assert paths_of(first) + paths_of(second) == whole
    assert second.degraded == ("expansion",)
    # The answer without the expansion is not cached as the answer to this question.
    assert app.search(query).degraded == ()


@pytest.mark.slow
def test_other_searches_do_not_wait_for_the_server(app: App, server: JsonServer) -> None:
    released = threading.Event()

    def wait(request: Request) -> Reply:
        released.wait(60)
        return completion(WORDS)

    server.answer = wait
    threads = [
        threading.Thread(target=app.search, args=(f"{QUESTION} {number}",)) for number in range(12)
    ]
    for thread in threads:
        thread.start()
    wait_until(lambda: server.requests, "a question is sent")
    assert paths_of(app.search("LruCache"))[0] == TARGET
    released.set()
    for thread in threads:
        thread.join()


def test_the_question_as_typed_is_logged_and_matched_with_memories(
    make_app: MakeApp, server: JsonServer
) -> None:
    root, index_dir = indexed_repository()
    app = make_app(root, index_dir=index_dir, expand_endpoint=server.url)
    app.memory.remember("Sent home before the others: the guest who came last.")
    response = app.search(QUESTION)
    assert [memory.text[:12] for memory in response.memories] == ["Sent home be"]
    (line,) = search_log_path().read_text().splitlines()
    assert json.loads(line)["query"] == QUESTION


def test_the_verdict_on_absent_words_is_about_the_question(app: App, server: JsonServer) -> None:
    server.answer = lambda request: completion(f"{WORDS}, FrobnicatorPolicy, zyx_quux_threshold")
    response = app.search("how is the oldest entry evicted")
    assert response.confident is not False
    assert not any("FrobnicatorPolicy" in note for note in response.suggestions)


@pytest.mark.slow
def test_the_command_explains_the_expansion_and_reports_failures(
    repository: Path, tmp_path: Path, server: JsonServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"expandEndpoint": server.url, "expandModel": "small", "expandApiKey": KEY}
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"searchAgent": settings}))
    arguments = ("search", QUESTION, "--root", repository, "--config", config)
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint)
        explained = rootle(*arguments, "--explain")
    assert f"expanded with: {WORDS}" in explained.out
    (span,) = collector.spans_named("searchAgent.expansion")
    assert span.attributes["expansionModelID"] == "small"
    output = b"".join(collector.bodies).decode("utf-8", "replace") + explained.out + explained.err
    assert KEY not in output
    data = rootle(*arguments, "--explain", "--json").data
    assert data["interpretation"]["expansion"] == WORDS
    batch = json.dumps({"textQuery": QUESTION, "expand": False})
    before = len(server.requests)
    rootle("search", "--batch", "--root", repository, "--config", config, stdin=batch)
    assert len(server.requests) == before
    server.answer = lambda request: Reply({"error": f"no {KEY}"}, status=500)
    failed = rootle(*arguments, "--json")
    assert failed.data["degraded"] == ["expansion"]
    assert "HTTP 500" in failed.err
    assert KEY not in failed.out + failed.err


def test_settings_without_an_endpoint_are_reported_as_unused(make_app: MakeApp) -> None:
    root, index_dir = indexed_repository()
    app = make_app(root, index_dir=index_dir, expand_model="small", expand_api_key=KEY)
    assert app.search(QUESTION).degraded == ()
    unused = [message for message in app.status().unused_settings if message.startswith("expand")]
    assert unused == [
        f"{key} is not used: expandEndpoint is empty" for key in ("expandModel", "expandApiKey")
    ]
