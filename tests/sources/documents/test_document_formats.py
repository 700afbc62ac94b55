"""The text and the places that are read from documents of each format."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from datetime import date, datetime
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


@pytest.mark.slow
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


def test_equal_headings_are_numbered(tmp_path: Path) -> None:
    heading = "Example of a very long heading, with more than sixty characters in all"
    chapter = "".join(f"<h1>Example</h1><p>a {n}</p><h1>{heading}</h1><p>b</p>" for n in range(12))
    write_book(tmp_path / "a.epub", [chapter])
    labels = [section.label for section in read(tmp_path / "a.epub").sections]
    assert labels[::2] == ["example", *(f"example-{number}" for number in range(2, 13))]
    assert len(set(labels)) == 24
    assert max(map(len, labels)) <= 60


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


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_large_sheet_is_described_by_its_shape_and_first_rows(tmp_path: Path) -> None:
    write_workbook(tmp_path / "costs.xlsx", rows=3_000)
    document = read(tmp_path / "costs.xlsx")
    assert document.text.startswith("Costs: 3,001 rows, 3 columns")
    assert "north900 " in document.text
    assert "north2000 " not in document.text
    assert document.omitted_chars > len(document.text)


@pytest.mark.slow
def test_a_pdf_has_a_place_for_each_page_with_text(tmp_path: Path) -> None:
    write_pdf(tmp_path / "notes.pdf", ["The walrus sleeps", "", "The otter swims"])
    document = read(tmp_path / "notes.pdf")
    assert document.title == "Field notes"
    assert place_texts(document) == {
        "page-1": "Chapter 1\nThe walrus sleeps",
        "page-3": "Chapter 3\nThe otter swims",
    }


def test_forms_and_comments_of_a_pdf_are_read(tmp_path: Path) -> None:
    from reportlab.pdfgen import canvas

    drawing = canvas.Canvas(str(tmp_path / "form.pdf"))
    drawing.drawString(100, 700, "Application")
    form = drawing.acroForm
    form.textfield(name="applicant", tooltip="Name of the applicant", value="Ottoline", x=9, y=9)
    form.choice(name="color", value="mauve", options=["mauve", "beige"], x=9, y=99)
    form.checkbox(name="agree", checked=True, x=9, y=199)
    form.checkbox(name="refuse", x=9, y=299)
    form.textfield(name="pin", value="1234", fieldFlags="password", x=9, y=399)
    form.textfield(name="empty", x=9, y=499)
    box = (50, 550, 200, 650)
    drawing.textAnnotation("Ask the\nguanaco", box)
    drawing.freeTextAnnotation("Approved by the llama", "/Helv 12 Tf 0 g", box)
    drawing.linkURL("https://example.org", box)
    drawing.save()
    assert read(tmp_path / "form.pdf").text.split("\n")[:-1] == [
        *("Application", "Name of the applicant: Ottoline", "color: mauve", "agree: Yes"),
        *("[comment: Ask the guanaco]", "Approved by the llama"),
    ]


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


def test_each_output_of_a_cell_is_cut_separately(tmp_path: Path) -> None:
    log = "".join(f"line {number}\n" for number in range(35))
    result = {"output_type": "execute_result", "data": {"text/plain": ["The result is 42"]}}
    data = {"text/plain": "<IPython.core.display.Markdown object>", "text/markdown": ["**jackal**"]}
    shown = {"output_type": "display_data", "data": data}
    prints = [print_output(log[:99]), print_output(log[99:])]
    write_notebook(tmp_path / "log.ipynb", [code_cell("train()", *prints, result, shown)])
    lines = read(tmp_path / "log.ipynb").text.rstrip("\n").split("\n")
    assert lines[:2] == ["train()", "# Output:"]
    assert lines[-4:] == ["# line 28", "# line 29", "# The result is 42", "# **jackal**"]
    assert len(lines) == 2 + 30 + 2


def test_lines_of_code_are_not_taken_for_magics(tmp_path: Path) -> None:
    code = (
        'text = ("total %s of %s"\n       % (total, amount))\nsame = (a\n  != b)\n'
        "def summarize(rows):\n    return rows  # why?\n"
    )
    magics = ["%timeit f()", "  !ls", "?len", "len?", "obj.name??", "%matplotlib?"]
    write_notebook(tmp_path / "x.ipynb", [code_cell(code), code_cell("\n".join(magics))])
    texts = place_texts(read(tmp_path / "x.ipynb"))
    assert texts["cell-1"] == code.rstrip("\n")
    assert texts["cell-2"].split("\n") == [f"# {line}" for line in magics]
    write_notebook(tmp_path / "r.ipynb", [code_cell("x <- (a\n%in% b)\n%>% c")], "r")
    assert read(tmp_path / "r.ipynb").text == "x <- (a\n%in% b)\n%>% c\n"


def test_a_comment_in_a_block_of_code_is_not_a_heading_of_a_notebook(tmp_path: Path) -> None:
    text = "# Study\n```bash\n# comment\n```\n~~~\n# nor this\n```\n~~~\n## Part"
    write_notebook(tmp_path / "x.ipynb", [markdown_cell(text)])
    assert [section.title for section in read(tmp_path / "x.ipynb").sections] == ["Study > Part"]


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


ROWS = [("Host", "Owner", "Standby", "Port"), ("db1", "", "Mia", "5432"), ("", "Tom", "", "")]
ROWS_TEXT = ["Host | Owner | Standby | Port", "db1 |  | Mia | 5432", "| Tom"]


def test_an_empty_cell_keeps_its_column_in_a_workbook(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for row in ROWS:
        book.active.append([cell or None for cell in row])
    book.save(tmp_path / "hosts.xlsx")
    (text,) = place_texts(read(tmp_path / "hosts.xlsx")).values()
    assert text.split("\n")[1:] == ROWS_TEXT


def test_a_value_after_many_empty_cells_names_its_column(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append([f"c{number}" for number in range(60)])
    book.active.append(["a", *[None] * 50, "far", None, "near"])
    book.save(tmp_path / "wide.xlsx")
    (text,) = place_texts(read(tmp_path / "wide.xlsx")).values()
    assert text.split("\n")[2] == "a | … | AZ: far |  | near"


def test_an_empty_cell_keeps_its_column_in_a_word_document(tmp_path: Path) -> None:
    import docx

    document = docx.Document()
    table = document.add_table(4, 4)
    for row, cells in enumerate([*ROWS, ("x", "one\ntwo", "", "y")]):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    table.cell(3, 1).add_paragraph("three")
    table.cell(3, 1).merge(table.cell(3, 2))
    document.save(str(tmp_path / "a.docx"))
    lines = read(tmp_path / "a.docx").text.split("\n")[:4]
    assert lines == [*ROWS_TEXT[:2], "| Tom |  |", "x | one two three |  | y"]


def test_an_empty_cell_keeps_its_column_on_a_slide(tmp_path: Path) -> None:
    import pptx

    deck = pptx.Presentation()
    shapes = deck.slides.add_slide(deck.slide_layouts[6]).shapes
    table = shapes.add_table(4, 4, 0, 0, 100, 100).table
    for row, cells in enumerate([*ROWS, ("Al\nJr", "77", "", "6")]):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    deck.save(str(tmp_path / "a.pptx"))
    assert place_texts(read(tmp_path / "a.pptx"))["slide-1"].split("\n") == [
        *ROWS_TEXT[:2],
        "| Tom |  |",
        "Al Jr | 77 |  | 6",
    ]


def odf_table(rows: Sequence[tuple[str, ...]]) -> str:
    lines = ("".join(odf_cell(cell) for cell in row) for row in rows)
    found = "".join(f"<table:table-row>{line}</table:table-row>" for line in lines)
    return f'<table:table table:name="Hosts">{found}</table:table>'


def odf_cell(text: str) -> str:
    return f"<table:table-cell><text:p>{text}</text:p></table:table-cell>" if text else EMPTY


EMPTY = "<table:table-cell/>"


def test_an_empty_cell_keeps_its_column_in_opendocument_files(tmp_path: Path) -> None:
    write_odf(tmp_path / "a.ods", f"<office:spreadsheet>{odf_table(ROWS)}</office:spreadsheet>")
    (text,) = place_texts(read(tmp_path / "a.ods")).values()
    assert text.split("\n")[1:] == ROWS_TEXT
    covered = odf_table(ROWS).replace(EMPTY, "<table:covered-table-cell/>", 1)
    padded = covered.replace(EMPTY * 2, EMPTY.replace("/", ' table:number-columns-repeated="2"/'))
    write_odf(tmp_path / "a.odt", f"<office:text>{padded}</office:text>")
    assert read(tmp_path / "a.odt").text.split("\n")[:3] == [*ROWS_TEXT[:2], "| Tom |  |"]
    frame = f"<draw:page><draw:frame>{odf_table(ROWS)}</draw:frame></draw:page>"
    write_odf(tmp_path / "a.odp", f"<office:presentation>{frame}</office:presentation>")
    texts = place_texts(read(tmp_path / "a.odp"))
    assert texts["slide-1"].split("\n") == [*ROWS_TEXT[:2], "| Tom |  |"]


def test_an_empty_cell_keeps_its_column_in_html(tmp_path: Path) -> None:
    rows = ("".join(f"<td><p>{cell}</p></td>\n" for cell in row) for row in ROWS)
    table = "".join(f"<tr>\n{row}</tr>\n" for row in rows)
    write_mail(tmp_path / "a.eml", f"<table>\n{table}</table><p>Bye | now</p>")
    lines = read(tmp_path / "a.eml").text.split("\n")
    assert lines[lines.index("") + 1 :][:4] == [
        "Host | Owner | Standby | Port",
        "db1 | | Mia | 5432",
        "| Tom | |",
        "Bye | now",
    ]


def test_dates_of_a_workbook_that_counts_from_1904_are_right(tmp_path: Path) -> None:
    import openpyxl
    from openpyxl.utils.datetime import CALENDAR_MAC_1904

    book = openpyxl.Workbook()
    book.epoch = CALENDAR_MAC_1904
    book.active.append(["Launch", date(2024, 3, 31), datetime(2024, 3, 31, 8, 30)])
    book.save(tmp_path / "mac.xlsx")
    assert "Launch | 2024-03-31 | 2024-03-31 08:30" in read(tmp_path / "mac.xlsx").text


def test_durations_and_times_of_a_workbook_are_not_dates(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    values = [
        (1.5 + 20 / 1440, "[hh]:mm:ss"),
        (1.5 + 20 / 1440, '"took" [h]:mm;@'),
        (90 / 1440 + 5 / 86400, "[mm]:ss"),
        (2.25, "h:mm AM/PM"),
        (45382, "[$-409]d\\-mmm;@"),
        (59, "yyyy-mm-dd"),
        (61, "yyyy-mm-dd"),
        (7, "[Red]0"),
    ]
    for column, (value, number_format) in enumerate(values, start=1):
        cell = book.active.cell(1, column, value)
        cell.number_format = number_format
    book.save(tmp_path / "a.xlsx")
    shown = read(tmp_path / "a.xlsx").text.split("\n")[1].split(" | ")
    assert shown == [
        *("36:20", "36:20", "1:30:05", "06:00"),
        *("2024-03-31", "1900-02-28", "1900-03-01", "7"),
    ]


def test_comments_on_cells_are_read_with_their_cells(tmp_path: Path) -> None:
    import openpyxl
    from openpyxl.comments import Comment

    book = openpyxl.Workbook()
    book.active.append(["Name", "Phone"])
    book.active.append(["Roberta", None])
    book.active["A2"].comment = Comment("Ask the\nocelot", "Me")
    book.active["B2"].comment = Comment("unlisted", "Me")
    book.save(tmp_path / "a.xlsx")
    assert (
        "Roberta [comment: Ask the ocelot] | [comment: unlisted]" in read(tmp_path / "a.xlsx").text
    )
    note = (
        "<office:annotation><dc:creator xmlns:dc='d'>Zoe</dc:creator><text:p>Ask the ocelot"
        "</text:p></office:annotation>"
    )
    cell = odf_cell("Roberta").replace("<text:p>", f"{note}<text:p>")
    row = f"<table:table-row>{cell}{odf_cell('5')}</table:table-row>"
    table = f'<table:table table:name="A">{row}</table:table>'
    write_odf(tmp_path / "a.ods", f"<office:spreadsheet>{table}</office:spreadsheet>")
    assert read(tmp_path / "a.ods").text.split("\n")[1] == ("Roberta [comment: Ask the ocelot] | 5")


def test_notes_and_comments_follow_their_paragraph(tmp_path: Path) -> None:
    note = (
        '<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation>'
        "<text:note-body><text:p>See the heron memo.</text:p></text:note-body></text:note>"
    )
    comment = (
        "<office:annotation><dc:creator xmlns:dc='d'>Zoe</dc:creator><text:p>rename this?"
        "</text:p></office:annotation>"
    )
    write_odf(
        tmp_path / "runbook.odt",
        f'<office:text><text:h text:outline-level="1">Rollback {note}procedure</text:h>'
        f"<text:p>Stop it.</text:p><text:h>{comment}Disaster recovery</text:h>"
        f"<text:p>The condor deadline{note} is in April.</text:p></office:text>",
    )
    assert place_texts(read(tmp_path / "runbook.odt")) == {
        "rollback-procedure": "Rollback procedure\nSee the heron memo.\nStop it.",
        "disaster-recovery": (
            "Disaster recovery\nrename this?\nThe condor deadline is in April.\nSee the heron memo."
        ),
    }


def test_a_heading_with_a_text_box_stays_a_heading(tmp_path: Path) -> None:
    import docx
    from docx.oxml import parse_xml
    from docx.oxml.ns import nsdecls

    document = docx.Document()
    heading = document.add_heading("Open questions", 1)
    inner = "<w:p><w:r><w:t>Side</w:t></w:r></w:p>"
    box = f"<w:r {nsdecls('w')}><w:txbxContent>{inner}</w:txbxContent></w:r>"
    heading._p.append(parse_xml(box))
    document.add_paragraph("Who pays?")
    document.save(str(tmp_path / "a.docx"))
    assert place_texts(read(tmp_path / "a.docx")) == {
        "open-questions": "Open questions\nSide\nWho pays?"
    }


def test_hyphens_headers_and_footers_of_a_word_document_are_read(tmp_path: Path) -> None:
    import docx
    from docx.oxml import OxmlElement

    document = docx.Document()
    paragraph = document.add_paragraph("The COVID")
    paragraph.add_run()._r.append(OxmlElement("w:noBreakHyphen"))
    paragraph.add_run("19 protocol")
    section = document.sections[0]
    section.header.paragraphs[0].text = "Confidential"
    section.footer.paragraphs[0].text = "Imprint"
    section.different_first_page_header_footer = True
    section.first_page_header.paragraphs[0].text = "Confidential"
    document.save(str(tmp_path / "a.docx"))
    found = read(tmp_path / "a.docx")
    assert "The COVID-19 protocol" in found.text
    assert sorted(place_texts(found)["headers-and-footers"].split("\n")) == [
        *("Confidential", "Headers and footers", "Imprint")
    ]


def test_the_charts_of_a_slide_are_read(tmp_path: Path) -> None:
    import pptx
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE

    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Overview"
    data = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = ["Tokyo gateway", "Oslo gateway", "Bern gateway"]
    data.add_series("Latency", (1, None, 2.5))  # type: ignore[no-untyped-call]
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 9, 9, data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Latency by gateway"
    slide.notes_slide.notes_text_frame.text = "Explain"
    deck.save(str(tmp_path / "a.pptx"))
    assert place_texts(read(tmp_path / "a.pptx"))["slide-1"].split("\n") == [
        "Overview",
        "Latency by gateway",
        "Latency | Tokyo gateway: 1 | Oslo gateway | Bern gateway: 2.5",
        "Notes:",
        "Explain",
    ]


def test_a_line_break_does_not_divide_a_heading_of_a_book(tmp_path: Path) -> None:
    chapter = "<h1>Chapter 1<br/>Interrupts</h1><p>One<br/>two</p><pre>a\n<br/>  b</pre>"
    write_book(tmp_path / "a.epub", [f"<html><body>{chapter}</body></html>"])
    assert place_texts(read(tmp_path / "a.epub")) == {
        "chapter-1-interrupts": "Chapter 1 Interrupts\nOne\ntwo\na\n\n  b"
    }


def mail_with_parts(kind: str, *parts: str) -> bytes:
    body = "".join(f"--B\n{part}\n" for part in parts)
    head = f'From: Ann <ann@example.org>\nContent-Type: multipart/{kind}; boundary="B"\n\n'
    return f"{head}{body}--B--\n".encode()


@pytest.mark.parametrize(
    ("mail", "expected"),
    [
        (
            mail_with_parts(
                "mixed",
                "Content-Type: text/plain\n\nThe badger.",
                'Content-Type: image/png; name="shot.png"\nContent-Disposition: inline\n\niVBO',
                "Content-Type: text/plain\n\nThe weasel.",
                'Content-Type: text/plain; name="a.txt"\n\nin a file',
            ),
            ["The badger.", "", "The weasel.", "Attachment: shot.png", "Attachment: a.txt"],
        ),
        (
            mail_with_parts(
                "alternative",
                "Content-Type: text/plain\n\n \n",
                "Content-Type: text/html\n\n<p>The stoat</p>",
            ),
            ["The stoat"],
        ),
        (
            mail_with_parts(
                "alternative",
                "Content-Type: text/html\n\n<p>rich</p>",
                "Content-Type: text/plain\n\nplain",
            ),
            ["plain"],
        ),
        (
            mail_with_parts(
                "related",
                "Content-Type: text/html\n\n<p>The mink</p>",
                "Content-Type: text/plain\n\nstyles",
            ),
            ["The mink"],
        ),
        (
            "From: Ann\nContent-Type: text/plain; charset=unknown-8bit\n"
            "Content-Transfer-Encoding: 8bit\n\nThe ferret é".encode(),
            ["The ferret é"],
        ),
        (b"From: Ann\nContent-Type: text/plain; charset=x-none\n\nThe \xe9gret", ["The égret"]),
        ("From: Ann\nSubject: Größe\n\nThe Körper".encode(), ["", "The Körper"]),
        ("From: Ann\n\nThe Körper".encode("latin-1"), ["The Körper"]),
        (
            "From: Ann\nContent-Type: text/plain; charset=us-ascii\n\nThe ñandú".encode(),
            ["The ñandú"],
        ),
        (b"From: Ann\nContent-Type: text/plain; charset=base64\n\nThe ibex", ["The ibex"]),
        (b"From: Ann\nContent-Type: text/plain; charset=punycode\n\nThe ibex-1", ["The ibex-1"]),
        (
            b"From: Ann\nContent-Type: text/plain; charset=unicode_escape\n\nThe \\x41",
            ["The \\x41"],
        ),
    ],
)
def test_all_texts_of_a_message_are_read(tmp_path: Path, mail: bytes, expected: list[str]) -> None:
    (tmp_path / "a.eml").write_bytes(mail)
    assert read(tmp_path / "a.eml").text.rstrip("\n").split("\n")[2:] == expected


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


def write_lines(path: Path, *pages: Sequence[str]) -> None:
    from reportlab.pdfgen import canvas

    drawing = canvas.Canvas(str(path))
    for lines in pages:
        for number, line in enumerate(lines):
            drawing.drawString(50, 780 - 14 * number, line)
        drawing.showPage()
    drawing.save()


def test_words_that_are_split_at_the_ends_of_lines_are_joined(tmp_path: Path) -> None:
    write_lines(
        tmp_path / "a.pdf",
        [
            *("The configu-", "ration of the state-of-", "the-art engine, a retry-"),
            *("limit, the GPU-", "based part of the cus-", "tomer and an add-", "on. Up to 10-"),
            *("20 of the re-", "creation rooms."),
        ],
        ["A retry-limit is a limit. Recreation helps."],
    )
    assert place_texts(read(tmp_path / "a.pdf")) == {
        "page-1": (
            "The configuration\nof the state-of-the-art\nengine, a retry-limit,\nthe GPU-based\n"
            "part of the customer\nand an addon.\nUp to 10-\n20 of the recreation\nrooms."
        ),
        "page-2": "A retry-limit is a limit. Recreation helps.",
    }


def row_of_numbers(path: Path, *cells: tuple[float, str]) -> list[str]:
    import openpyxl

    book = openpyxl.Workbook()
    for column, (value, number_format) in enumerate(cells, start=1):
        book.active.cell(1, column, value).number_format = number_format
    book.save(path)
    return read(path).text.split("\n")[1].split(" | ")


def test_long_numbers_of_a_workbook_are_not_rounded(tmp_path: Path) -> None:
    cells = [
        *((4006381333931, "0"), (98765432101.55, "#,##0.00"), (1718000000123, "General")),
        *((0.1 + 0.2, "General"), (148.5, "0.0")),
    ]
    assert row_of_numbers(tmp_path / "a.xlsx", *cells) == [
        *("4006381333931", "98765432101.55", "1718000000123", "0.3", "148.5")
    ]


def test_padding_in_a_number_format_does_not_make_a_date(tmp_path: Path) -> None:
    cells = [
        *((1234.5, "#,##0.00\\ _D_M"), (1500, "_-* #,##0\\ _P_t_s_-"), (7, "0*d")),
        (45382, "_-yyyy\\-mm\\-dd_-"),
    ]
    assert row_of_numbers(tmp_path / "a.xlsx", *cells) == ["1234.5", "1500", "7", "2024-03-31"]


def replace_in_zip(path: Path, old: str, new: str, **added: str) -> None:
    """Replace text in all parts of a zip file, and add parts."""
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name).decode() for name in file.namelist()}
    with zipfile.ZipFile(path, "w") as file:
        for name, content in (parts | added).items():
            file.writestr(name, content.replace(old, new))


def test_the_reading_of_a_japanese_word_is_not_part_of_its_text(tmp_path: Path) -> None:
    import docx
    import openpyxl
    from docx.oxml import parse_xml
    from docx.oxml.ns import nsdecls

    book = openpyxl.Workbook()
    book.active.append(["here", "other"])
    book.save(tmp_path / "a.xlsx")
    text = "<t>東京</t><rPh sb='0' eb='2'><t>トウキョウ</t></rPh>"
    replace_in_zip(tmp_path / "a.xlsx", "<t>here</t>", text)
    assert read(tmp_path / "a.xlsx").text.split("\n")[1] == "東京 | other"
    relation = "<Relationship Type='x/sharedStrings' Target='shared.xml' Id='s'/></Relationships>"
    replace_in_zip(tmp_path / "a.xlsx", "</Relationships>", relation)
    cell = f't="inlineStr"><is>{text}</is>'
    shared = {"xl/shared.xml": f"<sst><si>{text}</si></sst>"}
    replace_in_zip(tmp_path / "a.xlsx", cell, 't="s"><v>0</v>', **shared)
    assert read(tmp_path / "a.xlsx").text.split("\n")[1] == "東京 | other"

    document = docx.Document()
    reading, base = "<w:r><w:t>とう</w:t></w:r>", "<w:r><w:t>東</w:t></w:r>"
    ruby = f"<w:ruby><w:rt>{reading}</w:rt><w:rubyBase>{base}</w:rubyBase></w:ruby>"
    document.add_paragraph()._p.append(parse_xml(f"<w:r {nsdecls('w')}>{ruby}<w:t>京</w:t></w:r>"))
    document.save(str(tmp_path / "a.docx"))
    assert read(tmp_path / "a.docx").text == "東京\n"

    ruby = "<text:ruby-base>東</text:ruby-base><text:ruby-text>とう</text:ruby-text>"
    body = f"<office:text><text:p><text:ruby>{ruby}</text:ruby>京</text:p></office:text>"
    write_odf(tmp_path / "a.odt", body)
    assert read(tmp_path / "a.odt").text == "東京\n"

    ruby = "<ruby>東<rp>(</rp><rt>とう</rt><rp>)</rp></ruby>京<ruby>都<rt>と</ruby>へ"
    write_book(tmp_path / "a.epub", [f"<html><body><p>{ruby}</p><p>The end</p></body></html>"])
    assert read(tmp_path / "a.epub").text == "東京都へ\nThe end\n"


def test_moved_text_of_a_word_document_is_read_at_its_new_place_only(tmp_path: Path) -> None:
    import docx
    from docx.oxml import parse_xml
    from docx.oxml.ns import nsdecls

    document = docx.Document()
    for tag, text in (("moveFrom", "Old clause"), ("moveTo", "Moved clause")):
        paragraph = document.add_paragraph("Kept. ")._p
        run = f"<w:r><w:t>{text}</w:t></w:r>"
        paragraph.append(parse_xml(f"<w:{tag} {nsdecls('w')} w:id='1'>{run}</w:{tag}>"))
    document.save(str(tmp_path / "a.docx"))
    assert read(tmp_path / "a.docx").text.split("\n")[:2] == ["Kept.", "Kept. Moved clause"]
