"""The words that a query takes from the text in an image."""

from __future__ import annotations

from rootle.search.query.image_words import choose_words


def test_words_of_error_messages_come_first_and_each_word_once() -> None:
    text = "Save changes\nfile menu\nQuotaError: disk quota exceeded\nThe disk is full"
    chosen = choose_words(text, lambda _: True)
    assert list(chosen) == [
        *("QuotaError", "disk", "quota", "exceeded", "Save", "changes", "file", "menu", "full")
    ]


def test_unknown_words_and_operators_are_left_out() -> None:
    text = 'path:secret "exact phrase" -excluded /regex/ l1l1l upload_queue.py'
    known = {"secret", "exact", "uploadqueue"}
    assert list(choose_words(text, known.__contains__)) == ["secret", "exact", "upload_queue"]


def test_long_texts_are_cut() -> None:
    text = " ".join(f"word{number}" for number in range(200))
    assert len(choose_words(text, lambda _: True)) == 30
