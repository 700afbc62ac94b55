"""Mermaid, PlantUML and Graphviz files get a section per diagram; their lines stay unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from rootle.sources.files.discovery import WalkRules
from rootle.sources.files.file_source import FileReader, read_listed_file
from rootle.sources.source import Document
from rootle.types import DocumentSection


def sections_of(folder: Path, name: str, text: str) -> tuple[DocumentSection, ...]:
    (folder / name).write_text(text)
    found = FileReader(str(folder), WalkRules()).read(name)
    assert isinstance(found, Document)
    assert found.text == text
    return found.sections


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("sequenceDiagram\n  A->>B: hi\n", "sequence diagram"),
        ("---\ntitle: Orders\n---\nflowchart LR\n  A --> B\n", "Orders (flowchart)"),
        ("%% note\nclassDiagram\n  class Duck\n", "class diagram"),
        ("stateDiagram-v2\n  [*] --> Still\n", "state diagram"),
        ("erDiagram\n  A ||--o{ B : has\n", "entity relationship diagram"),
        ("gantt\n  title Plan\n", "Plan (gantt diagram)"),
        ("A --> B\n", "diagram"),
    ],
)
def test_a_mermaid_file_is_one_diagram_with_its_kind(tmp_path: Path, text: str, title: str) -> None:
    last = text.count("\n")
    assert sections_of(tmp_path, "a.mmd", text) == (DocumentSection("diagram-1", 1, last, title),)


def test_a_plantuml_file_can_contain_several_diagrams(tmp_path: Path) -> None:
    text = (
        "' comment\n@startuml Sign in\nalice -> bob : hello\n@enduml\n\n"
        "@startuml\ntitle Parts\n[Web] --> [Store]\n@enduml\n@startmindmap\n* root\n@endmindmap\n"
    )
    assert sections_of(tmp_path, "a.puml", text) == (
        DocumentSection("sign-in", 2, 4, "Sign in (sequence diagram)"),
        DocumentSection("diagram-2", 6, 9, "Parts (component diagram)"),
        DocumentSection("diagram-3", 10, 12, "mindmap diagram"),
    )


def test_the_graphs_of_a_graphviz_file_have_their_names(tmp_path: Path) -> None:
    text = 'digraph deps {\n  label="Who imports whom";\n  a -> b;\n}\ngraph {\n  a -- b\n}\n'
    assert sections_of(tmp_path, "a.dot", text) == (
        DocumentSection("deps", 1, 4, "Who imports whom (directed graph)"),
        DocumentSection("diagram-2", 5, 7, "(graph)"),
    )


def test_a_file_without_a_diagram_has_no_sections(tmp_path: Path) -> None:
    assert sections_of(tmp_path, "empty.gv", "nothing\n") == ()
    assert sections_of(tmp_path, "blank.mmd", "\n\n") == ()


def test_the_diagrams_in_a_markdown_file_can_be_shown(tmp_path: Path) -> None:
    text = (
        "# Parts\n\n```mermaid\nsequenceDiagram\n  A->>B: hi\n```\n\nMore\n\n```dot\n"
        'digraph { label="x" }\n```\n\n```python\nprint()\n```\n'
    )
    assert _sections_of_markdown(tmp_path, text) == (
        DocumentSection("diagram-1", 4, 5, "sequence diagram"),
        DocumentSection("diagram-2", 11, 11, "x (directed graph)"),
    )
    assert sections_of(tmp_path, "parts.md", text) == ()


def _sections_of_markdown(folder: Path, text: str) -> Sequence[DocumentSection]:
    (folder / "page.md").write_text(text)
    found = read_listed_file(folder, "page.md", WalkRules())
    assert isinstance(found, Document)
    return found.sections


def test_a_block_between_tildes_is_a_diagram(tmp_path: Path) -> None:
    text = "~~~mermaid\ngraph TD\n  A --> B\n~~~\n\n```mermaid\npie\n```\n"
    assert _sections_of_markdown(tmp_path, text) == (
        DocumentSection("diagram-1", 2, 3, "flowchart"),
        DocumentSection("diagram-2", 7, 7, "pie diagram"),
    )


def test_hostile_diagrams_take_linear_time(tmp_path: Path) -> None:
    assert sections_of(tmp_path, "a.dot", "graph" + " " * 200_000) == ()
    edges = "graph TD\n" + "".join(f"  A{n} --> B{n}\n" for n in range(100_000))
    assert [one.label for one in sections_of(tmp_path, "a.mmd", edges)] == ["diagram-1"]
    fences = "```mermaid\n" + "`" * 500_000 + "\n```mermaid\n" * 20_000
    assert len(sections_of(tmp_path, "a.md", fences)) <= 1_000
