"""Collections are searched, too, if a question names them or asks about their content."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from command import rootle
from sample import MakeApp, git, write_tree

from rootle import App
from rootle.config.fields import Config
from rootle.errors import QueryError, StaleCursorError, UnavailableError
from rootle.federation.collection import Collection, Position
from rootle.federation.federated_search import FederatedSearch
from rootle.search.query.operators import ParsedQuery, replace_kinds
from rootle.types import FileMetadata, ResultKind, SearchQuery, SearchResponse, SearchResult

EMPTY = SearchResponse((), None, (), None, 0, 0.0)


def result(path: str, kind: ResultKind) -> SearchResult:
    metadata = FileMetadata("2026-01-01T00:00:00Z", "python", 1)
    return SearchResult(path, 1, 2, path, 0.5, "merged", metadata, kind=kind)


@dataclass
class ListCollection:
    """A collection that returns its paths in order, page by page."""

    kind: ResultKind
    count: int
    position: Position | None = None
    is_broken: bool = False
    is_confident: bool | None = None
    queries: list[SearchQuery] = field(default_factory=list)

    def find_position(self, question: ParsedQuery) -> Position | None:
        return self.position if "zebra" in question.text else None

    def search(self, query: SearchQuery, *, explain: bool = False) -> SearchResponse:
        self.queries.append(query)
        if self.is_broken:
            raise UnavailableError(f"{self.kind} is broken, explain={explain}")
        start = int(query.cursor or 0)
        end = min(self.count, start + (query.limit or 10))
        found = tuple(result(f"{self.kind}-{at}", self.kind) for at in range(start, end))
        cursor = str(end) if end < self.count else None
        return replace(EMPTY, results=found, next_cursor=cursor, confident=self.is_confident)


def search(
    text: str, project: ListCollection, *others: ListCollection, limit: int = 10, cursor: str = ""
) -> SearchResponse:
    collections: dict[str, Collection] = {other.kind: other for other in others}
    federated = FederatedSearch(Config(), collections, lambda _: None)
    query = SearchQuery(text, limit=limit, cursor=cursor or None)
    return federated.search(query, project.search)


def kinds_of(response: SearchResponse) -> list[str]:
    return [found.kind for found in response.results]


def test_a_question_without_a_collection_is_answered_by_the_project_alone() -> None:
    deps = ListCollection("deps", 5, "first")
    assert kinds_of(search("retry", ListCollection("code", 3), deps)) == ["code"] * 3
    assert not deps.queries


@pytest.mark.parametrize(
    ("position", "expected"),
    [("first", ["deps"] * 7 + ["code"] * 3), ("after", ["code"] * 7 + ["deps"] * 3)],
)
def test_a_collection_that_the_question_is_about_shares_the_page(
    position: Position, expected: list[str]
) -> None:
    deps = ListCollection("deps", 50, position)
    assert kinds_of(search("zebra", ListCollection("code", 50), deps)) == expected


@pytest.mark.parametrize("text", ["zebra", "zebra in:code,deps"])
def test_results_that_are_not_confident_come_after_others(text: str) -> None:
    project = ListCollection("code", 50, is_confident=False)
    deps = ListCollection("deps", 50, "after", is_confident=True)
    response = search(text, project, deps)
    assert kinds_of(response) == ["deps"] * 3 + ["code"] * 7
    assert response.confident


def test_a_part_that_finds_little_leaves_room_for_the_next() -> None:
    response = search("zebra", ListCollection("code", 2), ListCollection("deps", 50, "after"))
    assert kinds_of(response) == ["code"] * 2 + ["deps"] * 8


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 20])
def test_pages_of_several_parts_contain_each_result_once(limit: int) -> None:
    parts = (
        ListCollection("code", 9),
        ListCollection("deps", 7, "after"),
        ListCollection("web", 4, "first"),
    )
    paths: list[str] = []
    cursor: str | None = ""
    for _ in range(40):
        page = search("zebra", *parts, limit=limit, cursor=cursor or "")
        assert len(page.results) <= limit
        paths += [found.file_path for found in page.results]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert len(paths) == len(set(paths)) == 20


def test_in_names_the_only_collection_and_is_not_part_of_its_question() -> None:
    deps, project = ListCollection("deps", 3), ListCollection("code", 3)
    assert kinds_of(search("in:deps retry path:src", project, deps)) == ["deps"] * 3
    assert not project.queries
    assert deps.queries[0].text_query == "retry path:src"


def test_in_with_several_kinds_searches_all_of_them() -> None:
    deps, project = ListCollection("deps", 3), ListCollection("code", 3)
    assert kinds_of(search("retry in:deps,code", project, deps)) == ["code"] * 3 + ["deps"] * 3
    assert project.queries[0].text_query == "in:code retry"


@pytest.mark.parametrize(("count", "is_confident"), [(0, None), (3, False)])
def test_a_named_kind_without_a_likely_result_is_noted(
    count: int, is_confident: bool | None
) -> None:
    """Without a note, the kind would seem to be ignored: its results are last or left out."""
    history = ListCollection("history", count, is_confident=is_confident)
    deps = ListCollection("deps", 3, is_confident=True)
    response = search("in:history in:deps retry", history, deps)
    assert kinds_of(response)[:3] == ["deps"] * 3
    assert response.suggestions == ("in:history has no result that is likely to be an answer",)
    assert history.queries[0].text_query == "in:history retry"


def test_a_named_kind_with_a_likely_result_is_not_noted() -> None:
    history = ListCollection("history", 3, is_confident=True)
    assert not search("in:history,deps retry", history, ListCollection("deps", 3)).suggestions
    unsure = ListCollection("deps", 3, "after", is_confident=False)
    assert not search("zebra", ListCollection("code", 3), unsure).suggestions


def test_a_broken_collection_is_named_and_does_not_stop_the_answer() -> None:
    deps = ListCollection("deps", 3, "after", is_broken=True)
    response = search("zebra", ListCollection("code", 3), deps)
    assert kinds_of(response) == ["code"] * 3
    assert response.degraded == ("deps",)
    with pytest.raises(UnavailableError, match="deps is broken"):
        search("in:deps zebra", ListCollection("code", 3), deps)


def test_a_collection_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(QueryError, match="in:web has nothing to search here"):
        search("in:web zebra", ListCollection("code", 3))


@pytest.mark.parametrize("cursor", ["h.bad", "f.bad", "f.e30=", "f.eyJ4IjogIjEifQ=="])
def test_a_cursor_of_another_question_is_refused(cursor: str) -> None:
    with pytest.raises(StaleCursorError):
        search(
            "zebra", ListCollection("code", 3), ListCollection("deps", 3, "after"), cursor=cursor
        )


@pytest.mark.parametrize(
    ("text", "kinds", "expected"),
    [
        ("in:deps a b", ("code",), "in:code a b"),
        ("a in:deps,code b in:web", (), "a  b"),
        ('"in:deps" a', (), '"in:deps" a'),
        ("in:deps regex:in:x", (), "regex:in:x"),
        ("regex:a in:deps", ("code",), "in:code regex:a"),
        ('regex:"a in:b" in:deps c', (), 'regex:"a in:b"  c'),
    ],
)
def test_kinds_are_replaced_only_as_operators(
    text: str, kinds: tuple[str, ...], expected: str
) -> None:
    assert replace_kinds(text, kinds) == expected


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "lib.py": "def paint_zebra():\n    return 'stripes'\n",
        "README.md": "# Zebra\n\nHow to paint a zebra.\n",
    }
    return write_tree(tmp_path / "project", files)


def test_results_name_their_kind(folder: Path, make_app: MakeApp) -> None:
    app: App = make_app(folder)
    found = {item.file_path: item.kind for item in app.search("paint zebra").results}
    assert found == {"lib.py": "code", "README.md": "docs"}


@pytest.mark.slow
def test_in_memory_lists_only_memories(folder: Path) -> None:
    rootle("memory", "add", "The zebra is painted at night", "--root", folder)
    done = rootle("search", "--in", "memory", "when is the zebra painted", "--json", cwd=folder)
    answer = done.data
    assert answer["results"] == []
    assert [memory["text"] for memory in answer["memories"]] == ["The zebra is painted at night"]
    assert done.code == 0
    shown = rootle("search", "in:memory zebra", cwd=folder)
    assert "painted at night" in shown.out
    assert "no results" not in shown.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("in:memory zebra", 2),
        ("in:memory zebra since:2030", 0),
        ("in:memory zebra since:1d", 2),
        ("in:memory zebra until:2001", 0),
        ("in:memory zebra since:HEAD", 2),
        ("in:memory zebra -night", 1),
        ('in:memory "at night" zebra', 1),
        ("in:memory /zebra is (fed|washed)/", 1),
        ("in:docs,memory zebra -night", 1),
    ],
)
def test_dates_and_words_filter_memories(query: str, count: int, folder: Path) -> None:
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    for fact in ("The zebra is painted at night", "The zebra is fed at noon"):
        rootle("memory", "add", fact, "--root", folder)

    done = rootle("search", query, "--json", cwd=folder)

    assert len(done.data["memories"]) == count
    assert done.code == (0 if count or "docs" in query else 1)


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (("in:memory zebra path:lib.py",), "path:lib.py"),
        (("in:memory zebra -lang:css",), "-lang:css"),
        (("in:memory zebra author:ada",), "author:ada"),
        (("in:memory zebra", "--path", "lib.py"), 'the path "lib.py"'),
        (("in:memory zebra since:nope",), '"nope" in since:nope is neither a date nor a commit'),
    ],
)
def test_memories_have_no_path_language_or_author(
    words: tuple[str, ...], cause: str, folder: Path
) -> None:
    done = rootle("search", *words, cwd=folder)
    assert done.code == 2
    assert cause in done.err


@pytest.mark.slow
def test_a_question_about_the_project_does_not_load_the_detector_of_orders() -> None:
    program = (
        "import sys, rootle.federation.dependency_collection\n"
        "print('rootle.text.agent_orders.detector' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.split() == [b"False"]
