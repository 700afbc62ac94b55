"""Answers to questions with absent words are not confident, and the notes on them are true."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from sample import FILES, MakeApp, indexed_repository, make_repository

from rootle.app import App
from rootle.types import SearchResponse

# A file that often mentions one rare word, but no other word of the questions about it.
_QUANTUM = {
    "src/quantum.h": "#ifndef QUANTUM_H\n#define LG_QUANTUM 4\n#define QUANTUM (1 << LG_QUANTUM)\n"
    "#define QUANTUM_MASK (QUANTUM - 1)\n#endif\n"
}
_FULL_HASH = "4f8cdc2a1ea53e42955af758aabffee67cb455dd"


@pytest.fixture
def app(make_app: MakeApp) -> App:
    """Return an app whose folder and index must not be changed."""
    root, index_dir = indexed_repository({**FILES, **_QUANTUM})
    return make_app(root, index_dir=index_dir)


def _ask(text: str, files: dict[str, str], tmp_path: Path, make_app: MakeApp) -> SearchResponse:
    response: SearchResponse = make_app(
        make_repository(tmp_path / "repo", {**FILES, **files})
    ).search(text)
    return response


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("quantum teleporter", "teleporter"),
        ("quantum entanglement", "entanglement"),
        ("where is the quantum teleporter", "teleporter"),
        ("LG_QUANTUM Salesforce", "Salesforce"),
        ("wo ist der QUANTUM Teleporter", "Teleporter"),
        ("où est le téléporteur QUANTUM", "téléporteur"),
    ],
)
def test_a_question_about_an_absent_word_has_no_confident_answer(
    text: str, absent: str, app: App
) -> None:
    response = app.search(text)
    assert response.results[0].file_path == "src/quantum.h"
    assert response.confident is False
    note = response.suggestions[0]
    assert note.startswith(f'not confident: no indexed text has the word "{absent}"; ')


_ORDINARY: Final = "what is the maximum length of a nickname"


def _answer_from(
    path: Path, count: int, make_app: MakeApp, setting: str = "maxLength"
) -> SearchResponse:
    """Ask a question with one absent word in a folder with a number of files."""
    interface = f"type: object\nproperties:\n  nickname: {{type: string, {setting}: 17}}\n"
    others = {f"docs/{at}.md": f"# Page {at}\n\nThe length of a page.\n" for at in range(count - 1)}
    root = make_repository(path, {"api.yaml": interface, **others})
    return make_app(root).search(_ORDINARY)


def test_a_folder_of_few_files_may_lack_an_ordinary_word(tmp_path: Path, make_app: MakeApp) -> None:
    small = _answer_from(tmp_path / "small", 10, make_app)
    assert small.results[0].file_path == "api.yaml"
    assert small.confident is True
    assert small.suggestions == ()


@pytest.mark.slow
def test_a_large_folder_has_the_ordinary_words(tmp_path: Path, make_app: MakeApp) -> None:
    large = _answer_from(tmp_path / "large", 120, make_app, setting="lengthUpTo")
    assert large.results[0].file_path == "api.yaml"
    assert large.confident is False
    assert 'no indexed text has the word "maximum"' in large.suggestions[0]


@pytest.mark.parametrize(
    ("text", "is_confident"),
    [
        pytest.param("how deeply nested brackets get a color", True, id="the adverb of a word"),
        pytest.param("are nested brackets of a color outlined", True, id="all other words"),
        pytest.param("are nested brackets teleported", False, id="too few other words"),
        pytest.param("are nested Teleporter brackets of a color", False, id="a name"),
        pytest.param("nested brackets of a color in a window teleported", False, id="two words"),
    ],
)
def test_an_adverb_or_one_ordinary_word_does_not_reject_a_passage_with_all_other_words(
    text: str, is_confident: bool, tmp_path: Path, make_app: MakeApp
) -> None:
    pages = {f"docs/{at}.md": f"# Page {at}\n\nA deep page, text {at}.\n" for at in range(100)}
    answer = {"src/paint.py": "# Nested brackets get a color.\ndef paint(brackets): ...\n"}
    root = make_repository(tmp_path / "repo", {**pages, **answer})
    response = make_app(root).search(text)
    assert response.results[0].file_path == "src/paint.py"
    assert response.confident is is_confident


@pytest.mark.slow
def test_a_word_that_code_replaces_by_another_one_does_not_reject_an_answer(
    tmp_path: Path, make_app: MakeApp
) -> None:
    large = _answer_from(tmp_path / "large", 120, make_app)
    assert large.results[0].file_path == "api.yaml"
    assert large.confident is True
    assert large.suggestions == ()


def test_the_scores_of_a_rejected_answer_are_low(app: App) -> None:
    sure = app.search("quantum mask").results[0].score
    scores = [result.score for result in app.search("quantum teleporter").results]
    assert scores
    assert scores == sorted(scores, reverse=True)
    assert scores[0] < 0.6 < sure


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("how long to wait before another attempt after a timeout of the base", "src/net/retry.py"),
        ("is the access token still valid", "src/auth/token.ts"),
        ("exception validateToken", "src/auth/token.ts"),
    ],
)
def test_an_absent_word_that_is_not_the_subject_does_not_reject_an_answer(
    text: str, path: str, app: App
) -> None:
    response = app.search(text)
    assert response.results[0].file_path == path
    assert response.confident is True


def test_the_values_in_an_error_message_do_not_reject_an_answer(app: App) -> None:
    text = "RetryError: retry_backoff failed, attempt 4 of base wait time, before MyExportWorker"
    assert app.search(text).confident is True


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "content"),
    [
        pytest.param("teleporter/notes.txt", "nothing\n", id="in a path"),
        pytest.param("notes.teleporter", "nothing\n", id="as an extension"),
        pytest.param("a.py", "reverseteleporterflux = 1\n", id="inside a longer identifier"),
        pytest.param("a.py", "Teleporters and teleporting\n", id="inflected"),
        pytest.param("a.py", "class TELE_PORTER: ...\n", id="in another notation"),
    ],
)
def test_a_word_that_occurs_is_not_called_absent(
    path: str, content: str, tmp_path: Path, make_app: MakeApp
) -> None:
    text = "teleporter of the kubernetes payment gateway certificate"
    response = _ask(text, {path: content}, tmp_path, make_app)
    assert response.confident is False
    assert '"kubernetes"' in response.suggestions[0]
    assert not any('"teleporter"' in note for note in response.suggestions)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("où est la clé du décorateur", "# la clé du décorateur\n"),
        ("wie öffnet man die Fenster der Schlüsselverwaltung", "# Fenster der Schlüsselverwaltung"),
        ("wo werden Verbindungen getrennt", "disconnect\n"),
    ],
)
def test_notes_name_only_words_as_they_were_typed(
    text: str, content: str, tmp_path: Path, make_app: MakeApp
) -> None:
    """Neither fragments of accented words nor translations are called absent."""
    response = _ask(f"zzyzx zzzyx {text}", {"a.py": content}, tmp_path, make_app)
    assert response.confident is False
    named = response.suggestions[0].split('"')[1::2]
    assert named[:2] == ["zzyzx", "zzzyx"]
    assert set(named) <= {*text.replace(",", "").split(), "zzyzx", "zzzyx"}
    assert not any(word.lower() in content.lower() for word in named)


@pytest.mark.parametrize("text", [_FULL_HASH, "4f8cdc2", "which entry has 4f8cdc2"])
def test_a_hash_is_no_word(text: str, app: App) -> None:
    response = app.search(text)
    assert response.results
    assert response.confident is False
    note = response.suggestions[0]
    assert f'"{text.split()[-1]}" may be the hash of a commit that is not indexed' in note
    assert "no indexed text" not in note


@pytest.mark.parametrize(
    "text", ["quantum ____", "____ zzyzx", "quantum 12345 4", "量子テレポート quantum"]
)
def test_only_words_are_checked(text: str, app: App) -> None:
    named = [word for note in app.search(text).suggestions for word in note.split('"')[1::2]]
    assert set(named) <= {"zzyzx"}


@pytest.mark.slow
def test_a_hash_in_a_file_is_found(tmp_path: Path, make_app: MakeApp) -> None:
    response = _ask(_FULL_HASH[:10], {"pins.txt": f"lib {_FULL_HASH}\n"}, tmp_path, make_app)
    assert not any("hash of a commit" in note for note in response.suggestions)


def test_names_in_guessed_code_are_not_called_absent(app: App) -> None:
    statement = "The service stores the oldest page for an hour."
    response = app.search(f"{statement} def teleport_zebra(quagga, okapi)")
    assert response.confident is False
    (note,) = response.suggestions
    assert note.startswith("not confident: the estimated probability")


def test_the_note_counts_files_that_are_not_indexed(tmp_path: Path, make_app: MakeApp) -> None:
    """A file that is not indexed may contain the word."""
    generated = "# @generated by a tool. Do not edit.\nteleporter = 1\n"
    response = _ask(
        "quantum teleporter", {**_QUANTUM, "src/made.py": generated}, tmp_path, make_app
    )
    assert response.suggestions[0].startswith(
        'not confident: no indexed text has the word "teleporter"; '
        "1 file is not or only partly indexed (`rootle status --skipped`); "
    )


def test_an_answer_without_absent_words_has_another_reason(app: App) -> None:
    response = app.search("true else from import")
    assert response.confident is False
    assert response.suggestions[0].startswith(
        "not confident: the estimated probability of an answer is low; "
    )
