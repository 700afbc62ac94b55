"""Notes and suggestions: specific advice for a question without results."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample import FILES, MakeApp, make_repository, write

from rootle.app import App
from rootle.types import SearchQuery


@pytest.fixture
def app(repository: Path, make_app: MakeApp) -> App:
    app: App = make_app(repository, no_results_suggestion="Ask the team.")
    return app


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            SearchQuery("RetryPolicy", languages=("swift",)),
            'languages "swift" excludes 3 matching files, such as src/net/retry.py',
        ),
        (
            SearchQuery("evict_oldest", file_paths=("srcs", "lib")),
            'filePaths "srcs", "lib" excludes 1 matching file, such as src/store/cache.py',
        ),
        (
            SearchQuery("evict_oldest", min_recency_days=1),
            "minRecencyDays 1 excludes 1 matching file, such as src/store/cache.py",
        ),
        (
            SearchQuery("evict_oldest path:nowhere"),
            "path:nowhere excludes 1 matching file, such as src/store/cache.py",
        ),
        (
            SearchQuery("evict_oldest until:1971"),
            "until:1971 excludes 1 matching file, such as src/store/cache.py",
        ),
        (
            SearchQuery("evict_oldest author:nobody since:2100"),
            "the combination of filters excludes 1 matching file, such as src/store/cache.py",
        ),
        (
            SearchQuery("evict_oldest", file_paths=("docs",), languages=("go",)),
            'filePaths "docs" and languages "go" together exclude every file',
        ),
        (
            SearchQuery("evict_oldest path:nowhere path:nobody"),
            "path:nowhere and path:nobody exclude 1 matching file, such as src/store/cache.py",
        ),
        (
            SearchQuery("evict_oldest path:src -path:src/"),
            "path:src and -path:src/ together exclude every file",
        ),
    ],
)
def test_a_filter_that_excludes_all_matches_is_reported(
    query: SearchQuery, expected: str, app: App
) -> None:
    response = app.search(query)
    assert response.results == ()
    assert response.suggestions == (expected, "Ask the team.")


def test_similar_names_are_suggested(tmp_path: Path, make_app: MakeApp) -> None:
    app = make_app(make_repository(tmp_path / "repo", FILES))
    query = SearchQuery("validateTokne", languages=("swift",))
    response = app.search(query)
    assert response.results == ()
    assert any("validateToken" in line for line in response.suggestions)


def test_an_empty_index_names_the_command_to_run(tmp_path: Path, make_app: MakeApp) -> None:
    (tmp_path / "empty").mkdir()
    app = make_app(tmp_path / "empty", index_dir=tmp_path / "empty-index")
    response = app.search("anything")
    assert response.results == ()
    assert response.suggestions[0].startswith("the index is empty: run `rootle index`")
    write(tmp_path / "empty", "a.py", "anything = 1\n")
    assert app.search("anything").suggestions == ()


def test_the_rule_that_empties_the_index_is_named(tmp_path: Path, make_app: MakeApp) -> None:
    root = make_repository(tmp_path / "repo", FILES)
    write(root, ".rootleignore", "/*\n")
    app = make_app(root)
    assert app.search("retry backoff").suggestions[1].startswith("`/*` in .rootleignore:1 excludes")
    assert app.status().excluded["src"] == "`/*` in .rootleignore:1"


@pytest.mark.parametrize(
    "query", ["path:build/made.py made", "where is made defined in build/made.py", "path:build x"]
)
def test_a_path_in_the_query_that_is_not_indexed_is_explained(
    query: str, tmp_path: Path, make_app: MakeApp
) -> None:
    root = make_repository(tmp_path / "repo", FILES)
    write(root, ".rootleignore", "build\n")
    write(root, "build/made.py", "def made(): ...\n")
    path = "build" if query.startswith("path:build ") else "build/made.py"
    notes = make_app(root).search(query).suggestions
    assert f"{path} is not indexed: `build` in .rootleignore:1 excludes it" in notes


def test_a_hidden_path_in_the_query_is_explained(tmp_path: Path, make_app: MakeApp) -> None:
    root = make_repository(tmp_path / "repo", FILES)
    write(root, ".rootleignore", ".ci\n")
    write(root, ".ci/build.yml", "steps: [made]\n")
    notes = make_app(root).search("the zzsteps in .ci/build.yml").suggestions
    assert ".ci/build.yml is not indexed: `.ci` in .rootleignore:1 excludes it" in notes


def test_the_configured_suggestion_follows_the_note_about_a_phrase(
    repository: Path, make_app: MakeApp
) -> None:
    app = make_app(repository, no_results_suggestion="Ask the team.")
    notes = app.search('"nothing like this"').suggestions
    assert notes[0].startswith('no indexed text has "nothing like this"')
    assert "Ask the team." in notes
