"""Embedding servers: the requests of each provider, valid and invalid answers, API keys."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from embedding_server import (
    DIMENSIONS,
    answer,
    cohere_answer,
    embedding_server,
    openai_answer,
    rows_of,
)
from json_server import JsonServer, Reply, Request
from sample import MakeApp, write_tree

from rootle import Config
from rootle.embed.factory import choose_model, open_model
from rootle.embed.http_model import HttpModel
from rootle.embed.providers import request_url
from rootle.errors import ConfigError, RefusedError, UnavailableError
from rootle.http import client

KEY = "sk-cloud-secret-42"
_TINY = Path(__file__).parent.parent / "rerank" / "tiny_reranker.py"
TEXTS = ["retry with backoff", "close the socket", "parse the header"]


@pytest.fixture
def server() -> Iterator[JsonServer]:
    with embedding_server() as running:
        yield running


def embedder(server: JsonServer, provider: str = "openai", **settings: Any) -> Any:
    settings = {
        "embedding_model_id": "some-model",
        "embedding_provider": provider,
        "embedding_endpoint": f"{server.url}/v1",
        "embedding_api_key": KEY,
        **settings,
    }
    config = Config(**settings)
    return open_model(choose_model(config), config)


def model(server: JsonServer, **options: Any) -> HttpModel:
    """Return a model without delays between attempts."""
    connect = partial(client.JsonServer, sleep=lambda seconds: None)
    return HttpModel("openai", "m", endpoint=server.url, connect=connect, **options)


def embed(target: HttpModel, texts: list[str] = TEXTS, timeout_s: float = 10.0) -> Any:
    return target.vectors(texts, is_query=False, timeout_s=timeout_s)


OPENAI_COMPATIBLE = ["openai", "ollama", "llamacpp", "vllm", "lmstudio", "mistral"]


@pytest.mark.parametrize("provider", OPENAI_COMPATIBLE)
def test_compatible_providers_receive_requests_in_the_format_of_openai(
    server: JsonServer, provider: str
) -> None:
    found = embedder(server, provider).embed(TEXTS)
    assert np.allclose(found, rows_of(TEXTS), atol=1e-6)
    request = server.requests[0]
    assert request.path == "/v1/embeddings"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {"model": "some-model", "input": TEXTS}


@pytest.mark.parametrize(
    ("provider", "query", "document"),
    [
        ("voyage", {"input_type": "query"}, {"input_type": "document"}),
        ("jina", {"task": "retrieval.query"}, {"task": "retrieval.passage"}),
    ],
)
def test_some_providers_receive_the_purpose_of_a_text(
    server: JsonServer, provider: str, query: dict[str, str], document: dict[str, str]
) -> None:
    target = embedder(server, provider)
    target.embed_query("retry")
    target.embed(["backoff"])
    assert [request.body for request in server.requests] == [
        {"model": "some-model", "input": ["retry"], **query},
        {"model": "some-model", "input": ["backoff"], **document},
    ]


def test_the_task_of_jina_depends_on_the_model(server: JsonServer) -> None:
    embedder(server, "jina", embedding_model_id="jina-code-embeddings-1.5b").embed_query("x")
    embedder(server, "jina", embedding_model_id="jina-embeddings-v2-base-code").embed_query("x")
    assert [request.body.get("task") for request in server.requests] == ["nl2code.query", None]


def test_cohere_receives_requests_in_its_own_format(server: JsonServer) -> None:
    target = embedder(server, "cohere", embedding_endpoint=f"{server.url}/v2")
    assert np.allclose(target.embed(TEXTS), rows_of(TEXTS), atol=1e-6)
    assert np.allclose(target.embed_query(TEXTS[0]), rows_of(TEXTS)[0], atol=1e-6)
    documents, query = server.requests
    assert documents.path == "/v2/embed"
    assert documents.body == {
        "model": "some-model",
        "texts": TEXTS,
        "input_type": "search_document",
        "embedding_types": ["float"],
    }
    assert query.body["input_type"] == "search_query"


def test_azure_receives_the_deployment_in_the_path_and_the_key_in_a_special_header(
    server: JsonServer,
) -> None:
    target = embedder(server, "azure", embedding_endpoint=server.url)
    assert np.allclose(target.embed(TEXTS), rows_of(TEXTS), atol=1e-6)
    request = server.requests[0]
    where, _, version = request.path.partition("?")
    assert where == "/openai/deployments/some-model/embeddings"
    assert version == "api-version=2024-10-21"
    assert request.headers["api-key"] == KEY
    assert "authorization" not in request.headers
    embedder(server, "azure", embedding_endpoint=f"{server.url}/openai/v1/").embed(["x"])
    assert server.requests[-1].path == "/openai/v1/embeddings"


@pytest.mark.parametrize(
    ("provider", "key"),
    [
        ("openai", "dimensions"),
        ("jina", "dimensions"),
        ("mistral", "output_dimension"),
        ("voyage", "output_dimension"),
        ("cohere", "output_dimension"),
    ],
)
def test_the_configured_dimensions_are_requested(
    server: JsonServer, provider: str, key: str
) -> None:
    target = embedder(server, provider, embedding_dimensions=16)
    assert target.dimensions == 16
    assert target.embed(TEXTS).shape == (3, 16)
    assert server.requests[0].body[key] == 16


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a llama.cpp server with a tiny model and return its URL."""
    path = tmp_path_factory.mktemp("model") / "tiny.gguf"
    subprocess.run([sys.executable, _TINY, "make", path], check=True)
    command = [sys.executable, str(_TINY), "embed", str(path)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.kill()


@pytest.mark.slow
def test_a_real_llamacpp_server_embeds(llama: str, tmp_path: Path, make_app: MakeApp) -> None:
    settings: dict[str, Any] = {
        "embedding_model_id": "tiny",
        "embedding_provider": "llamacpp",
        "embedding_endpoint": f"{llama}/v1",
        "dense_timeout_ms": 20_000,
    }
    config = Config(**settings)
    target: Any = open_model(choose_model(config), config)
    found = target.embed(["parse http request", "cache write", "token open \ud800"] * 7)
    assert found.shape == (21, 64)
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    assert np.allclose(target.embed_query("cache write"), found[1], atol=1e-3)
    long = "x " * 900  # one chunk, which exceeds the token limit of this model
    files = {"a.txt": "parse http request\n", "b.txt": "token open\n", "long.txt": long}
    app = make_app(write_tree(tmp_path / "repo", files), **settings)
    report = app.index()
    assert (report.chunks_embedded, report.chunks_pending) == (2, 1)
    assert "too large" in report.pending_reason
    response = app.search("token open")
    assert (response.degraded, response.results[0].source) == (("pending",), "merged")


def test_no_header_is_sent_without_a_key(server: JsonServer) -> None:
    embedder(server, "ollama", embedding_api_key="").embed(["x"])
    assert "authorization" not in server.requests[0].headers


def test_an_endpoint_may_include_the_path_of_the_api(server: JsonServer) -> None:
    embedder(server, embedding_endpoint=f"{server.url}/api/embeddings/").embed(["x"])
    assert server.requests[0].path == "/api/embeddings"


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/embeddings", "/v1/embeddings/"])
def test_an_endpoint_may_have_a_query_string(server: JsonServer, path: str) -> None:
    embedder(server, embedding_endpoint=f"{server.url}{path}?tenant=a").embed(["x"])
    assert server.requests[0].path == "/v1/embeddings?tenant=a"


def test_an_azure_endpoint_may_set_the_version_of_the_api() -> None:
    host = "https://my.openai.azure.com"
    path = "/openai/deployments/m/embeddings"
    assert request_url("azure", f"{host}?api-version=1", "m") == f"{host}{path}?api-version=1"
    whole = f"{host}{path}?api-version=2"
    assert request_url("azure", whole, "m") == whole
    assert request_url("azure", f"{host}/openai/v1/?a=b", "m") == (
        f"{host}/openai/v1/embeddings?a=b"
    )


def test_texts_are_sent_in_batches(server: JsonServer) -> None:
    texts = [f"text {n}" for n in range(35)]
    found = embedder(server).embed(texts)
    assert [len(request.body["input"]) for request in server.requests] == [16, 16, 3]
    assert np.allclose(found, rows_of(texts), atol=1e-6)
    assert embedder(server).embed([]).shape[0] == 0


def test_prefixes_are_added_to_queries_and_documents(server: JsonServer) -> None:
    target = embedder(server, embedding_query_prefix="Q: ", embedding_document_prefix="D: ")
    target.embed_query("one")
    target.embed(["two"])
    assert [request.body["input"] for request in server.requests] == [["Q: one"], ["D: two"]]


@pytest.mark.parametrize(
    ("name", "query", "document"),
    [
        ("nomic-embed-text:v1.5", "search_query: x", "search_document: x"),
        ("intfloat/multilingual-e5-large", "query: x", "passage: x"),
        ("intfloat/multilingual-e5-large-instruct", "x", "x"),
        ("text-embedding-3-small", "x", "x"),
    ],
)
def test_known_models_receive_their_prefixes(
    server: JsonServer, name: str, query: str, document: str
) -> None:
    target = embedder(server, "ollama", embedding_model_id=name)
    target.embed_query("x")
    target.embed(["x"])
    assert [request.body["input"] for request in server.requests] == [[query], [document]]


def test_vectors_are_sorted_by_their_index(server: JsonServer) -> None:
    def answer_in_reverse(request: Request) -> Reply:
        reply = answer(request)
        reply.data["data"].reverse()
        return reply

    server.answer = answer_in_reverse
    assert np.allclose(embedder(server).embed(TEXTS), rows_of(TEXTS), atol=1e-6)


def test_vectors_of_any_size_are_normalized(server: JsonServer) -> None:
    rows = [[3e300, 4e300], [3e-20, 4e-20], [0.0, 0.0]]
    data = [{"index": at, "embedding": row} for at, row in enumerate(rows)]
    server.answer = lambda request: Reply({"data": data})
    found = embedder(server).embed(TEXTS)
    assert np.allclose(found[1], [0.6, 0.8])
    assert np.allclose(np.linalg.norm(found, axis=1), [1, 1, 0])


def _answer_after(change: Callable[[Any], object]) -> Callable[[Request], Reply]:
    def build(request: Request) -> Reply:
        data = openai_answer(request.body["input"])
        change(data)
        return Reply(data)

    return build


def _set(at: int, value: float | str | None) -> Callable[[Any], None]:
    def change(data: Any) -> None:
        data["data"][0]["embedding"][at] = value

    return change


BAD = {
    "fewer vectors": _answer_after(lambda data: data["data"].pop()),
    "none": _answer_after(lambda data: data["data"].clear()),
    "more vectors": _answer_after(lambda data: data["data"].append(data["data"][0])),
    "an index twice": _answer_after(lambda data: data["data"][0].update(index=1)),
    "an index out of range": _answer_after(lambda data: data["data"][0].update(index=7)),
    "an index that is text": _answer_after(lambda data: data["data"][0].update(index="0")),
    "uneven rows": _answer_after(lambda data: data["data"][0]["embedding"].pop()),
    "empty rows": _answer_after(lambda data: [item.update(embedding=[]) for item in data["data"]]),
    "NaN": _answer_after(_set(0, float("nan"))),
    "infinite": _answer_after(_set(0, float("inf"))),
    "a number out of range": _answer_after(_set(0, 10**400)),
    "a text": _answer_after(_set(0, "much")),
    "null": _answer_after(_set(0, None)),
    "nested": _answer_after(lambda data: [item.update(embedding=[[1.0]]) for item in data["data"]]),
    "an object": lambda request: Reply({"data": {"embedding": [1]}}),
    "another shape": lambda request: Reply({"result": "ok"}),
    "a list": lambda request: Reply([1, 2, 3]),
    "null alone": lambda request: Reply(None),
    "html": lambda request: Reply(raw=b"<html></html>"),
    "half an answer": lambda request: Reply(openai_answer(TEXTS), cut=True),
}


@pytest.mark.parametrize("fault", BAD)
def test_an_invalid_answer_is_retried(server: JsonServer, fault: str) -> None:
    bad = [BAD[fault], BAD[fault], answer]
    server.answer = lambda request: bad.pop(0)(request)
    assert np.allclose(embed(model(server)), rows_of(TEXTS), atol=1e-6)


@pytest.mark.parametrize("fault", BAD)
def test_a_repeated_invalid_answer_is_reported(server: JsonServer, fault: str) -> None:
    server.answer = BAD[fault]
    with pytest.raises(UnavailableError, match=r"answered|cannot be reached"):
        embed(model(server, key=lambda: KEY))
    assert len(server.requests) == 4


def test_vectors_of_another_length_than_the_configured_one_are_rejected(server: JsonServer) -> None:
    target = model(server, dimensions=DIMENSIONS)
    server.answer = lambda request: Reply(openai_answer(request.body["input"], 32))
    with pytest.raises(UnavailableError, match=f"of 32 numbers instead of {DIMENSIONS}"):
        embed(target)


def test_a_single_answer_of_another_length_is_retried(server: JsonServer) -> None:
    sizes = [DIMENSIONS, 32, DIMENSIONS]
    server.answer = lambda request: Reply(openai_answer(request.body["input"], sizes.pop(0)))
    target = model(server)
    assert embed(target).shape == embed(target).shape == (len(TEXTS), DIMENSIONS)


def test_a_wrong_first_answer_does_not_disable_the_server(
    server: JsonServer, tmp_path: Path, make_app: MakeApp
) -> None:
    write_tree(tmp_path / "tree", {"a.py": "def close_socket(): pass\n"})
    settings = {"embedding_model_id": "m", "embedding_endpoint": server.url, "enable_cache": False}
    make_app(tmp_path / "tree", **settings).index()
    app = make_app(tmp_path / "tree", **settings)
    sizes = [8]
    server.answer = lambda request: Reply(
        openai_answer(request.body["input"], sizes.pop() if sizes else DIMENSIONS)
    )
    response = app.search("close the socket")
    assert not sizes
    assert response.degraded == ()
    sizes += [8, 8]
    app.search("shut the connection")
    assert app.search("open the socket").degraded == ()


def test_an_invalid_answer_of_cohere_is_rejected(server: JsonServer) -> None:
    server.answer = lambda request: Reply(
        {"embeddings": cohere_answer(TEXTS)["embeddings"]["float"]}
    )
    with pytest.raises(UnavailableError, match="something other than vectors"):
        embedder(server, "cohere").embed_batch(TEXTS, 0.3)


def test_a_query_has_a_timeout(server: JsonServer) -> None:
    server.answer = lambda request: Reply(hang=True)
    started = time.monotonic()
    with pytest.raises(UnavailableError, match=r"within 0\.2 s"):
        embedder(server, dense_timeout_ms=200).embed_query("x")
    assert time.monotonic() - started < 1


@pytest.mark.parametrize("status", [400, 401, 404, 422, 429, 500, 503])
def test_the_key_is_never_shown(
    server: JsonServer, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    server.answer = lambda request: Reply({"error": f"bad key {KEY}"}, status)
    target = embedder(server)
    with caplog.at_level(0), pytest.raises(UnavailableError) as caught:
        target.embed_batch(["x"], 0.3)
    shown = [caplog.text, repr(caught.value), repr(caught.value.__cause__), repr(target)]
    shown += [
        repr(vars(target)),
        target.fingerprint,
        repr(vars(target._model)),
        repr(target._model),
    ]
    assert not [text for text in shown if KEY in text]


def test_a_key_command_runs_with_the_first_request_and_after_a_rejected_key(
    server: JsonServer, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    script = tmp_path / "key"
    script.write_text(f"#!/bin/sh\necho x >> {log}\nwc -l < {log} | tr -d ' '\necho more\n")
    script.chmod(0o700)
    target = embedder(
        server, embedding_api_key="", embedding_api_key_command=f"{script} 'an argument'"
    )
    assert not log.exists()
    target.embed(["x"])
    target.embed(["x"])
    server.answer = lambda request: Reply({}, 401)
    with pytest.raises(RefusedError, match="refuses the key"):
        target.embed(["x"])
    server.answer = answer
    target.embed(["x"])
    keys = [request.headers["authorization"] for request in server.requests]
    assert keys == ["Bearer 1", "Bearer 1", "Bearer 1", "Bearer 2"]


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo secret-half >&2; echo secret-half; exit 3", "failed with 3"),
        ("true", "printed nothing"),
    ],
)
def test_an_error_names_a_failed_key_command_without_its_output(
    server: JsonServer, tmp_path: Path, script: str, reason: str
) -> None:
    command = tmp_path / "key"
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(0o700)
    target = embedder(server, embedding_api_key="", embedding_api_key_command=str(command))
    with pytest.raises(UnavailableError, match=reason) as caught:
        target.embed(["x"])
    assert "secret-half" not in repr(caught.value) + repr(caught.value.__cause__)
    assert caught.value.__context__ is None


def test_a_missing_or_invalid_key_command_is_an_error(server: JsonServer) -> None:
    target = embedder(server, embedding_api_key="", embedding_api_key_command="no-such-program x")
    with pytest.raises(UnavailableError, match=r"\(no-such-program\) No such file"):
        target.embed(["x"])
    with pytest.raises(ConfigError, match="is not a valid command"):
        embedder(server, embedding_api_key="", embedding_api_key_command="a 'b").embed(["x"])


def test_no_key_or_proxy_is_read_from_the_environment(
    server: JsonServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "COHERE_API_KEY", "VOYAGE_API_KEY", "HTTPS_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    embedder(server, embedding_api_key="").embed(["x"])
    assert "authorization" not in server.requests[0].headers
