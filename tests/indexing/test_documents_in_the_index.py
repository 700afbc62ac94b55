"""Documents are found, cited by page or slide, opened there, and reported if unreadable."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import rootle
from document_samples import (
    code_cell,
    markdown_cell,
    write_notebook,
    write_pdf,
    write_slides,
    write_word,
    write_workbook,
)
from polling import wait_until
from sample import MakeApp

from rootle import App
from rootle.errors import SourceError
from rootle.serialization.json import to_json
from rootle.sources.documents import formats
from rootle.tools.definitions.vectordb_read import vectordb_read

pytestmark = pytest.mark.slow


@pytest.fixture
def app(repository: Path, make_app: MakeApp) -> App:
    write_word(repository / "report.docx")
    write_slides(repository / "deck.pptx")
    write_workbook(repository / "costs.xlsx")
    write_pdf(repository / "notes.pdf", ["The walrus sleeps all winter", "The otter swims"])
    write_notebook(
        repository / "train.ipynb",
        [
            markdown_cell("# Training\nGradient descent on the whale pictures"),
            code_cell("def fit_whale_classifier(pictures):\n    return pictures"),
        ],
    )
    (repository / "broken.docx").write_bytes(b"PK\3\4 cut off")
    (repository / "~$report.docx").write_bytes(bytes(50))
    app: App = make_app(repository)
    return app


@pytest.mark.parametrize(
    ("question", "path", "place"),
    [
        ("who pays the lighthouse keeper", "report.docx", "open-questions"),
        ("mention the zeppelin", "deck.pptx", "slide-2"),
        ("when does the submarine leave", "deck.pptx", "slide-1"),
        ("walrus winter sleep", "notes.pdf", "page-1"),
        ("gradient descent whale pictures", "train.ipynb", "cell-1"),
        ("fit_whale_classifier", "train.ipynb", "cell-2"),
        ("north90", "costs.xlsx", "Costs!A81:C101"),
    ],
)
def test_a_result_cites_a_place_that_can_be_opened(
    app: App, question: str, path: str, place: str
) -> None:
    best = app.search(question).results[0]
    assert (best.file_path, best.place) == (path, place)
    citation = f"{path}#{place}"
    passage = app.read(citation)
    assert passage.source == path
    assert passage.lines
    assert passage.lines[0] in vectordb_read(app).run(citation).text


def test_the_later_rows_of_a_sheet_are_opened_with_its_columns(app: App) -> None:
    app.index()
    later = app.read("costs.xlsx#Costs!A81:C101")
    header = next(line for line in app.read("costs.xlsx").lines if " | " in line)
    assert ", ".join(header.split(" | ")) in later.note
    assert later.note in vectordb_read(app).run("costs.xlsx#Costs!A81:C101").text


def test_a_definition_in_a_notebook_is_a_symbol(app: App) -> None:
    response = app.search("where is fit_whale_classifier defined")
    assert response.results[0].file_path == "train.ipynb"
    passage = app.read("train.ipynb#fit_whale_classifier")
    assert passage.lines == ("def fit_whale_classifier(pictures):", "    return pictures")


def test_a_place_that_does_not_exist_is_answered_with_those_that_do(app: App) -> None:
    with pytest.raises(SourceError, match="it has: slide-1, slide-2"):
        app.read("deck.pptx#slide-7")


def test_documents_that_cannot_be_read_are_named_and_stop_nothing(app: App) -> None:
    app.index()
    skipped = dict(app.status().skipped_files)
    assert skipped["broken.docx"] == "damaged"
    assert skipped["~$report.docx"] == "binary"
    assert app.search("retry_backoff").results[0].file_path == "src/net/retry.py"

    def is_settled() -> bool:
        app.index()  # files whose times are as new as the index are read once more
        return app.status().pending == 0

    wait_until(is_settled, "documents that have not changed are not read again")


def test_a_changed_document_is_found_by_its_new_text(app: App) -> None:
    app.index()
    write_pdf(app.root / "notes.pdf", ["The narwhal wakes"])
    best = app.search("narwhal").results[0]
    assert (best.file_path, best.place) == ("notes.pdf", "page-1")
    assert to_json(app.search("walrus"))["results"] == [] or all(
        result.file_path != "notes.pdf" for result in app.search('"walrus"').results
    )


def test_without_the_extra_unread_files_are_counted(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    advice = "1 PDF file not read: pip install 'rootle[documents]'"
    with monkeypatch.context() as without:
        without.setattr("rootle.sources.files.discovery.can_read", lambda name: name != "pdf")
        app.index()
        assert dict(app.status().skipped_files)["notes.pdf"] == "needs rootle[documents]"
        assert advice in app.search('"walrus sleeps"').suggestions
        assert advice not in app.search("retry_backoff").suggestions
        with pytest.raises(SourceError, match=r"needs rootle\[documents\]"):
            app.read("notes.pdf")
    app.index()  # the library is available again
    assert app.search("walrus").results[0].file_path == "notes.pdf"
    assert advice not in app.search('"no such phrase"').suggestions


def test_status_says_how_to_read_the_skipped_files(
    repository: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (repository / "a.pdf").write_bytes(b"%PDF-1.7")
    (repository / "b.pdf").write_bytes(b"%PDF-1.7")
    from rootle import open_app
    from rootle.cli.status_output import print_status

    with monkeypatch.context() as without:
        without.setattr("rootle.sources.files.discovery.can_read", lambda name: name != "pdf")
        with open_app(repository, index_dir=tmp_path / "index") as app:
            app.index()
            status = app.status()
    print_status(status, with_skipped_files=True)
    lines = capsys.readouterr().out.splitlines()
    assert any(
        line.endswith("2 PDF files not read: pip install 'rootle[documents]'") for line in lines
    )
    assert "  needs rootle[documents] a.pdf" in lines


def test_show_opens_a_slide(app: App) -> None:
    result = rootle("show", "deck.pptx#slide-2", "--root", str(app.root))
    assert result.code == 0
    assert "Mention the zeppelin" in result.out
    assert formats.can_read("pdf")
