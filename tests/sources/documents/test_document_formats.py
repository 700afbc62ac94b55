"""The text and the places that are read from documents of each format."""

from __future__ import annotations

from pathlib import Path

import pytest
from document_samples import (
    code_cell,
    markdown_cell,
    print_output,
    write_book,
    write_mail,
    write_notebook,
    write_odf,
    write_pdf,
    write_slides,
    write_word,
    write_workbook,
)

from rootle.sources.files.discovery import WalkRules
from rootle.sources.files.file_source import FileReader
from rootle.sources.source import Document


def read(path: Path, max_chars: int = 5_000_000) -> Document:
    found = FileReader(str(path.parent), WalkRules(max_chars)).read(path.name)
    assert isinstance(found, Document), found
    return found


def place_texts(document: Document) -> dict[str, str]:
    lines = document.text.split("\n")
    return {s.label: "\n".join(lines[s.start_line - 1 : s.end_line]) for s in document.sections}


def test_a_word_document_has_a_place_for_each_heading(tmp_path: Path) -> None:
    write_word(tmp_path / "report.docx")
    document = read(tmp_path / "report.docx")
    assert document.title == "Risk report"
    assert place_texts(document) == {
        "introduction": "Introduction\nThe harbour expands to the north.",
        "open-questions": (
            "Open questions\nWho pays the lighthouse keeper?\nItem | Cost\nLamp | 300"
        ),
        "open-questions-2": "Open questions\nWhich whale is the largest?",
    }
    assert [section.title for section in document.sections] == [
        "Introduction",
        "Introduction > Open questions",
        "Introduction > Open questions",
    ]


def test_slides_have_their_speaker_notes(tmp_path: Path) -> None:
    write_slides(tmp_path / "deck.pptx")
    document = read(tmp_path / "deck.pptx")
    assert place_texts(document) == {
        "slide-1": "Milestones\nThe submarine leaves in autumn",
        "slide-2": "Budget\nTravel doubled\nNotes:\nMention the zeppelin",
    }
    assert [section.title for section in document.sections] == ["Milestones", "Budget"]


def test_the_description_of_a_picture_is_not_part_of_the_title(tmp_path: Path) -> None:
    import pptx
    from PIL import Image

    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Results"
    picture = slide.shapes.add_picture(str(tmp_path / "a.png"), 0, 0)
    picture._element.nvPicPr.cNvPr.set("descr", "A chart of\nall whales")
    deck.save(str(tmp_path / "deck.pptx"))
    document = read(tmp_path / "deck.pptx")
    assert place_texts(document) == {"slide-1": "Results\nA chart of all whales"}
    assert document.sections[0].title == "Results"


def test_the_body_of_a_message_is_read_if_its_head_has_no_end_tag(tmp_path: Path) -> None:
    write_mail(tmp_path / "a.eml", "<html><head><title>x</title><body><p>The otter pays</p>")
    assert "The otter pays" in read(tmp_path / "a.eml").text


def test_a_workbook_has_ranges_of_rows_with_dates(tmp_path: Path) -> None:
    write_workbook(tmp_path / "costs.xlsx")
    texts = place_texts(read(tmp_path / "costs.xlsx"))
    assert list(texts) == ["Costs!A1:C40", "Costs!A41:C80", "Costs!A81:C101"]
    first = texts["Costs!A1:C40"].split("\n")
    assert first[:3] == [
        "Costs: 101 rows, 3 columns, A1:C101",
        "Region | Day | Amount",
        "north0 | 2024-01-01 | 0",
    ]
    assert texts["Costs!A81:C101"].endswith("north99 | 2024-04-09 | 148.5")


def test_a_large_sheet_is_described_by_its_shape_and_first_rows(tmp_path: Path) -> None:
    write_workbook(tmp_path / "costs.xlsx", rows=3_000)
    document = read(tmp_path / "costs.xlsx")
    assert document.text.startswith("Costs: 3,001 rows, 3 columns")
    assert "north900 " in document.text
    assert "north2000 " not in document.text
    assert document.omitted_chars > len(document.text)


def test_a_pdf_has_a_place_for_each_page_with_text(tmp_path: Path) -> None:
    write_pdf(tmp_path / "notes.pdf", ["The walrus sleeps", "", "The otter swims"])
    document = read(tmp_path / "notes.pdf")
    assert document.title == "Field notes"
    assert place_texts(document) == {
        "page-1": "Chapter 1\nThe walrus sleeps",
        "page-3": "Chapter 3\nThe otter swims",
    }


def test_a_pdf_without_text_is_named(tmp_path: Path) -> None:
    write_pdf(tmp_path / "scan.pdf", ["", ""])
    assert FileReader(str(tmp_path), WalkRules()).read("scan.pdf") == "no text"


