"""Filters are exact: the dense and the sparse search apply them before any limit."""

from __future__ import annotations

import fnmatch
import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from fuzz_inputs import bounded_time
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sample import MakeApp, git, write, write_tree

from rootle.app import App, open_app
from rootle.config.fields import Config
from rootle.errors import QueryError
from rootle.rank.path_features import matches_path
from rootle.search.query.file_filters import _path_search
from rootle.text.path_glob import compile_glob, matches_glob
from rootle.types import SearchQuery

_DAY_S = 86_400
_FOLDERS = ("src", "src/net", "src/net/http", "lib", "docs", "tests/unit", "a b")
_LANGUAGES = {"py": "python", "go": "go", "rs": "rust", "md": "markdown", "ts": "typescript"}
_WORDS = "retry token ledger cipher packet shard quorum basket".split()


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[App, dict[str, float]]]:
    """Yield an app whose files nearly all match, and the age of each file in days.

    The dense and the sparse search return at most five chunks each.
    """
    folder, rng = tmp_path_factory.mktemp("filters"), Random(5)
    ages = {}
    for number in range(120):
        ending = rng.choice(list(_LANGUAGES))
        path = f"{rng.choice(_FOLDERS)}/file_{number}.{ending}"
        ages[path] = rng.choice([0.5, 3, 20, 100, 1_000])
        words = " ".join(rng.choices(_WORDS, k=rng.randrange(5, 60)))
        text = f"# zebra {number}\n\n{words}\n"
        write(folder / "repo", path, text, when_s=time.time() - ages[path] * _DAY_S)
    config = Config(sparse_top_k=5, dense_top_k=5, enable_cache=False)
    with open_app(folder / "repo", index_dir=folder / "index", config=config) as app:
        app.index()
        yield app, ages


_CELLS = (
    {"cell_type": "markdown", "source": "The zebra study"},
    {"cell_type": "code", "source": "zebra = 1", "outputs": []},
)
_NOTEBOOK = {"cells": _CELLS, "metadata": {"language_info": {"name": "python"}}}
_DOCUMENTS: Mapping[str, str] = {
    "man/zebra.1": ".TH ZEBRA 1\n.SH NAME\nzebra - counts stripes\n",
    "standup.vtt": "WEBVTT\n\n00:01.000 --> 00:02.000\nWe postpone the zebra release.\n",
    "news.eml": "From: ada@example.com\nSubject: News\n\nThe zebra release is late.\n",
    "flow.mmd": "flowchart LR\n  zebra --> stripes\n",
    "notes.md": "# Notes\n\nA zebra.\n",
}
_BOTH: Mapping[str, str] = {
    "study.ipynb": json.dumps(_NOTEBOOK),
    "counts.csv": "animal,count\nzebra,3\n",
    "docs/design.html": "<h1>Zebra</h1>\n<p>A zebra has stripes.</p>\n",
}
_CODE: Mapping[str, str] = {
    "zebra.py": "def zebra():\n    return 1\n",
    "src/page.html": "<p>{{ zebra }}</p>\n",
    "zebra.yaml": "zebra: 1\n",
    "server.log.1": "2024-03-31 zebra started\n",
}


@pytest.mark.slow
def test_a_file_is_a_document_or_code_depending_on_its_readers(
    tmp_path: Path, make_app: MakeApp
) -> None:
    root = write_tree(tmp_path / "repo", {**_DOCUMENTS, **_BOTH, **_CODE})
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Add all")
    app = make_app(root)

    def find(query: str) -> dict[str, str]:
        results = app.search(SearchQuery(f'"zebra" {query}', limit=50)).results
        return {result.file_path.rpartition(":")[2]: result.kind for result in results}

    for version in ("", " at:HEAD"):
        assert find(f"in:docs{version}").keys() == {*_DOCUMENTS, *_BOTH}
        assert find(f"in:code{version}").keys() == {*_BOTH, *_CODE}
    assert {path for path, kind in find("").items() if kind == "docs"} == set(_DOCUMENTS)


@pytest.mark.slow
def test_headers_pass_a_filter_for_cpp_in_a_project_with_cpp_files(
    tmp_path: Path, make_app: MakeApp
) -> None:
    both = {
        "zebra.h": "int zebra(int stripes);\n",
        "src/zebra.c": "int zebra(int n) { return n; }\n",
    }
    source = {"zebra.cc": "void Zebra::run() { zebra(2); }\n"}
    folder = write_tree(tmp_path / "mixed", {**both, **source})
    mixed = make_app(folder, index_dir=tmp_path / "mixed-index")
    plain = make_app(write_tree(tmp_path / "plain", both))

    def find(app: App, query: SearchQuery) -> set[str]:
        return {result.file_path for result in app.search(query).results}

    for name in ("cpp", "c++"):
        query = SearchQuery("zebra", languages=(name,))
        assert find(mixed, query) == {"zebra.h", "zebra.cc"}
        assert find(mixed, SearchQuery(f"zebra lang:{name}")) == {"zebra.h", "zebra.cc"}
        assert find(plain, query) == set()
    for app in (mixed, plain):
        assert find(app, SearchQuery("zebra", languages=("c",))) == both.keys()


