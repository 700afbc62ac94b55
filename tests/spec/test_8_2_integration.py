"""Section 8.2 of the specification: whole searches over real servers."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from json_server import Reply, Request, serving
from real_servers import RealServer
from sample import MakeApp, write_tree

from rootle.app import App
from rootle.types import SearchQuery

pytestmark = pytest.mark.server

_DAY_S = 86_400
_FILES: Mapping[str, str] = {
    "src/users.js": """\
// Adds a user to the store and returns its id.
export function addUser(store, name) {
  store.users.push({ id: store.nextId, name });
  return store.nextId++;
}
""",
    "src/routes.js": """\
import { addUser } from "./users.js";

export function register(app, store) {
  app.post("/users", (request, response) => response.send(addUser(store, request.body.name)));
}
""",
    "src/mailer.js": """\
export function sendMail(address, subject) {
  return transport.deliver({ to: address, subject });
}
""",
    "tools/report.py": '''\
def monthly_report(orders):
    """Sums orders by month."""
    return group_by_month(orders)
''',
    "tools/admin.py": '''\
def add_user(client, name):
    """Asks the server to add a user."""
    return client.post("/users", {"name": name})
''',
}


@pytest.fixture(params=["chroma + opensearch", "weaviate + weaviate"])
def settings(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Return settings with a dense and a sparse index on real servers."""
    dense, sparse = request.param.split(" + ")
    servers: dict[str, RealServer] = {
        name: request.getfixturevalue(name) for name in {dense, sparse}
    }
    return {
        "dense_backend": dense,
        "dense_endpoint": servers[dense].url,
        "sparse_backend": sparse,
        "sparse_endpoint": servers[sparse].url,
        # Long, because the machine may be busy, and the test checks only the answer.
        "dense_timeout_ms": 20_000,
        "sparse_timeout_ms": 20_000,
    }


def _ask(app: App, question: str, **filters: Any) -> list[str]:
    answer = app.search(SearchQuery(question, **filters))
    assert answer.degraded == ()  # both servers answered and are complete
    return [result.file_path for result in answer.results]


def test_8_2_1_indexing_and_search_end_to_end(
    tmp_path: Path, make_app: MakeApp, settings: dict[str, str | int]
) -> None:
    app = make_app(write_tree(tmp_path / "project", _FILES), **settings)
    report = app.index()
    assert report.files_indexed == len(_FILES)
    answer = app.search("function addUser")
    assert answer.degraded == ()
    first = answer.results[0]
    assert first.file_path == "src/users.js"
    assert "function addUser(store, name)" in first.snippet
    assert first.source == "merged"
    relevant = [result.file_path for result in answer.results[:3]]
    assert set(relevant) == {"src/users.js", "src/routes.js", "tools/admin.py"}


def test_8_2_2_filtering_by_language_and_recency(
    tmp_path: Path, make_app: MakeApp, settings: dict[str, str | int]
) -> None:
    text = _FILES["src/users.js"]
    root = write_tree(tmp_path / "project", {"now.js": text, "then.js": text.replace("id", "key")})
    write_tree(root, {"admin.py": _FILES["tools/admin.py"]})
    _set_age(root, ("now.js", "admin.py"), days=0)
    _set_age(root, ("then.js",), days=90)
    # Each index returns one chunk, so filtering after the selection would leave nothing.
    app = make_app(root, dense_top_k=1, sparse_top_k=1, **settings)
    app.index()
    for question in ("function addUser", "add a user to the store", "then addUser"):
        recent = _ask(app, question, min_recency_days=30)
        assert recent
        assert "then.js" not in recent
        assert _ask(app, question, min_recency_days=30, languages=("javascript",)) == ["now.js"]
        assert _ask(app, question, languages=("python",)) == ["admin.py"]
        assert _ask(app, question, file_paths=("then.js",)) == ["then.js"]


@pytest.mark.parametrize("is_on", [True, False])
def test_8_2_3_learned_reranker_integration(tmp_path: Path, make_app: MakeApp, is_on: bool) -> None:
    def promote(request: Request) -> Reply:
        likes = [text.startswith("src/mailer.js") for text in request.body["documents"]]
        results = [
            {"index": at, "relevance_score": like} for at, like in enumerate(map(float, likes))
        ]
        return Reply({"results": results})

    with serving(promote) as model:
        app = make_app(
            write_tree(tmp_path / "project", _FILES),
            use_learned_reranker=is_on,
            reranker_provider="llamacpp",
            reranker_endpoint=model.url,
            reranker_timeout_ms=20_000,
        )
        first = _ask(app, "add a user to the store")[0]
    assert (first == "src/mailer.js") is is_on
    assert bool(model.requests) == is_on


def test_filters_pass_exactly_the_matching_files(
    tmp_path: Path, make_app: MakeApp, settings: dict[str, str | int]
) -> None:
    """Check random trees and filters; each server may return only three chunks."""
    rng = Random(8)
    names = [
        f"{folder}/{stem}.{ending}"
        for folder in ("src", "src/deep", "docs", "tools")
        for stem in ("alpha", "beta", "gamma")
        for ending in ("py", "js", "md")
    ]
    files = {name: f"{_FILES['tools/admin.py']}\n# {name}\n" * rng.randint(1, 3) for name in names}
    root = write_tree(tmp_path / "project", files)
    _set_age(root, names, days=0)
    _set_age(root, rng.sample(names, 12), days=90)
    app = make_app(root, dense_top_k=3, sparse_top_k=3, **settings)
    app.index()
    for _ in range(12):
        filters: dict[str, Any] = {}
        if rng.random() < 0.7:
            filters["file_paths"] = tuple(rng.sample(["src", "src/deep", "docs", "tools/a*"], 2))
        if rng.random() < 0.7:
            filters["languages"] = tuple(rng.sample(["python", "javascript", "markdown"], 1))
        if rng.random() < 0.5:
            filters["min_recency_days"] = 30
        found = _ask(app, "add a user on the server", limit=50, **filters)
        matching = {path for path in names if _passes(root / path, path, filters)}
        assert set(found) <= matching, filters
        assert bool(found) == bool(matching), filters


def _passes(file: Path, path: str, filters: Mapping[str, Any]) -> bool:
    """Return whether a file passes the filters, computed independently."""
    endings = {"python": ".py", "javascript": ".js", "markdown": ".md"}
    starts = tuple(name.rstrip("*") for name in filters.get("file_paths", ("",)))
    wanted = tuple(endings[name] for name in filters.get("languages", endings))
    is_recent = file.stat().st_mtime > time.time() - 30 * _DAY_S
    return (
        path.startswith(starts)
        and path.endswith(wanted)
        and (is_recent or "min_recency_days" not in filters)
    )


def _set_age(root: Path, names: Iterable[str], *, days: int) -> None:
    then = time.time() - days * _DAY_S
    for name in names:
        os.utime(root / name, (then, then))
