"""Questions for a file by its name."""

from __future__ import annotations

import pytest

from rootle.rank.question.file_question import asks_for_file, find_named_stem


@pytest.mark.parametrize(
    ("question", "is_asked"),
    [
        ("bulk edit file with the functions that merge pages", True),
        ("where is the BulkEdit script", True),
        ("the file with the bulk edit functions", True),
        ("which file that handles bulk edit is used", True),
        ("how does a bulk edit change a file", False),
        ("the file of the edit in bulk", False),
        ("is a bulk edit logged", False),
    ],
)
def test_a_file_is_asked_for_by_the_words_of_its_name(question: str, is_asked: bool) -> None:
    found = asks_for_file(question) and find_named_stem("src/bulk_edit.py", question)
    assert bool(found) is is_asked


def test_a_name_of_one_word_is_not_enough() -> None:
    assert find_named_stem("src/edit.py", "the edit file") == ""
    assert find_named_stem("src/filter-editor.component.ts", "the filter editor file")
