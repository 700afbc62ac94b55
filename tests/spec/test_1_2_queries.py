"""Section 1.2 of the specification: questions and requests, by dense and sparse search."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample import FILES, MakeApp, make_repository, many_files

from rootle.app import App
from rootle.types import SearchResult

_USERS = {
    "src/users.js": "export function getUserByID(id) {\n  return db.find(id);\n}\n",
    "src/routes.js": (
        "import { getUserByID } from './users.js';\n"
        "app.get('/u', (q, r) => r.send(getUserByID(q.id)));\n"
    ),
    "src/redis.js": (
        "// Initialize the client of Redis.\n"
        "export const client = createClient({ url: process.env.REDIS_URL });\n"
    ),
}


@pytest.fixture
def app(tmp_path: Path, make_app: MakeApp) -> App:
    files = {**many_files(60, functions=3), **FILES, **_USERS}
    return make_app(make_repository(tmp_path / "repo", files))


def _search(app: App, question: str) -> tuple[str, list[SearchResult]]:
    response = app.search(question, explain=True)
    assert response.degraded == ()
    assert response.interpretation is not None
    return response.interpretation.intent, list(response.results)


@pytest.mark.slow
def test_a_free_text_question_is_answered(app: App) -> None:
    intent, results = _search(app, "How do I initialize a Redis client in Node.js?")
    assert intent == "howto"
    assert results[0].file_path == "src/redis.js"


@pytest.mark.slow
def test_a_structured_request_finds_usages_before_the_definition(app: App) -> None:
    intent, results = _search(app, "Find usages of function `getUserByID`")
    assert intent == "usage"
    assert [result.file_path for result in results[:2]] == ["src/routes.js", "src/users.js"]
    intent, results = _search(app, "getUserByID")
    assert intent == "symbol"
    assert results[0].file_path == "src/users.js"


def test_results_are_the_union_of_both_legs_without_duplicates(app: App) -> None:
    # No file contains the word "tries", so that only vectors find some of the results.
    _, results = _search(app, "tries evict")
    sources = {result.source for result in results}
    assert "dense" in sources
    assert sources & {"merged", "sparse"}
    paths = [result.file_path for result in results]
    assert len(paths) == len(set(paths))
