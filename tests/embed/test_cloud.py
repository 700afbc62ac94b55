"""Embedding servers: how each provider is asked, and what is made of good and bad answers."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
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
from json_server import JsonServer, Reply
from sample import write_tree

from rootle import Config
from rootle.embed.factory import choose_model, open_model
from rootle.embed.http_model import HttpModel
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
    """Without pauses between attempts."""
    connect = partial(client.JsonServer, sleep=lambda seconds: None)
    return HttpModel("openai", "m", endpoint=server.url, connect=connect, **options)


def vectors(asked: HttpModel, texts: list[str] = TEXTS, timeout_s: float = 10.0) -> Any:
    return asked.vectors(texts, is_query=False, timeout_s=timeout_s)


LIKE_OPENAI = ["openai", "ollama", "llamacpp", "vllm", "lmstudio", "mistral"]


@pytest.mark.parametrize("provider", LIKE_OPENAI)
def test_those_who_speak_as_openai_does(server, provider):
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
def test_those_who_want_to_know_what_a_text_is_for(server, provider, query, document):
    asked = embedder(server, provider)
    asked.embed_query("retry")
    asked.embed(["backoff"])
    assert [request.body for request in server.requests] == [
        {"model": "some-model", "input": ["retry"], **query},
        {"model": "some-model", "input": ["backoff"], **document},
    ]


def test_jinas_models_for_code_and_those_without_tasks(server):
    embedder(server, "jina", embedding_model_id="jina-code-embeddings-1.5b").embed_query("x")
    embedder(server, "jina", embedding_model_id="jina-embeddings-v2-base-code").embed_query("x")
    assert [request.body.get("task") for request in server.requests] == ["nl2code.query", None]


def test_cohere(server):
    asked = embedder(server, "cohere", embedding_endpoint=f"{server.url}/v2")
    assert np.allclose(asked.embed(TEXTS), rows_of(TEXTS), atol=1e-6)
    assert np.allclose(asked.embed_query(TEXTS[0]), rows_of(TEXTS)[0], atol=1e-6)
    documents, query = server.requests
    assert documents.path == "/v2/embed"
    assert documents.body == {
        "model": "some-model",
        "texts": TEXTS,
        "input_type": "search_document",
        "embedding_types": ["float"],
    }
    assert query.body["input_type"] == "search_query"


def test_azure_takes_the_deployment_in_the_path_and_the_key_in_a_header_of_its_own(server):
    asked = embedder(server, "azure", embedding_endpoint=server.url)
    assert np.allclose(asked.embed(TEXTS), rows_of(TEXTS), atol=1e-6)
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
def test_the_wanted_dimensions_are_asked_for(server, provider, key):
    asked = embedder(server, provider, embedding_dimensions=16)
    assert asked.dimensions == 16
    assert asked.embed(TEXTS).shape == (3, 16)
    assert server.requests[0].body[key] == 16


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    """The address of llama.cpp's own server with a tiny model."""
    path = tmp_path_factory.mktemp("model") / "tiny.gguf"
    subprocess.run([sys.executable, _TINY, "make", path], check=True)
    command = [sys.executable, _TINY, "embed", path]
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


def test_llamacpps_own_server_embeds(llama, tmp_path, make_app):
    settings: dict[str, Any] = {
        "embedding_model_id": "tiny",
        "embedding_provider": "llamacpp",
        "embedding_endpoint": f"{llama}/v1",
        "dense_timeout_ms": 20_000,
    }
    config = Config(**settings)
    asked: Any = open_model(choose_model(config), config)
    found = asked.embed(["parse http request", "cache write", "token open \ud800"] * 7)
    assert found.shape == (21, 64)
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    assert np.allclose(asked.embed_query("cache write"), found[1], atol=1e-3)
    long = "x " * 900  # one chunk, and more than this model takes
    files = {"a.txt": "parse http request\n", "b.txt": "token open\n", "long.txt": long}
    app = make_app(write_tree(tmp_path / "repo", files), **settings)
    report = app.index()
    assert (report.chunks_embedded, report.chunks_pending) == (2, 1)
    assert "too large" in report.pending_reason
    response = app.search("token open")
    assert (response.degraded, response.results[0].source) == (("pending",), "merged")