def test_a_notebook_is_read_as_a_program_in_the_language_of_its_kernel(tmp_path: Path) -> None:
    image = {"output_type": "display_data", "data": {"image/png": "iVBOR" * 60_000}}
    write_notebook(
        tmp_path / "train.ipynb",
        [
            markdown_cell("# Training\nFit ![x](data:image/png;base64," + "A" * 500 + ") it"),
            code_cell(
                "%matplotlib inline\ndef fit_model(x):\n    return x", print_output("loss 0.3\n")
            ),
            code_cell("plot()", image),
            code_cell("%%bash\necho done"),
        ],
    )
    document = read(tmp_path / "train.ipynb")
    assert document.language == "python"
    assert place_texts(document) == {
        "cell-1": "# # Training\n# Fit ![x]() it",
        "cell-2": ("# %matplotlib inline\ndef fit_model(x):\n    return x\n# Output:\n# loss 0.3"),
        "cell-3": "plot()",
        "cell-4": "# %%bash\n# echo done",
    }
    assert {section.title for section in document.sections} == {"Training"}
    compile(document.text, "train.py", "exec")


def test_the_output_of_a_cell_is_cut(tmp_path: Path) -> None:
    log = "".join(f"epoch {number}\n" for number in range(1_000))
    write_notebook(tmp_path / "log.ipynb", [code_cell("train()", print_output(log))])
    text = read(tmp_path / "log.ipynb").text
    assert "epoch 20" in text
    assert "epoch 40" not in text


def test_a_notebook_in_an_unknown_language_is_markdown(tmp_path: Path) -> None:
    write_notebook(tmp_path / "x.ipynb", [markdown_cell("# Sea"), code_cell("DIM A")], "qbasic")
    document = read(tmp_path / "x.ipynb")
    assert document.language == "markdown"
    assert document.text == "# Sea\n\n```\nDIM A\n```\n"


def test_a_notebook_that_is_not_json_is_indexed_by_lines(tmp_path: Path) -> None:
    (tmp_path / "conflict.ipynb").write_text('<<<<<<< HEAD\n{"cells": []\n')
    document = read(tmp_path / "conflict.ipynb")
    assert document.encoding == "utf-8"
    assert document.text.startswith("<<<<<<< HEAD")


@pytest.mark.parametrize("html", ["", "<p>Please <b>pay</b> the invoice for the telescope.</p>"])
def test_a_message_has_headers_text_and_the_names_of_attachments(tmp_path: Path, html: str) -> None:
    write_mail(tmp_path / "invoice.eml", html)
    document = read(tmp_path / "invoice.eml")
    assert document.title == "Invoice 17 für März"
    assert document.author == "Ada <ada@example.com>"
    assert place_texts(document)["message"].split("\n") == [
        "Subject: Invoice 17 für März",
        "From: Ada <ada@example.com>",
        "Date: Mon, 20 Nov 2023 10:00:00 +0000",
        "",
        "Please pay the invoice for the telescope.",
        "Attachment: invoice.pdf",
    ]


def test_opendocument_texts_slides_and_sheets_have_places(tmp_path: Path) -> None:
    write_odf(
        tmp_path / "a.odt",
        '<office:text><text:h text:outline-level="1">Sea</text:h><text:p>A <text:span>whale'
        "</text:span></text:p></office:text>",
    )
    assert place_texts(read(tmp_path / "a.odt")) == {"sea": "Sea\nA whale"}
    write_odf(
        tmp_path / "a.odp",
        '<office:presentation><draw:page><draw:frame presentation:class="title"><draw:text-box>'
        "<text:p>Plan</text:p></draw:text-box></draw:frame><presentation:notes><draw:frame>"
        "<draw:text-box><text:p>Speak up</text:p></draw:text-box></draw:frame>"
        "</presentation:notes></draw:page></office:presentation>",
    )
    assert place_texts(read(tmp_path / "a.odp")) == {"slide-1": "Plan\nNotes:\nSpeak up"}
    write_odf(
        tmp_path / "a.ods",
        '<office:spreadsheet><table:table table:name="Costs"><table:table-row>'
        "<table:table-cell><text:p>Lamp</text:p></table:table-cell>"
        '<table:table-cell table:number-columns-repeated="2"/>'
        "<table:table-cell><text:p>300</text:p></table:table-cell></table:table-row>"
        '<table:table-row table:number-rows-repeated="1048575"><table:table-cell/>'
        "</table:table-row></table:table></office:spreadsheet>",
    )
    assert place_texts(read(tmp_path / "a.ods")) == {
        "Costs!A1:D1": "Costs: 1 row, 4 columns, A1:D1\nLamp | 300"
    }


def test_a_book_is_read_in_the_order_of_its_chapters(tmp_path: Path) -> None:
    write_book(
        tmp_path / "sea.epub",
        [
            "<html><head><title>x</title></head><body><h1>Tides</h1><p>The moon&nbsp;pulls.</p>",
            "<html><body><h1>Whales</h1><h2>Songs</h2><p>They <i>sing</i>.</p></body></html>",
        ],
    )
    document = read(tmp_path / "sea.epub")
    assert document.title == "The sea"
    assert place_texts(document) == {
        "tides": "Tides\nThe moon pulls.",
        "whales": "Whales",
        "songs": "Songs\nThey sing.",
    }


def test_the_text_of_a_document_is_limited_not_its_size(tmp_path: Path) -> None:
    write_pdf(tmp_path / "long.pdf", [f"Page about animal {number}" for number in range(100)])
    document = read(tmp_path / "long.pdf", max_chars=1_000)
    assert len(document.text) < 1_200
    assert 1_000 < document.omitted_chars < 6_000
    assert (tmp_path / "long.pdf").stat().st_size > 1_000
