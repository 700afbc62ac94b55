"""Questions in German, Spanish, Chinese and Japanese."""

from __future__ import annotations

import csv
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample import QUESTIONS

from rootle.rank.question.glossary import _FILE, translate
from rootle.rank.question.language_detection import detect_language


@pytest.mark.parametrize(
    ("text", "language", "english"),
    [
        ("wo wird die Verbindung nach einem Timeout geschlossen", "de", "connection timeout close"),
        ("welche Einstellung begrenzt die Größe hochgeladener Dateien", "de", "setting limit file"),
        ("wie lange wird nach einem Verbindungsabbruch gewartet", "de", "connection abort wait"),
        ("wer ruft ftp_store_file auf", "de", "who call"),
        ("was passiert, wenn die Warteschlange voll ist", "de", "happen queue"),
        ("waehrend der Pruefung der Groesse, die fuer Dateien gilt", "de", "check size file"),
        ("¿dónde se cierra la conexión después de un tiempo de espera?", "es", "close timeout"),
        ("que configuracion limita el numero de reintentos", "es", "limit retry number"),
        ("wie wird die Zwischenablage gelesen", "de", "clipboard read"),
        ("剪贴板 粘贴", "zh", "clipboard paste"),
        ("クリップボードに貼り付け", "ja", "clipboard paste"),
        ("重试之前要等多久", "zh", "retry wait"),
        ("连接超时后在哪里关闭", "zh", "connection timeout close"),
        (
            "リクエストの再試行の間隔はどこで計算されますか",
            "ja",
            "request retry interval calculate",
        ),
    ],
)
def test_programming_terms_are_translated_to_english(
    text: str, language: str, english: str
) -> None:
    assert detect_language(text) == language
    translation = translate(text, detect_language(text) or "de")
    assert translation is not None
    assert set(english.split()) <= set(translation.terms)
    assert set(translation.terms) <= set(translation.for_meaning.split())


def test_one_function_word_shows_the_language_of_a_text_with_typographic_quotes() -> None:
    assert detect_language("wer liest „retry“") == "de"
    assert detect_language("quien usa “retry”") == "es"


def test_names_are_kept_and_function_words_are_dropped() -> None:
    translation = translate("wer ruft die Funktion ftp_store_file in `upload.py` auf", "de")
    assert translation is not None
    assert "ftp_store_file" in translation.for_meaning
    assert "upload.py" in translation.for_meaning
    assert {"die", "in", "auf"}.isdisjoint(translation.for_words.split())
    assert "Funktion" in translation.for_words.split()  # a comment in German may contain this word
    assert "Funktion" not in translation.for_meaning.split()


def test_a_text_without_known_words_is_not_translated() -> None:
    assert translate("xyzzy plugh", "de") is None
    assert translate("犬", "ja") is None


@pytest.mark.parametrize(
    "text",
    [
        *QUESTIONS,
        "naïve résumé parsing — what does it do?",
        "où est défini le délai",
        "move the cursor to the end of the line",
        "DES and ES modules in Node",
        "where is “retry” used…",
        "😀 retry",
        "",
    ],
)
def test_english_questions_are_detected_as_english(text: str) -> None:
    assert detect_language(text) is None


@pytest.mark.slow
@given(st.text(max_size=40), st.sampled_from(["de", "es", "zh", "ja"]))
def test_any_text_can_be_translated(text: str, language: Literal["de", "es", "zh", "ja"]) -> None:
    translation = translate(text, language)
    assert translation is None or translation.terms


def test_every_row_of_the_glossary_has_all_columns_and_the_file_is_small() -> None:
    assert _FILE.stat().st_size < 60_000
    rows = list(csv.reader(_FILE.read_text("utf-8").splitlines()[1:], delimiter="\t"))
    assert 250 <= len(rows) <= 500
    for row in rows:
        assert len(row) == 5
        assert all(term.strip() == term and term for cell in row for term in cell.split(","))
        assert row[0].isascii()