def test_no_key_means_no_header(server):
    embedder(server, "ollama", embedding_api_key="").embed(["x"])
    assert "authorization" not in server.requests[0].headers


def test_an_endpoint_may_name_the_last_step_of_its_path(server):
    embedder(server, embedding_endpoint=f"{server.url}/api/embeddings/").embed(["x"])
    assert server.requests[0].path == "/api/embeddings"


def test_texts_go_out_in_batches(server):
    texts = [f"text {n}" for n in range(35)]
    found = embedder(server).embed(texts)
    assert [len(request.body["input"]) for request in server.requests] == [16, 16, 3]
    assert np.allclose(found, rows_of(texts), atol=1e-6)
    assert embedder(server).embed([]).shape[0] == 0


def test_prefixes_are_put_before_questions_and_texts(server):
    asked = embedder(server, embedding_query_prefix="Q: ", embedding_document_prefix="D: ")
    asked.embed_query("one")
    asked.embed(["two"])
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
def test_models_that_are_known_to_want_a_prefix_get_it(server, name, query, document):
    asked = embedder(server, "ollama", embedding_model_id=name)
    asked.embed_query("x")
    asked.embed(["x"])
    assert [request.body["input"] for request in server.requests] == [[query], [document]]


def test_vectors_come_in_the_order_of_their_index(server):
    def shuffled(request):
        reply = answer(request)
        reply.data["data"].reverse()
        return reply

    server.answer = shuffled
    assert np.allclose(embedder(server).embed(TEXTS), rows_of(TEXTS), atol=1e-6)


def test_vectors_are_made_unit_length_whatever_their_size(server):
    rows = [[3e300, 4e300], [3e-20, 4e-20], [0.0, 0.0]]
    data = [{"index": at, "embedding": row} for at, row in enumerate(rows)]
    server.answer = lambda request: Reply({"data": data})
    found = embedder(server).embed(TEXTS)
    assert np.allclose(found[1], [0.6, 0.8])
    assert np.allclose(np.linalg.norm(found, axis=1), [1, 1, 0])


def _with(change):
    def build(request):
        data = openai_answer(request.body["input"])
        change(data)
        return Reply(data)

    return build


def _set(at, value):
    def change(data):
        data["data"][0]["embedding"][at] = value

    return change