_paths = st.lists(
    st.sampled_from(
        [*_FOLDERS, "src/", "*.py", "src/*.rs", "*/file_1?.*", "nowhere", "tests", ".", "*7*"]
    ),
    min_size=1,
    max_size=3,
)


@pytest.mark.slow
@given(
    paths=st.none() | _paths,
    languages=st.none() | st.lists(st.sampled_from(list(_LANGUAGES)), min_size=1, max_size=2),
    days=st.none() | st.sampled_from([1.0, 10.0, 50.0, 500.0, 5_000.0]),
    question=st.sampled_from(["zebra", "ledger of the quorum", "retry_token", '"zebra" cipher']),
)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_exactly_the_files_that_pass_the_filter_are_found(
    tree: tuple[App, dict[str, float]],
    paths: list[str] | None,
    languages: list[str] | None,
    days: float | None,
    question: str,
) -> None:
    app, ages = tree
    passing = {
        path
        for path, age in ages.items()
        if (paths is None or any(_is_under(path, wanted) for wanted in paths))
        and (languages is None or path.rpartition(".")[2] in languages)
        and (days is None or age < days)
    }
    query = SearchQuery(
        question,
        file_paths=None if paths is None else tuple(paths),
        languages=None if languages is None else tuple(languages),
        min_recency_days=days,
        limit=50,
    )
    response = app.search(query)
    found = {result.file_path for result in response.results}
    found |= {path for result in response.results for path in result.duplicates}
    assert found <= passing
    assert bool(found) == bool(passing)
    if not found:
        assert response.suggestions


def _is_under(path: str, wanted: str) -> bool:
    wanted = wanted.rstrip("/")
    return wanted == "." or path.startswith(f"{wanted}/") or fnmatch.fnmatchcase(path, wanted)


@pytest.mark.slow
@given(st.text(max_size=20) | st.text("ab*?[]!-/.\\", max_size=20), st.text("ab/.-é", max_size=20))
def test_any_path_is_a_valid_filter(typed: str, path: str) -> None:
    matches_path(path, typed)
    _path_search([typed])(path)


@pytest.mark.parametrize(
    ("glob", "matching", "other"),
    [
        (
            "src/**/*.py",
            ["src/a.py", "src/net/a.py", "src/net/http/a.py"],
            ["a.py", "lib/src/a.py"],
        ),
        ("**/test_*.py", ["test_a.py", "src/test_a.py"], ["src/my_test_a.py"]),
        (
            "**/net/**/a.?s",
            ["net/a.ts", "src/net/a.rs", "src/net/http/a.ts"],
            ["src/internet/a.ts"],
        ),
        ("./src/**/**/a.py", ["src/a.py", "src/net/http/a.py"], ["src/ba.py"]),
        ("src/**", ["src/a.py", "src/net/a.py"], ["src"]),
    ],
)
def test_two_stars_and_a_slash_match_any_number_of_folders(
    glob: str, matching: list[str], other: list[str]
) -> None:
    for path in matching:
        assert matches_path(path, glob)
        assert _path_search([glob.upper()])(path)
        assert _path_search([glob])(f"lib/{path}")
    assert not any(matches_path(path, glob) for path in other)


@pytest.mark.slow
@given(st.text("ab*?[]!-/^\\", max_size=10), st.text("ab/-]^\n", max_size=10))
def test_globs_without_two_stars_are_those_of_fnmatch(glob: str, path: str) -> None:
    glob = glob.replace("**/", "*/")
    assert matches_glob(path, glob) == fnmatch.fnmatchcase(path, glob)


def test_matching_a_hostile_glob_takes_linear_time() -> None:
    for glob in ("**/a" * 100 + "b", "**/*a*/" * 100 + "b", "*a" * 100 + "b"):
        with bounded_time():
            assert not matches_glob("a/" * 2_000, glob)


def test_a_path_with_brackets_is_found() -> None:
    assert _path_search(["app/[id]/page.tsx"])("web/app/[id]/page.tsx")
    assert matches_path("app/[id]/page.tsx", "app/[id]/page.tsx")


def test_each_of_many_globs_is_compiled_once(tmp_path: Path, make_app: MakeApp) -> None:
    for number in range(20):
        write(tmp_path, f"src/f{number}.py", f"def retry_{number}():\n    return {number}\n")
    app = make_app(tmp_path)
    app.index()
    globs = [f"gone/{number}/**" for number in range(600)]
    before = compile_glob.cache_info().misses

    typed = " ".join(f"path:{glob}" for glob in globs[:300])
    app.search(SearchQuery(f"retry {typed}"))
    app.search(SearchQuery("retry", file_paths=tuple(globs[300:])))

    # The notes about the filters compile the globs again, once for each combination of filters.
    # This is much less often than once for each of the 20 files.
    assert compile_glob.cache_info().misses - before < 20 * len(globs) / 2


@pytest.mark.parametrize("date", ["2024-00", "2024-01-00", "2024-13"])
def test_a_month_or_day_that_does_not_exist_is_refused(date: str, tree: tuple[App, Any]) -> None:
    with pytest.raises(QueryError, match=f"there is no date {date}"):
        tree[0].search(SearchQuery(f"retry since:{date}"))
