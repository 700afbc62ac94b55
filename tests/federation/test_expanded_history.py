"""An LLM server adds words to questions about the past.

If the server fails, the questions are answered without additional words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from commit_repository import make_history
from json_server import JsonServer, Reply, completion, serving
from sample import MakeApp

from rootle import App
from rootle.types import SearchQuery, SearchResponse

pytestmark = pytest.mark.slow

SUBJECTS = tuple(f"{name} gets the zebra" for name in "Alpha Beta Gamma Delta".split())
TARGET = "Throttle the uploader when the quota is exhausted"
# The words of the question match other commits. The server replies with the words of TARGET.
HARD = "who added the last animal"
ONLY_COMMITS = f"in:history {HARD}"
WORDS = "throttle uploader quota exhausted"
DOWN = Reply({}, status=500)


@pytest.fixture
def server() -> Iterator[JsonServer]:
    with serving(lambda request: completion(WORDS)) as running:
        yield running


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_history(tmp_path / "repo", (TARGET, *SUBJECTS))


@pytest.fixture
def app(root: Path, make_app: MakeApp, server: JsonServer) -> App:
    app: App = make_app(root, expand_endpoint=server.url)
    app.index_history()
    return app


def subjects_of(response: SearchResponse) -> list[str]:
    return [result.commit.subject for result in response.results if result.commit]


def sent(server: JsonServer) -> list[str]:
    """Return the questions that the server received."""
    texts = [request.body["messages"][-1]["content"] for request in server.requests]
    return [text.removeprefix("Question: ").removesuffix("\nQuery:") for text in texts]


def test_the_words_of_the_server_find_a_commit(
    app: App, root: Path, make_app: MakeApp, server: JsonServer
) -> None:
    plain = make_app(root, index_dir=app.index_dir)
    assert subjects_of(plain.search(ONLY_COMMITS))[:1] != [TARGET]

    response = app.search(ONLY_COMMITS, explain=True)

    assert subjects_of(response)[0] == TARGET
    assert response.degraded == ()
    assert response.interpretation is not None
    assert response.interpretation.expansion == WORDS
    assert sent(server) == [HARD]  # the question was sent without `in:history`


def test_a_question_about_commits_and_files_is_sent_once(app: App, server: JsonServer) -> None:
    response = app.search(HARD)

    assert subjects_of(response)[0] == TARGET
    assert any(result.commit is None for result in response.results)
    assert sent(server) == [HARD]


@pytest.mark.parametrize("text", ["HEAD~2..HEAD", 'in:history "the zebra"', "in:history zebra"])
def test_ranges_phrases_and_names_are_not_sent(text: str, app: App, server: JsonServer) -> None:
    assert app.search(text).results
    assert server.requests == []


def test_a_query_can_decline_the_expansion(app: App, server: JsonServer) -> None:
    assert app.search(SearchQuery(ONLY_COMMITS, expand=False)).degraded == ()
    assert server.requests == []


@pytest.mark.parametrize("fault", [DOWN, Reply(raw=b"<html>"), Reply(hang=True)])
def test_a_failure_leaves_the_question_as_typed(
    fault: Reply, root: Path, make_app: MakeApp, app: App, server: JsonServer
) -> None:
    server.answer = lambda request: fault
    index_dir = app.index_dir
    late = make_app(root, index_dir=index_dir, expand_endpoint=server.url, expand_timeout_ms=100)
    plain = make_app(root, index_dir=index_dir)

    response = late.search(HARD)

    assert response.degraded == ("expansion",)
    assert response.results == plain.search(HARD).results
    assert len(server.requests) <= 1  # searching the files sends no second request


@pytest.mark.parametrize("limit", [1, 2, 3])
@pytest.mark.parametrize("answer", [completion(WORDS), DOWN])
def test_pages_continue_the_ranking_of_the_first_page(
    answer: Reply, limit: int, app: App, server: JsonServer
) -> None:
    server.answer = lambda request: answer
    query = SearchQuery(HARD, limit=limit)
    page = app.search(query)
    degraded = page.degraded
    paths = [result.file_path for result in page.results]
    server.answer = lambda request: completion("beta")
    while page.next_cursor:
        page = app.search(replace(query, cursor=page.next_cursor))
        paths += [result.file_path for result in page.results]
        assert page.degraded == degraded

    assert len(paths) == len(set(paths)) == 10
    assert degraded == (("expansion",) if answer is DOWN else ())
    assert len(server.requests) == 1
