"""Figures and labels of the benchmark that asks questions about documents."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from benchmarks.quality.document_questions import PlaceQuestion, read_questions
from benchmarks.quality.document_samples import read_documents, write_project

from rootle.sources.documents.reader import read_document
from rootle.sources.source import Document

WANTED = ("a.pdf", "page-2")
OTHER = ("a.pdf", "page-1")
ELSEWHERE = ("b.pdf", "page-2")
QUESTION = PlaceQuestion("why", "person", False, "a", frozenset({WANTED}))


def test_a_result_is_correct_if_a_span_is_in_the_right_place() -> None:
    assert QUESTION.score([(WANTED,)]) == 1
    assert QUESTION.score([(ELSEWHERE,), (OTHER, WANTED)]) == pytest.approx(1 / math.log2(3))
    assert QUESTION.score([(ELSEWHERE,), (OTHER, WANTED)], spans=1) == 0
    assert QUESTION.score([(OTHER,)]) == 0
    assert QUESTION.has_file([(OTHER,)]) == 1
    assert QUESTION.score([(ELSEWHERE,)] * 10 + [(WANTED,)]) == 0


def test_there_are_as_many_questions_of_people_as_of_agents() -> None:
    questions = read_questions(read_documents())
    voices = [question.voice for question in questions]
    assert (voices.count("person"), voices.count("agent")) == (75, 75)
    assert sum(question.hard for question in questions) == 38


@pytest.mark.slow
def test_every_labeled_place_can_be_cited(tmp_path: Path) -> None:
    documents = read_documents()
    write_project(tmp_path, list(documents.values()))
    for document in documents.values():
        for number in range(1, len(document.parts) + 1):
            path, label = document.place(number)
            found = read_document(str(tmp_path), path, 1_000_000)
            assert isinstance(found, Document), path
            assert label in {section.label for section in found.sections}, (path, label)
