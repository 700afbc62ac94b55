"""Sections of manual pages, transcripts and tables."""

from __future__ import annotations

from pathlib import Path

from rootle.sources.files.discovery import WalkRules
from rootle.sources.files.file_source import FileReader, read_listed_file
from rootle.sources.source import Document

VTT = """\
WEBVTT

1
00:00:01.000 --> 00:00:04.000
<v Ada>Welcome to the <b>harbour</b></v>

00:00:05.000 --> 00:00:06.000
Welcome to the harbour

00:01:02.500 --> 00:01:04.000 align:start
<v Bob>The submarine
leaves</v>

01:00:00.000 --> 01:00:01.000
The end
"""
SRT = """\
1
00:00:01,000 --> 00:00:02,000
Hello

2
00:01:00,000 --> 00:01:01,000
Bye
""".replace("\n", "\r\n")
MANUAL = """\
.\\" A comment
.TH WHALE 1
.SH NAME
whale \\- counts whales
.SH "EXIT STATUS"
0 on success
"""


def read(folder: Path, name: str, text: str) -> Document:
    (folder / name).write_bytes(text.encode())
    found = FileReader(str(folder), WalkRules()).read(name)
    assert isinstance(found, Document)
    return found


def places(document: Document) -> list[tuple[str, str, str]]:
    lines = document.text.split("\n")
    return [
        (s.label, s.title, "\n".join(lines[s.start_line - 1 : s.end_line]))
        for s in document.sections
    ]


def test_a_transcript_is_read_by_minute_with_its_speakers(tmp_path: Path) -> None:
    assert places(read(tmp_path, "talk.vtt", VTT)) == [
        (
            "minute-0",
            "0:00:00",
            "Ada: Welcome to the harbour\nWelcome to the harbour",
        ),
        ("minute-1", "0:01:00", "Bob: The submarine leaves"),
        ("minute-60", "1:00:00", "The end"),
    ]
    assert [place[::2] for place in places(read(tmp_path, "talk.srt", SRT))] == [
        ("minute-0", "Hello"),
        ("minute-1", "Bye"),
    ]


def test_each_speaker_in_a_cue_has_a_line(tmp_path: Path) -> None:
    text = (
        "WEBVTT\n\n00:00:01.000 --> 00:00:04.000\nNoise <v.loud Ann &amp; Al>We ship R&amp;D</v> "
        "<v Bob>No, <i>never</i>\nship List&lt;Order&gt;.</v> (door) AT&T &copy2\n\n"
        "00:00:05.000 --> 00:00:06.000\n<v Ann>Well<v Bob>Never\n"
    )
    assert places(read(tmp_path, "talk.vtt", text))[0][2].split("\n") == [
        "Noise",
        "Ann & Al: We ship R&D",
        "Bob: No, never ship List<Order>.",
        "(door) AT&T &copy2",
        "Ann: Well",
        "Bob: Never",
    ]


def test_a_file_named_like_a_transcript_is_text(tmp_path: Path) -> None:
    document = read(tmp_path, "notes.srt", "just a note\n")
    assert (document.text, document.sections) == ("just a note\n", ())


def test_a_manual_page_has_its_sections_and_keeps_its_lines(tmp_path: Path) -> None:
    document = read(tmp_path, "whale.1", MANUAL)
    assert document.text == MANUAL
    assert [place[:2] for place in places(document)] == [
        ("NAME", "NAME"),
        ("EXIT STATUS", "EXIT STATUS"),
    ]
    assert places(document)[1][2] == '.SH "EXIT STATUS"\n0 on success'
    assert read(tmp_path, "server.log.1", "a line\n.SH is a macro\n").sections == ()


def test_a_manual_page_without_headings_is_text(tmp_path: Path) -> None:
    text = ".TH WHALE 1\n.so man1/dolphin.1\n"
    document = read(tmp_path, "whale.1", text)
    assert (document.text, document.sections) == (text, ())


def test_a_small_table_is_indexed_in_full_with_its_shape(tmp_path: Path) -> None:
    text = "region,amount\nnorth,1\nsouth,2\n"
    document = read(tmp_path, "costs.csv", text)
    assert (document.text, document.encoding, document.omitted_chars) == (text, "utf-8", 0)
    assert places(document) == [("rows", "3 lines: region,amount", text.rstrip("\n"))]


def test_only_the_first_rows_of_a_large_table_are_indexed(tmp_path: Path) -> None:
    text = "region,amount\n" + "".join(f"north{n},{n}\n" for n in range(200_000))
    document = read(tmp_path, "costs.csv", text)
    assert len(document.text) <= 200_000
    assert text.startswith(document.text)
    assert document.text.endswith("\n")
    assert len(document.text) + document.omitted_chars == len(text)
    assert document.sections[0].title == "200,001 lines: region,amount"
    shown = read_listed_file(tmp_path, "costs.csv", WalkRules())
    assert isinstance(shown, Document)
    assert shown.text == text
