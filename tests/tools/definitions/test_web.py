"""The tools `web_search` and `web_read`, which the configuration enables."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from json_server import Reply, serving
from sample import MakeApp

from rootle.config.precedence import read_settings
from rootle.errors import ConfigError, RefusedError, UnavailableError
from rootle.tools import create_tools
from rootle.tools.definitions.web import web_read, web_search
from rootle.tools.tool import Answer, Tool

_SEARXNG = {"results": [{"url": "https://e.com/", "title": "Found", "content": "Words"}]}
# A program that searches without the package `ddgs`.
_WITHOUT_PACKAGE = """\
import sys
sys.modules["ddgs"] = None
from rootle import Config, open_app
from rootle.tools import create_tools
app = open_app(".", config=Config(web_search=True))
for tool in create_tools(app):
    if tool.name == "web_search":
        print(tool("anything"))
"""
_LIST_IMPORTS = """\
import sys
from rootle import Config, open_app
from rootle.tools import create_tools
create_tools(open_app(".", config=Config(web_search=True)))
print([name for name in ("ddgs", "lxml", "primp", "html_to_markdown", "http.client")
       if name in sys.modules])
"""


def tool_of(tools: tuple[Tool, ...], name: str) -> Tool:
    return next(tool for tool in tools if tool.name == name)


def names(tools: tuple[Tool, ...]) -> set[str]:
    return {tool.name for tool in tools}


def test_the_web_tools_are_off_by_default(make_app: MakeApp, repository: Path) -> None:
    assert not {"web_search", "web_read"} & names(create_tools(make_app(repository)))


def test_the_configuration_enables_the_web_tools(make_app: MakeApp, repository: Path) -> None:
    tools = create_tools(make_app(repository, web_search=True))
    assert {"web_search", "web_read"} <= names(tools)
    for name, parameter in (("web_search", "query"), ("web_read", "url")):
        tool = tool_of(tools, name)
        assert tool.parameters[0].name == parameter
        assert tool.is_open_world
        assert tool.is_read_only


def test_a_repository_can_neither_enable_the_web_nor_set_keys(repository: Path) -> None:
    for key, value in (("webSearch", True), ("braveApiKey", "k"), ("searxngEndpoint", "http://x")):
        (repository / ".rootle.json").write_text(json.dumps({"searchAgent": {key: value}}))
        settings = read_settings(repository)
        assert not settings.config.web_search
        assert not settings.config.brave_api_key
        assert not settings.config.searxng_endpoint
        assert any(key in warning for warning in settings.warnings)


def test_keys_are_not_read_from_the_environment(
    make_app: MakeApp, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY", "EXA_API_KEY", "SEARXNG_URL"):
        monkeypatch.setenv(name, "something")
    app = make_app(repository, web_search=True)
    assert [provider.label for provider in app.web_engines.providers] == ["DuckDuckGo"]


@pytest.mark.parametrize("blank", ["", "  ", "\n"])
def test_a_blank_key_counts_as_missing(make_app: MakeApp, repository: Path, blank: str) -> None:
    app = make_app(repository, web_search=True, brave_api_key=blank, exa_api_key=blank)
    assert [provider.label for provider in app.web_engines.providers] == ["DuckDuckGo"]


def test_engines_with_a_key_or_an_endpoint_are_used(make_app: MakeApp, repository: Path) -> None:
    app = make_app(
        repository,
        web_search=True,
        brave_api_key="key",
        exa_api_key_command="pass show exa",
        searxng_endpoint="http://127.0.0.1:8888",
    )
    labels = [provider.label for provider in app.web_engines.providers]
    assert labels == ["DuckDuckGo", "Brave", "Exa", "SearXNG"]


def test_an_unused_key_is_reported(make_app: MakeApp, repository: Path) -> None:
    app = make_app(repository, brave_api_key="k-secret", searxng_endpoint="http://127.0.0.1:8888")
    assert app.status().unused_settings == (
        "braveApiKey is not used: webSearch is false",
        "searxngEndpoint is not used: webSearch is false",
    )


def test_keys_are_hidden_in_representations(make_app: MakeApp, repository: Path) -> None:
    app = make_app(repository, web_search=True, brave_api_key="k-secret", exa_api_key="k-secret")
    assert "k-secret" not in repr(app.config)


def test_a_search_is_answered_by_an_engine_and_cached(
    make_app: MakeApp, repository: Path, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    # The fake DuckDuckGo never answers, so SearXNG does, regardless of the order.
    with serving(lambda request: Reply(raw=b"", status=202)) as duck:
        monkeypatch.setattr(
            "rootle.web.engines.duckduckgo.DuckDuckGo.__init__.__kwdefaults__", {"url": duck.url}
        )
        with serving(lambda request: Reply(_SEARXNG)) as server:
            app = make_app(repository, web_search=True, searxng_endpoint=server.url)
            search = tool_of(create_tools(app), "web_search")
            expected = "## Search Results\n\n[Found](https://e.com/)\nWords"
            assert search("  where is  it ") == expected
            other = make_app(repository, web_search=True, searxng_endpoint=server.url)
            assert tool_of(create_tools(other), "web_search")("where is it") == expected
            assert len(server.requests) == 1
            assert len(duck.requests) <= 1
    cache = home / "cache" / "rootle" / "web_search"
    assert len(list(cache.iterdir())) == 1


def test_pages_of_private_networks_are_not_read(make_app: MakeApp, repository: Path) -> None:
    with serving(lambda request: Reply(raw=b"secret")) as server:
        read = tool_of(create_tools(make_app(repository, web_search=True)), "web_read")
        answer = read.run(f"{server.url}/admin")
        assert answer.is_error
        assert "is not on the public internet" in answer.text
        assert server.connections == 0


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_argument_is_an_error(text: str) -> None:
    assert web_search(str).run(text).text == "Error: query is empty"
    assert web_read(str).run(text).text == "Error: url is empty"


@pytest.mark.parametrize(
    "error", [RefusedError("the key is refused", 401), UnavailableError("half \ud800")]
)
def test_failures_are_answered_with_an_error(error: Exception) -> None:
    def fail(text: str) -> str:
        raise error

    for tool in (web_search(fail), web_read(fail)):
        answer = tool.run("x")
        assert answer.is_error
        assert answer.text == f"Error: {error}".replace("\ud800", "?")


def test_a_bug_raises() -> None:
    def fail(text: str) -> str:
        raise KeyError(text)

    with pytest.raises(KeyError):
        web_search(fail).run("x")


def test_the_answer_is_an_error_if_no_engine_is_available() -> None:
    text = "Error: all search providers temporarily unavailable: Brave (HTTP 503)"
    answer = web_search(lambda query: text).run("x")
    assert answer == Answer(text, {"error": text.removeprefix("Error: ")}, is_error=True)


@pytest.mark.slow
def test_the_error_without_the_package_names_the_extra(repository: Path) -> None:
    printed = run(_WITHOUT_PACKAGE, repository)
    assert printed == "Error: web search requires more packages: pip install 'rootle[web]'\n"


@pytest.mark.slow
def test_web_packages_are_imported_only_when_needed(repository: Path) -> None:
    assert run(_LIST_IMPORTS, repository) == "[]\n"


def run(program: str, folder: Path) -> str:
    command = [sys.executable, "-c", program]
    environment = {**os.environ}
    child = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert child.returncode == 0, child.stderr
    return child.stdout


def test_every_engine_can_be_switched_off(make_app: MakeApp, repository: Path) -> None:
    keys = {"brave_api_key": "k", "exa_api_key": "k", "searxng_endpoint": "http://localhost:1"}
    labels = {"duckduckgo": "DuckDuckGo", "brave": "Brave", "exa": "Exa", "searxng": "SearXNG"}
    for name in labels:
        others = tuple(other for other in labels if other != name)
        app = make_app(repository, web_search=True, web_engines=others, **keys)
        found = [provider.label for provider in app.web_engines.providers]
        assert found == [labels[other] for other in others]


def test_duckduckgo_receives_no_request_if_it_is_switched_off(
    make_app: MakeApp, repository: Path
) -> None:
    with serving(lambda request: Reply({"results": []})) as server:
        app = make_app(
            repository, web_search=True, web_engines=("searxng",), searxng_endpoint=server.url
        )
        search = tool_of(create_tools(app), "web_search")
        for number in range(20):
            assert search(f"query {number}") == "No results found."
        assert len(server.requests) == 20


def test_a_configuration_without_engines_is_an_error_with_a_remedy(
    make_app: MakeApp, repository: Path
) -> None:
    app = make_app(repository, web_search=True, web_engines=("brave",))
    answer = tool_of(create_tools(app), "web_search")("x")
    assert answer.startswith("Error: no search engine is configured: webEngines is ['brave']")


def test_status_names_the_key_of_an_engine_that_is_switched_off(
    make_app: MakeApp, repository: Path
) -> None:
    app = make_app(repository, web_search=True, web_engines=("exa",), brave_api_key="k")
    unused = "braveApiKey is not used: webEngines does not contain brave"
    assert unused in app.status().unused_settings


def test_an_unknown_engine_is_refused(repository: Path) -> None:
    with pytest.raises(ConfigError, match='contains "bing", expected some of duckduckgo, brave'):
        read_settings(repository, None, ['webEngines=["bing"]'])
