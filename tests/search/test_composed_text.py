"""Names and words with accents are found however their characters are composed."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Literal

import pytest
from sample import MakeApp, write_tree

from rootle import App
from rootle.types import SearchResult

Form = Literal["NFC", "NFD"]
NAME, PATH = "café_total", "élèves.md"
FILES = {
    "a.py": f"def {NAME}():\n    return 1\n\n\ndef bill():\n    return {NAME}()\n",
    PATH: "# Résumé\n\nLe traitement différé des élèves.\n",
    **{f"f{at}.py": f"def other{at}():\n    return {at}\n" for at in range(20)},
}


@pytest.fixture(params=["NFC", "NFD"])
def form(request: pytest.FixtureRequest) -> Form:
    """Return the form of the questions."""
    found: Form = request.param
    return found


@pytest.fixture(params=["NFC", "NFD"])
def app(request: pytest.FixtureRequest, tmp_path: Path, make_app: MakeApp) -> App:
    """Return an app whose files are written in one of the forms."""

    def write(text: str) -> str:
        return unicodedata.normalize(request.param, text)

    files = {write(path): write(text) for path, text in FILES.items()}
    app: App = make_app(write_tree(tmp_path / "repo", files))
    return app


def search(app: App, form: Form, question: str) -> tuple[list[SearchResult], str]:
    response = app.search(unicodedata.normalize(form, question))
    return list(response.results), "\n".join(response.suggestions)


def path_of(result: SearchResult) -> str:
    return unicodedata.normalize("NFC", result.file_path)


@pytest.mark.parametrize(
    ("question", "path"),
    [
        (f"where is {NAME} defined", "a.py"),
        ("traitement différé", PATH),
        ('"traitement différé"', PATH),
        ("/traitement.diff.r. des/", PATH),
        ("élèves", PATH),
        ("path:élèves traitement", PATH),
    ],
)
def test_a_question_finds_a_text_in_another_form(
    app: App, form: Form, question: str, path: str
) -> None:
    results, notes = search(app, form, question)
    assert path_of(results[0]) == path
    assert "no indexed text" not in notes


def test_definitions_and_uses_are_found_in_another_form(app: App, form: Form) -> None:
    answer = app.symbols(unicodedata.normalize(form, NAME), "uses")
    assert [one.line for one in answer.definitions] == [1]
    assert [(one.line, one.kind) for one in answer.uses] == [(6, "call")]


def test_a_result_shows_the_lines_as_they_were_written(app: App, form: Form) -> None:
    results, _ = search(app, form, '"différé"')
    text = (app.root / results[0].file_path).read_text(encoding="utf-8")
    assert results[0].snippet in text


def test_an_excluded_word_is_compared_in_both_forms(app: App, form: Form) -> None:
    results, _ = search(app, form, "traitement des élèves -différé")
    assert all(path_of(one) != PATH for one in results)


@pytest.mark.parametrize("source", [PATH, f"a.py#{NAME}", f"{PATH}#Résumé"])
def test_a_path_and_a_name_are_read_in_another_form(app: App, form: Form, source: str) -> None:
    passage = app.read(unicodedata.normalize(form, source))
    assert passage.lines
