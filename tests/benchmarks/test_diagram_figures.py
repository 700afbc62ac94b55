"""Figures and labels of the benchmark that asks questions about diagrams."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from benchmarks.quality.diagram_samples import code_path, split_words, write_project
from benchmarks.quality.diagrams import Tally, grade, read_labels

from rootle import SearchResult
from rootle.types import FileMetadata

RESULT = SearchResult("x.py", 1, 1, "", 0.5, "merged", FileMetadata(None, "python", 1))


def test_a_question_is_answered_if_its_diagram_names_the_class() -> None:
    diagrams, _ = read_labels()
    diagram = diagrams["login"]
    place = f"{code_path(diagram, 'SessionIssuer')}:4"
    shown = replace(RESULT, file_path=diagram.path, mentions={"SessionIssuer": place})
    found = grade([RESULT, shown], diagram, "SessionIssuer")
    assert found == Tally(1, diagram_found=1, symbol_named=1, answered=1)
    assert grade([shown], diagram, "SessionIssuer").diagram_first == 1
    assert grade([shown], diagram, "OneTimeCode").answered == 0
    assert grade([RESULT] * 3 + [shown], diagram, "SessionIssuer") == Tally(1)


def test_tallies_are_added() -> None:
    total = Tally(2, 1, 1, 1, 1, 0)
    total.add(Tally(1, 0, 1, 0, 0, 1))
    assert total == Tally(3, 1, 2, 1, 1, 1)


def test_every_label_names_a_node_of_its_diagram() -> None:
    diagrams, questions = read_labels()
    assert len(diagrams) == 15
    assert len(questions) == 60
    assert len({diagram.format for diagram in diagrams.values()}) == 15
    for question in questions:
        assert question.symbol in diagrams[question.diagram].nodes, question


def test_every_class_is_written(tmp_path: Path) -> None:
    diagrams, questions = read_labels()
    write_project(tmp_path, list(diagrams.values()))
    assert split_words("ShoppingCart") == ["shopping", "cart"]
    for question in questions:
        path = tmp_path / code_path(diagrams[question.diagram], question.symbol)
        assert f"class {question.symbol}:" in path.read_text()
        assert (tmp_path / diagrams[question.diagram].path).stat().st_size > 0
