"""The configured reranker, from the configuration to the order of the results."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from collector import collecting
from command import Outcome, rootle
from json_server import JsonServer, Reply, Request, serving

from rootle.config.fields import Config
from rootle.errors import ConfigError, RerankError
from rootle.rerank.factory import open_reranker

pytestmark = pytest.mark.slow

QUESTION = "how long to wait before the next attempt"
FAVOURITE = "src/store/cache.py"
KEY = "sk-very-secret-0123456789"


def promote(request: Request) -> Reply:
    """Return the response of a server that prefers one file."""
    scores = [float(text.startswith(FAVOURITE)) for text in request.body["documents"]]
    results = [{"index": at, "relevance_score": score} for at, score in enumerate(scores)]
    return Reply({"results": results})


@pytest.fixture
def server() -> Iterator[JsonServer]:
    with serving(promote) as running:
        yield running


def search(root: Path, folder: Path, **settings: Any) -> Outcome:
    config = folder / "config.json"
    config.write_text(json.dumps({"searchAgent": settings}))
    return rootle("search", QUESTION, "--json", "--root", root, "--config", config)


def test_the_configured_server_reranks_the_best_files(
    repository: Path, tmp_path: Path, server: JsonServer
) -> None:
    settings = {"rerankerProvider": "vllm", "rerankerEndpoint": server.url, "rerankerBatchSize": 2}
    assert search(repository, tmp_path, **settings).paths[0] == FAVOURITE
    assert {len(request.body["documents"]) for request in server.requests} <= {1, 2}
    assert "model" not in server.requests[0].body
    off = search(repository, tmp_path, **settings, useLearnedReranker=False)
    assert off.paths[0] != FAVOURITE


def test_an_endpoint_alone_does_not_enable_the_reranker(
    repository: Path, tmp_path: Path, server: JsonServer
) -> None:
    outcome = search(repository, tmp_path, rerankerEndpoint=server.url, rerankerApiKey=KEY)
    assert outcome.code == 0
    assert server.requests == []


def test_the_telemetry_span_names_the_model_and_no_output_contains_the_key(
    repository: Path, tmp_path: Path, server: JsonServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint)
        outcome = search(
            repository,
            tmp_path,
            rerankerProvider="cohere",
            rerankerEndpoint=server.url,
            rerankerModelID="rerank-v3.5",
            rerankerApiKeyCommand=f'{sys.executable} -c "print({KEY!r})"',
        )
    assert outcome.paths[0] == FAVOURITE
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert server.requests[0].body["model"] == "rerank-v3.5"
    (span,) = collector.spans_named("searchAgent.rerank")
    assert span.attributes["rerankerModelID"] == "rerank-v3.5"
    read = sum(len(request.body["documents"]) for request in server.requests)
    assert span.attributes["candidateCount"] == read
    output = b"".join(collector.bodies).decode("utf-8", "replace") + outcome.out + outcome.err
    assert KEY not in output


def test_a_failing_server_is_reported_as_degraded_and_the_order_is_kept(
    repository: Path, tmp_path: Path, server: JsonServer
) -> None:
    server.answer = lambda request: Reply({"error": f"no {KEY}"}, status=500)
    outcome = search(
        repository,
        tmp_path,
        rerankerProvider="jina",
        rerankerEndpoint=server.url,
        rerankerApiKey=KEY,
    )
    assert outcome.paths[0] == "src/net/retry.py"
    assert outcome.data["degraded"] == ["reranker"]
    assert "HTTP 500" in outcome.err
    assert KEY not in outcome.err + outcome.out


def test_a_hosted_reranker_without_a_key_gets_no_request(repository: Path, tmp_path: Path) -> None:
    outcome = search(repository, tmp_path, rerankerProvider="voyage")
    assert outcome.data["degraded"] == ["reranker"]
    assert "rerankerApiKey" in outcome.err


def test_an_unknown_provider_is_refused_with_the_known_ones(
    repository: Path, tmp_path: Path
) -> None:
    outcome = search(repository, tmp_path, rerankerProvider="llama")
    assert outcome.code == 2
    assert "llamacpp" in outcome.err


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("no-such-program-here", "No such file"),
        (f'{sys.executable} -c "raise SystemExit(3)"', "failed with 3"),
        (f'{sys.executable} -c ""', "printed nothing"),
    ],
)
def test_a_failing_key_command_is_reported(command: str, message: str, server: JsonServer) -> None:
    reranker = open_reranker(
        Config(
            reranker_provider="cohere",
            reranker_endpoint=server.url,
            reranker_api_key_command=command,
        )
    )
    with pytest.raises(RerankError, match=rf"rerankerApiKeyCommand .*{message}"):
        reranker.rerank("q", ["d"])
    assert server.requests == []


def test_a_key_command_with_an_open_quote_is_refused(server: JsonServer) -> None:
    reranker = open_reranker(
        Config(
            reranker_provider="vllm",
            reranker_endpoint=server.url,
            reranker_api_key_command="pass 'show",
        )
    )
    with pytest.raises(ConfigError, match="is not a valid command"):
        reranker.rerank("q", ["d"])
