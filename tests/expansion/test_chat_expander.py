"""Query expansion over HTTP: the chat API of OpenAI, and every fault of a server."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from json_server import JsonServer, Reply, Request, completion, serving
from sample import MakeApp, indexed_repository

from rootle.config.fields import Config
from rootle.errors import ConfigError, UnavailableError
from rootle.expansion.chat_expander import ChatExpander, chat_url
from rootle.expansion.factory import open_expander
from rootle.protocols import QueryExpander

KEY = "sk-very-secret-0123456789"
QUESTION = "which entry goes first when there is no room left"


@pytest.fixture
def server() -> Iterator[JsonServer]:
    with serving(lambda request: completion("evict the oldest entry, evict_oldest")) as running:
        yield running


@pytest.fixture(scope="module")
def llama_chat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start the server of llama.cpp with a tiny language model; return its address."""
    model = tmp_path_factory.mktemp("model") / "chat.gguf"
    program = Path(__file__).parent / "tiny_chat_model.py"
    subprocess.run([sys.executable, program, "make", model], check=True)
    process = subprocess.Popen(
        [sys.executable, program, "serve", model],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.kill()


@pytest.mark.slow
def test_llamacpp_answers_a_question_with_words(llama_chat: str) -> None:
    expander = ChatExpander(llama_chat, timeout_s=60)
    words = expander.expand(QUESTION)
    assert len(words.split()) > 5
    assert words.isascii()
    assert expander.expand(QUESTION) == words
    assert expander.expand("\ud800 half of ünï → 漢")


@pytest.mark.slow
def test_a_search_uses_the_words_of_llamacpp(llama_chat: str, make_app: MakeApp) -> None:
    root, index_dir = indexed_repository()
    settings = {"expand_endpoint": llama_chat, "expand_timeout_ms": 60_000}
    response = make_app(root, index_dir=index_dir, **settings).search(QUESTION, explain=True)
    assert response.degraded == ()
    assert response.interpretation is not None
    assert response.interpretation.expansion == ChatExpander(llama_chat).expand(QUESTION)


@pytest.mark.slow
def test_llamacpp_with_a_model_that_cannot_chat_raises_an_error(llama: str) -> None:
    with pytest.raises(UnavailableError, match="HTTP"):
        ChatExpander(llama, timeout_s=60).expand(QUESTION)


@pytest.mark.slow
def test_llamacpp_refuses_a_question_that_is_too_long(llama_chat: str) -> None:
    with pytest.raises(UnavailableError, match="exceed"):
        ChatExpander(llama_chat, timeout_s=60).expand("why " * 4_000)


def test_a_request_follows_the_api_and_contains_the_question(server: JsonServer) -> None:
    expander: QueryExpander = ChatExpander(server.url, "small", key=lambda: KEY)
    assert expander.expand(QUESTION) == "evict the oldest entry, evict_oldest"
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert (request.body["model"], request.body["stream"]) == ("small", False)
    assert request.body["temperature"] == 0
    system, user = request.body["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    assert "the words that the code, its comments or its documents would use" in system["content"]
    assert QUESTION in user["content"]


def test_without_a_model_and_a_key_neither_is_sent(server: JsonServer) -> None:
    ChatExpander(server.url).expand(QUESTION)
    assert "model" not in server.requests[0].body
    assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize(
    ("endpoint", "url"),
    [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/chat/completions"),
        ("http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1/chat/completions"),
        ("https://host/api/v1", "https://host/api/v1/chat/completions"),
        ("https://host/v1/chat/completions", "https://host/v1/chat/completions"),
        ("https://host/x?api-version=1", "https://host/x/chat/completions?api-version=1"),
    ],
)
def test_an_endpoint_may_contain_part_of_the_path(endpoint: str, url: str) -> None:
    assert chat_url(endpoint) == url


def test_an_invalid_endpoint_is_refused() -> None:
    with pytest.raises(ConfigError, match="is not a URL"):
        ChatExpander("http://")


def test_a_question_of_invalid_unicode_is_sent_with_replacements(server: JsonServer) -> None:
    ChatExpander(server.url).expand("half \ud800 of a pair")
    assert "half ? of a pair" in server.requests[0].body["messages"][1]["content"]


def test_options_that_a_model_refuses_are_left_out(server: JsonServer) -> None:
    def refuse_options(request: Request) -> Reply:
        if "temperature" in request.body:
            return Reply({"error": {"message": "unsupported value: temperature"}}, status=400)
        return completion("evict_oldest")

    server.answer = refuse_options
    expander = ChatExpander(server.url)
    assert expander.expand(QUESTION) == "evict_oldest"
    assert expander.expand(QUESTION) == "evict_oldest"
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (Reply({"error": f"no {KEY}"}, status=401), "refuses the key"),
        (Reply({"error": "slow down"}, status=429, headers={"Retry-After": "30"}), "HTTP 429"),
        (Reply({"error": "loading the model"}, status=503), "HTTP 503"),
        (Reply({"error": f"no {KEY}"}, status=500), "HTTP 500"),
        (Reply({"error": "no such model"}, status=404), "HTTP 404"),
        (Reply({"error": "no such field"}, status=400), "HTTP 400"),
        (Reply(raw=b"<html>busy</html>"), "invalid JSON"),
        (Reply(raw=b'data: {"choices": [{"delta": {}}]}\n\n' * 9), "invalid JSON"),
        (Reply(raw=b""), "sent no words"),
        (Reply([]), "sent no words"),
        (Reply({"choices": []}), "sent no words"),
        (Reply({"choices": [{"message": None}]}), "sent no words"),
        (completion(None), "sent no words"),
        (completion(["evict"]), "sent no words"),
        (completion(""), "sent no words"),
        (completion(' "" `` ... '), "sent no words"),
        (completion("<think>what is an entry"), "sent no words"),
        (completion("word " * 100_000), "larger than"),
        (Reply({"choices": []}, cut=True), "cannot be reached"),
    ],
)
def test_every_fault_raises_an_error_without_the_key(
    reply: Reply, message: str, server: JsonServer
) -> None:
    server.answer = lambda request: reply
    expander = ChatExpander(server.url, key=lambda: KEY, timeout_s=20)
    with pytest.raises(UnavailableError, match=message) as caught:
        expander.expand(QUESTION)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("reply", [Reply(hang=True), Reply(raw=b" " * 10_000, drip_s=0.01)])