BAD = {
    "fewer vectors": _with(lambda data: data["data"].pop()),
    "none": _with(lambda data: data["data"].clear()),
    "more vectors": _with(lambda data: data["data"].append(data["data"][0])),
    "an index twice": _with(lambda data: data["data"][0].update(index=1)),
    "an index beyond": _with(lambda data: data["data"][0].update(index=7)),
    "an index that is text": _with(lambda data: data["data"][0].update(index="0")),
    "uneven rows": _with(lambda data: data["data"][0]["embedding"].pop()),
    "empty rows": _with(lambda data: [item.update(embedding=[]) for item in data["data"]]),
    "NaN": _with(_set(0, float("nan"))),
    "infinite": _with(_set(0, float("inf"))),
    "beyond a number": _with(_set(0, 10**400)),
    "a text": _with(_set(0, "much")),
    "null": _with(_set(0, None)),
    "nested": _with(lambda data: [item.update(embedding=[[1.0]]) for item in data["data"]]),
    "an object": lambda request: Reply({"data": {"embedding": [1]}}),
    "another shape": lambda request: Reply({"result": "ok"}),
    "a list": lambda request: Reply([1, 2, 3]),
    "null alone": lambda request: Reply(None),
    "html": lambda request: Reply(raw=b"<html></html>"),
    "half of it": lambda request: Reply(openai_answer(TEXTS), cut=True),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_answer_is_asked_again_and_a_good_one_then_counts(server, what):
    bad = [BAD[what], BAD[what], answer]
    server.answer = lambda request: bad.pop(0)(request)
    assert np.allclose(vectors(model(server)), rows_of(TEXTS), atol=1e-6)


@pytest.mark.parametrize("what", BAD)
def test_an_answer_that_stays_bad_is_reported(server, what):
    server.answer = BAD[what]
    with pytest.raises(UnavailableError, match=r"answered|cannot be reached"):
        vectors(model(server, key=lambda: KEY))
    assert len(server.requests) == 4


def test_vectors_of_another_length_than_before_are_no_use(server):
    asked = model(server)
    vectors(asked)
    server.answer = lambda request: Reply(openai_answer(request.body["input"], 32))
    with pytest.raises(UnavailableError, match=f"of 32 numbers in the place of {DIMENSIONS}"):
        vectors(asked)


def test_cohere_answers_in_a_bad_shape(server):
    server.answer = lambda request: Reply(
        {"embeddings": cohere_answer(TEXTS)["embeddings"]["float"]}
    )
    with pytest.raises(UnavailableError, match="something else than vectors"):
        embedder(server, "cohere").embed_batch(TEXTS, 0.3)


def test_a_question_that_is_not_answered_in_time_is_given_up(server):
    server.answer = lambda request: Reply(hang=True)
    started = time.monotonic()
    with pytest.raises(UnavailableError, match=r"within 0\.2 s"):
        embedder(server, dense_timeout_ms=200).embed_query("x")
    assert time.monotonic() - started < 1


@pytest.mark.parametrize("status", [400, 401, 404, 422, 429, 500, 503])
def test_the_key_shows_nowhere(server, status, caplog):
    server.answer = lambda request: Reply({"error": f"bad key {KEY}"}, status)
    asked = embedder(server)
    with caplog.at_level(0), pytest.raises(UnavailableError) as caught:
        asked.embed_batch(["x"], 0.3)
    shown = [caplog.text, repr(caught.value), repr(caught.value.__cause__), repr(asked)]
    shown += [repr(vars(asked)), asked.fingerprint, repr(vars(asked._model)), repr(asked._model)]
    assert not [text for text in shown if KEY in text]


def test_a_key_command_is_run_with_the_first_request_and_again_when_its_key_is_refused(
    server, tmp_path
):
    ran = tmp_path / "ran"
    script = tmp_path / "key"
    script.write_text(f"#!/bin/sh\necho x >> {ran}\nwc -l < {ran} | tr -d ' '\necho more\n")
    script.chmod(0o700)
    asked = embedder(
        server, embedding_api_key="", embedding_api_key_command=f"{script} 'an argument'"
    )
    assert not ran.exists()
    asked.embed(["x"])
    asked.embed(["x"])
    server.answer = lambda request: Reply({}, 401)
    with pytest.raises(RefusedError, match="refuses the key"):
        asked.embed(["x"])
    server.answer = answer
    asked.embed(["x"])
    keys = [request.headers["authorization"] for request in server.requests]
    assert keys == ["Bearer 1", "Bearer 1", "Bearer 1", "Bearer 2"]


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo secret-half >&2; echo secret-half; exit 3", "failed with 3"),
        ("true", "printed nothing"),
    ],
)
def test_a_key_command_that_fails_is_named_without_what_it_said(server, tmp_path, script, why):
    command = tmp_path / "key"
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(0o700)
    asked = embedder(server, embedding_api_key="", embedding_api_key_command=str(command))
    with pytest.raises(UnavailableError, match=why) as caught:
        asked.embed(["x"])
    assert "secret-half" not in repr(caught.value) + repr(caught.value.__cause__)
    assert caught.value.__context__ is None


def test_a_key_command_that_is_not_there(server):
    asked = embedder(server, embedding_api_key="", embedding_api_key_command="no-such-program x")
    with pytest.raises(UnavailableError, match=r"\(no-such-program\) No such file"):
        asked.embed(["x"])
    with pytest.raises(ConfigError, match="is no command"):
        embedder(server, embedding_api_key="", embedding_api_key_command="a 'b").embed(["x"])


def test_the_environment_holds_no_key_for_us(server, monkeypatch):
    for name in ("OPENAI_API_KEY", "COHERE_API_KEY", "VOYAGE_API_KEY", "HTTPS_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    embedder(server, embedding_api_key="").embed(["x"])
    assert "authorization" not in server.requests[0].headers
