"""Reranking over HTTP: the llama.cpp server, the API of each provider, and every fault."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from json_server import JsonServer, Reply, Request, serving

from rootle.errors import ConfigError, RerankError
from rootle.protocols import Hit, Reranker
from rootle.rerank.http_reranker import CohereReranker, LlamaServerReranker, ServerReranker
from rootle.rerank.providers import PROVIDERS, request_url

KEY = "sk-very-secret-0123456789"
QUERY = "parse http request"
DOCUMENTS = ["def parse(http): return request", "cache write", "token open"]


@pytest.fixture
def server() -> Iterator[JsonServer]:
    with serving(lambda request: Reply({"results": scores(0.1, 0.9, 0.5)})) as running:
        yield running


def scores(*values: Any) -> list[dict[str, Any]]:
    return [{"index": at, "relevance_score": value} for at, value in enumerate(values)]


@pytest.mark.slow
def test_llamacpp_ranks_every_document(llama: str) -> None:
    reranker: Reranker = LlamaServerReranker(llama, timeout_s=20)
    hits = reranker.rerank(QUERY, DOCUMENTS)
    assert sorted(hit.index for hit in hits) == [0, 1, 2]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len({hit.score for hit in hits}) == 3
    assert reranker.rerank(QUERY, DOCUMENTS) == hits
    # The score of a document depends neither on its position nor on the other documents.
    (alone,) = reranker.rerank(QUERY, DOCUMENTS[1:2])
    assert alone.score == pytest.approx(next(hit.score for hit in hits if hit.index == 1), abs=1e-3)


@pytest.mark.slow
def test_llamacpp_ranks_batches_like_one_request(llama: str) -> None:
    whole = LlamaServerReranker(f"{llama}/v1", timeout_s=20).rerank(QUERY, DOCUMENTS)
    parts = LlamaServerReranker(llama, timeout_s=20, batch_size=2).rerank(QUERY, DOCUMENTS)
    assert [hit.index for hit in parts] == [hit.index for hit in whole]


@pytest.mark.slow
def test_an_error_of_llamacpp_is_a_rerank_error(llama: str) -> None:
    with pytest.raises(RerankError, match="too large"):
        LlamaServerReranker(llama, timeout_s=20).rerank(QUERY, ["x " * 2_000])


@pytest.mark.slow
def test_invalid_unicode_and_empty_texts_are_reranked(llama: str) -> None:
    hits = LlamaServerReranker(llama, timeout_s=20).rerank(
        "\ud800 half", ["\udcff", "", "ünï → 漢"]
    )
    assert sorted(hit.index for hit in hits) == [0, 1, 2]


_REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "llamacpp": ("/v1/rerank", {"documents": DOCUMENTS, "model": "m"}),
    "cohere": ("/v2/rerank", {"documents": DOCUMENTS, "model": "m"}),
    "jina": ("/v1/rerank", {"documents": DOCUMENTS, "model": "m", "return_documents": False}),
    "voyage": ("/v1/rerank", {"documents": DOCUMENTS, "model": "m"}),
    "vllm": ("/v1/rerank", {"documents": DOCUMENTS, "model": "m"}),
    "tei": ("/rerank", {"texts": DOCUMENTS, "truncate": True}),
    "infinity": ("/rerank", {"documents": DOCUMENTS, "model": "m"}),
}
# The complete response of each provider, from a list of hits.
_ANSWERS: dict[str, Callable[[list[dict[str, Any]]], Any]] = {
    "llamacpp": lambda found: {"model": "m", "object": "list", "usage": {}, "results": found},
    "cohere": lambda found: {"results": found, "id": "07734bd2", "meta": {"billed_units": {}}},
    "jina": lambda found: {"model": "m", "usage": {"total_tokens": 9}, "results": found},
    "voyage": lambda found: {"object": "list", "data": found, "model": "m", "usage": {}},
    "vllm": lambda found: {
        "id": "rerank-1",
        "model": "m",
        "usage": {},
        "results": [{**hit, "document": {"text": DOCUMENTS[hit["index"]]}} for hit in found],
    },
    "tei": lambda found: [
        {"index": hit["index"], "score": hit["relevance_score"]} for hit in found
    ],
    "infinity": lambda found: {"object": "rerank", "results": found, "model": "m", "usage": {}},
}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_requests_and_responses_follow_the_api_of_each_provider(
    provider: str, server: JsonServer
) -> None:
    best_first = [scores(0.1, 0.9, -0.5)[at] for at in (1, 0, 2)]
    server.answer = lambda request: Reply(_ANSWERS[provider](best_first))
    reranker = ServerReranker(provider, "m", endpoint=server.url, key=lambda: KEY)
    assert reranker.rerank(QUERY, DOCUMENTS) == [Hit(1, 0.9), Hit(0, 0.1), Hit(2, -0.5)]
    path, body = _REQUESTS[provider]
    assert server.requests[0].path == path
    assert server.requests[0].body == {"query": QUERY, **body}
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_call_without_documents_sends_nothing_and_reads_no_key(server: JsonServer) -> None:
    def key() -> str:
        raise AssertionError

    assert ServerReranker("cohere", "m", endpoint=server.url, key=key).rerank(QUERY, []) == []
    assert server.requests == []


def test_hits_of_several_batches_have_the_indexes_of_their_documents(server: JsonServer) -> None:
    def score_by_length(request: Request) -> Reply:
        return Reply({"results": scores(*map(len, request.body["documents"]))})

    server.answer = score_by_length
    documents = ["ccc", "a", "bb", "dddd", "e"]
    hits = CohereReranker(KEY, endpoint=server.url, batch_size=2).rerank(QUERY, documents)
    assert [len(request.body["documents"]) for request in server.requests] == [2, 2, 1]
    assert [documents[hit.index] for hit in hits] == ["dddd", "ccc", "bb", "a", "e"]
    assert server.requests[0].body["model"] == "rerank-v3.5"


def test_a_batch_is_at_most_as_large_as_the_server_accepts(server: JsonServer) -> None:
    def zeros(request: Request) -> Reply:
        found = scores(*[0.5] * len(request.body["texts"]))
        return Reply(_ANSWERS["tei"](found))

    server.answer = zeros
    hits = ServerReranker("tei", endpoint=server.url).rerank(QUERY, ["text"] * 50)
    assert [hit.index for hit in hits] == list(range(50))
    assert [len(request.body["texts"]) for request in server.requests] == [32, 18]


def test_a_server_can_omit_documents(server: JsonServer) -> None:
    server.answer = lambda request: Reply({"results": scores(0.1, 0.9)})
    hits = LlamaServerReranker(server.url).rerank(QUERY, DOCUMENTS)
    assert [hit.index for hit in hits] == [1, 0]


_FAULTS: dict[str, tuple[Reply, str]] = {
    "hangs": (Reply(hang=True), r"did not answer within 0\.(3|2\d*) s"),
    "drips": (
        Reply({"results": scores(1, 2, 3)}, drip_s=0.05),
        r"did not answer within 0\.(3|2\d*) s",
    ),
    "is cut": (Reply({"results": scores(1, 2, 3)}, cut=True), "cannot be reached"),
    "is broken": (Reply({"error": "out of memory"}, status=500), "HTTP 500: .*out of memory"),
    "is overloaded": (Reply({}, status=429, headers={"Retry-After": "7"}), "HTTP 429"),
    "knows no such path": (Reply({}, status=404), "HTTP 404"),
    "refuses the key": (Reply({"message": f"bad {KEY}"}, status=401), "check the key"),
    "is no JSON": (Reply(raw=b"<html>"), "invalid JSON"),
    "is JSON without end": (Reply(raw=b"[" * 100_000), "invalid JSON"),
    "leads elsewhere": (Reply(status=302, headers={"Location": "http://x.test"}), "HTTP 302"),
    "has a score that is true": (Reply({"results": scores(True)}), "True instead"),
    "is JSON of another kind": (Reply("ok"), "without a list"),
    "has no results": (Reply({"ok": True}), "without a list"),
    "has results of another kind": (Reply({"results": [1, 2, 3]}), "without a list"),
    "is empty": (Reply({"results": []}), "no score for 3"),
    "lacks an index": (Reply({"results": [{"relevance_score": 1}]}), "document None, but 3"),
    "has an index too high": (Reply({"results": scores(1, 2, 3, 4)}), "document 3, but 3"),
    "has a negative index": (
        Reply({"results": [{"index": -1, "relevance_score": 1}]}),
        "document -1",
    ),
    "has an index that is true": (
        Reply({"results": [{"index": True, "relevance_score": 1}]}),
        "document True",
    ),
    "repeats an index": (Reply({"results": scores(1, 2) + scores(3)}), "two scores"),
    "lacks a score": (Reply({"results": [{"index": 0}]}), "None instead of a score"),
    "has a text for a score": (Reply({"results": scores("high")}), "'high' instead"),
    "has NaN": (Reply({"results": scores(1, float("nan"), 2)}), "not finite"),
    "has infinity": (Reply({"results": scores(float("inf"))}), "not finite"),
    "has a number beyond all": (Reply({"results": scores(10**400)}), "not finite"),
}


@pytest.mark.parametrize("fault", _FAULTS)
def test_every_fault_raises_a_rerank_error_before_the_deadline(
    fault: str, server: JsonServer
) -> None:
    reply, message = _FAULTS[fault]
    server.answer = lambda request: reply
    reranker = CohereReranker(KEY, endpoint=server.url, timeout_s=0.3)
    started = time.monotonic()
    with pytest.raises(RerankError, match=message) as caught:
        reranker.rerank(QUERY, DOCUMENTS)
    assert time.monotonic() - started < 2
    assert KEY not in str(caught.value)
    assert caught.value.retry_after_s == (7 if fault == "is overloaded" else 0)
    assert len(server.requests) == 1  # no retry, because the caller already has an order
    server.answer = lambda request: Reply({"results": scores(0.1, 0.9, 0.5)})
    assert reranker.rerank(QUERY, DOCUMENTS)[0] == Hit(1, 0.9)


def test_an_unreachable_server_raises_a_rerank_error() -> None:
    with serving(lambda request: Reply()) as gone:
        reranker = LlamaServerReranker(gone.url)
    with pytest.raises(RerankError, match="cannot be reached"):
        reranker.rerank(QUERY, DOCUMENTS)


def test_the_deadline_covers_all_batches(server: JsonServer) -> None:
    now = iter([0.0, 0.0, 5.0])
    reranker = ServerReranker(
        "vllm", endpoint=server.url, timeout_s=2.0, batch_size=1, clock=lambda: next(now)
    )
    server.answer = lambda request: Reply({"results": scores(0.5)})
    with pytest.raises(RerankError, match="did not answer within 2 s"):
        reranker.rerank(QUERY, DOCUMENTS)
    assert len(server.requests) == 1


def test_a_refused_key_is_read_again(server: JsonServer) -> None:
    keys = iter(["old", "new"])
    reranker = ServerReranker("cohere", "m", endpoint=server.url, key=lambda: next(keys))

    def answer(request: Request) -> Reply:
        fits = request.headers["authorization"] == "Bearer new"
        return Reply({"results": scores(0.5)}) if fits else Reply(status=401)

    server.answer = answer
    with pytest.raises(RerankError):
        reranker.rerank(QUERY, DOCUMENTS)
    assert reranker.rerank(QUERY, DOCUMENTS) == [Hit(0, 0.5)]
    assert reranker.rerank(QUERY, DOCUMENTS) == [Hit(0, 0.5)]


@pytest.mark.parametrize(
    ("provider", "endpoint", "url"),
    [
        ("cohere", "", "https://api.cohere.com/v2/rerank"),
        ("cohere", "https://proxy/cohere/v2", "https://proxy/cohere/v2/rerank"),
        ("jina", "", "https://api.jina.ai/v1/rerank"),
        ("voyage", "", "https://api.voyageai.com/v1/rerank"),
        ("llamacpp", "http://box:8080/", "http://box:8080/v1/rerank"),
        ("llamacpp", "http://box:8080/v1/", "http://box:8080/v1/rerank"),
        ("llamacpp", "http://box:8080/v1/rerank", "http://box:8080/v1/rerank"),
        ("llamacpp", "http://box?key=a/b", "http://box/v1/rerank?key=a/b"),
        ("llamacpp", "http://box/v1/rerank?tenant=a", "http://box/v1/rerank?tenant=a"),
        ("tei", "http://box", "http://box/rerank"),
        ("infinity", "http://box/v1", "http://box/v1/rerank"),
    ],
)
def test_an_endpoint_is_completed_to_the_full_path(provider: str, endpoint: str, url: str) -> None:
    assert request_url(PROVIDERS[provider], endpoint) == url


def test_an_invalid_endpoint_is_refused_at_construction() -> None:
    with pytest.raises(ConfigError, match="is not a URL"):
        LlamaServerReranker("localhost:8080")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"provider": "nope"}, 'provider is "nope", expected one of llamacpp'),
        ({"timeout_s": float("inf")}, "timeout_s is inf, expected a number of seconds"),
        ({"timeout_s": 0}, "timeout_s is 0, expected a number of seconds"),
        ({"batch_size": -1}, r"batch_size is -1, expected 0 \(no limit\) or more"),
        ({"endpoint": "http://[::1"}, "is not a URL"),
    ],
)
def test_an_invalid_argument_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ServerReranker(**{"provider": "llamacpp", **arguments})
