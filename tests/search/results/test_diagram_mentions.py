"""Results that are diagrams say where the names in them are defined."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from diagram_files import GRAPH, drawio_file
from sample import MakeApp, write_tree

from rootle import SearchQuery, SearchResult
from rootle.index.local.inverted_index.reader import EmbeddedSparse
from rootle.tools import search_folder

FILES = {
    "src/retry.py": "import time\n\n\nclass RetryPolicy:\n    pass\n",
    "src/breaker.go": "package net\n\ntype CircuitBreaker struct {\n\tfailures int\n}\n",
    "src/alarm.py": "def page():\n    return 'night shift'\n",
    "lib/alarm.py": "def page():\n    return 'day shift'\n",
    "docs/parts.drawio": drawio_file(("Parts", GRAPH)),
    "docs/flow.mmd": "flowchart LR\n  r[Retry policy] --> b[CircuitBreaker]\n  b --> page\n",
    "docs/notes.md": "# Notes\n\n```mermaid\nflowchart LR\n  RetryPolicy --> Seagull\n```\n",
    "docs/plain.md": "# Plain\n\nThe RetryPolicy never waits for a pelican.\n",
    "docs/modes.md": "# Modes\n\nThe RetryPolicy tries `slow` -> `fast` for an albatross.\n",
    "docs/mixed.md": (
        "# Mixed\n\nA CircuitBreaker is for gannets.\n\n"
        "```mermaid\nflowchart LR\n  RetryPolicy --> Gannet\n```\n"
    ),
}


def find(results: tuple[SearchResult, ...], path: str) -> SearchResult:
    return next(result for result in results if result.file_path == path)


@pytest.mark.slow
def test_the_names_in_a_diagram_are_linked_to_their_only_definition(
    make_app: MakeApp, tmp_path: Path
) -> None:
    app = make_app(write_tree(tmp_path / "project", FILES))
    drawing = find(app.search("opens after 5 failures").results, "docs/parts.drawio")
    assert drawing.place == "parts"
    assert drawing.mentions == {
        "RetryPolicy": "src/retry.py:4",
        "Circuit breaker": "src/breaker.go:3",
    }
    flow = find(app.search("flowchart of the retry policy").results, "docs/flow.mmd")
    assert flow.mentions == {
        "CircuitBreaker": "src/breaker.go:3",
        "Retry policy": "src/retry.py:4",
    }


def test_a_diagram_in_a_page_is_linked_and_its_prose_is_not(
    make_app: MakeApp, tmp_path: Path
) -> None:
    app = make_app(write_tree(tmp_path / "project", FILES))
    notes = find(app.search("edge to the seagull").results, "docs/notes.md")
    assert notes.mentions == {"RetryPolicy": "src/retry.py:4"}
    assert find(app.search("pelican").results, "docs/plain.md").mentions is None
    assert find(app.search("edge to the gannet").results, "docs/mixed.md").mentions == {
        "RetryPolicy": "src/retry.py:4"
    }


def test_a_sentence_with_an_arrow_is_not_a_diagram(make_app: MakeApp, tmp_path: Path) -> None:
    app = make_app(write_tree(tmp_path / "project", FILES))
    assert find(app.search("albatross").results, "docs/modes.md").mentions is None


def test_an_ordinary_word_of_a_diagram_is_not_linked(make_app: MakeApp, tmp_path: Path) -> None:
    flow = "flowchart LR\n  query --> Balancer\n  Balancer --> pelican\n"
    code = "def query():\n    pass\n\n\ndef balancer():\n    pass\n"
    pages = {f"docs/{number}.md": "# Page\n\nA query has words.\n" for number in range(30)}
    files = {"src/run.py": code, "docs/flow.mmd": flow, **pages}
    app = make_app(write_tree(tmp_path / "project", files))
    found = find(app.search("pelican").results, "docs/flow.mmd")
    assert found.mentions == {"Balancer": "src/run.py:5"}


def test_a_result_names_only_what_its_own_diagram_contains(
    make_app: MakeApp, tmp_path: Path
) -> None:
    diagrams = (
        "@startuml\nRetryPolicy -> Worker : kayak\n@enduml\n",
        "@startuml\nclass CircuitBreaker {\n  +open(): velvet\n}\n@enduml\n",
    )
    files = {**FILES, "docs/two.puml": "\n".join(diagrams)}
    app = make_app(write_tree(tmp_path / "project", files))
    first = find(app.search('"kayak" path:two').results, "docs/two.puml")
    assert first.mentions == {"RetryPolicy": "src/retry.py:4"}
    second = find(app.search('"velvet" path:two').results, "docs/two.puml")
    assert second.mentions == {"CircuitBreaker": "src/breaker.go:3"}


def test_diagrams_are_documentation(make_app: MakeApp, tmp_path: Path) -> None:
    app = make_app(write_tree(tmp_path / "project", FILES))
    found = app.search("in:docs circuit breaker").results
    assert {result.file_path for result in found} >= {"docs/parts.drawio", "docs/flow.mmd"}
    assert all(result.kind == "docs" for result in found)
    only = app.search(SearchQuery("circuit breaker lang:mermaid")).results
    assert [result.file_path for result in only] == ["docs/flow.mmd"]


def test_the_answer_for_an_agent_names_the_definitions(make_app: MakeApp, tmp_path: Path) -> None:
    app = make_app(write_tree(tmp_path / "project", FILES))
    answer = search_folder(app).run("opens after 5 failures").text
    assert "docs/parts.drawio#parts" in answer
    assert "defined in: RetryPolicy src/retry.py:4, Circuit breaker src/breaker.go:3" in answer
    assert "Circuit breaker -- Alarm: page" in app.read("docs/parts.drawio#parts").lines


def test_the_words_of_a_diagram_are_counted_without_ranking_files(
    make_app: MakeApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranked: list[object] = []
    files_with = EmbeddedSparse.files_with

    def record(self: EmbeddedSparse, terms: Sequence[str], *rest: Any) -> list[int]:
        ranked.append(tuple(terms))
        return files_with(self, terms, *rest)

    app = make_app(write_tree(tmp_path / "project", FILES))
    app.search("night shift")
    monkeypatch.setattr(EmbeddedSparse, "files_with", record)
    flow = find(app.search("flowchart of the retry policy").results, "docs/flow.mmd")
    assert flow.mentions
    assert ("circuit",) not in ranked
    assert ("page",) not in ranked