def test_a_silent_server_and_an_endless_stream_end_at_the_deadline(
    reply: Reply, server: JsonServer
) -> None:
    server.answer = lambda request: reply
    with pytest.raises(UnavailableError, match=r"did not answer within 0\.2 s"):
        ChatExpander(server.url, timeout_s=0.2).expand(QUESTION)


def test_a_server_that_is_down_raises_an_error(server: JsonServer) -> None:
    server.close()
    with pytest.raises(UnavailableError, match="cannot be reached"):
        ChatExpander(server.url).expand(QUESTION)


def test_a_refused_key_is_read_again(server: JsonServer) -> None:
    def refuse_old(request: Request) -> Reply:
        is_old = request.headers["authorization"] == "Bearer old"
        return Reply({}, status=401) if is_old else completion("evict_oldest")

    server.answer = refuse_old
    keys = iter(["old", "new"])
    expander = ChatExpander(server.url, key=lambda: next(keys))
    with pytest.raises(UnavailableError, match="refuses the key"):
        expander.expand(QUESTION)
    assert expander.expand(QUESTION) == "evict_oldest"


def test_the_configured_command_prints_the_key(server: JsonServer) -> None:
    command = f'{sys.executable} -c "print({KEY!r})"'
    config = Config(expand_endpoint=server.url, expand_api_key_command=command)
    open_expander(config).expand(QUESTION)
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.slow
def test_a_failing_key_command_is_reported_and_nothing_is_sent(server: JsonServer) -> None:
    config = Config(expand_endpoint=server.url, expand_api_key_command="no-such-program-here")
    with pytest.raises(UnavailableError, match=r"expandApiKeyCommand .*No such file"):
        open_expander(config).expand(QUESTION)
    assert server.requests == []
