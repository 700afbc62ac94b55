"""The text that is recognized in images, and its cache."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from diagram_files import draw_lines, png_with_text, require_tesseract

from rootle.errors import QueryError
from rootle.sources.documents import recognition
from rootle.sources.documents.recognition import reason_not_recognized
from rootle.sources.documents.screenshot import read_screenshot
from rootle.sources.files.discovery import WalkRules, walk_files
from rootle.sources.files.file_source import FileReader
from rootle.sources.files.skip_rules import BINARY, DAMAGED, IMAGE_WITHOUT_TEXT, TOO_LARGE
from rootle.sources.source import Document
from rootle.types import NEEDS_OCR

pytestmark = pytest.mark.slow  # Tesseract takes seconds per image

KEY = "AKIA" + "Q3EGRXK2WNPLJ7HD"  # has the format of an access key of AWS


def rules(folder: Path, mode: str = "all") -> WalkRules:
    return WalkRules(recognize=mode, recognition_dir=str(folder / "cache"))


def read(folder: Path, name: str) -> Document | str:
    return FileReader(str(folder), rules(folder)).read(name)


def hide_tesseract(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognition, "find_tesseract", lambda: None)


def test_a_program_that_is_installed_later_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    now_s = 1_000.0
    monkeypatch.setattr("rootle.sources.documents.recognition.time.monotonic", lambda: now_s)
    assert recognition.find_tesseract() is None
    program = tmp_path / "tesseract"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    now_s += 10.0
    assert recognition.find_tesseract() == str(program)
    program.unlink()
    now_s += 10.0
    assert recognition.find_tesseract() is None


@pytest.mark.parametrize("name", ["a.png", "a.jpg"])
def test_the_words_in_an_image_are_recognized(tmp_path: Path, name: str) -> None:
    require_tesseract()
    draw_lines(tmp_path / name, ["Payment gateway", "authorize card"])
    found = read(tmp_path, name)
    assert isinstance(found, Document)
    assert found.text == "Payment gateway\nauthorize card\n"
    assert found.language == "image"
    assert [section.label for section in found.sections] == ["image"]


def test_an_image_is_recognized_once(tmp_path: Path) -> None:
    require_tesseract()
    draw_lines(tmp_path / "a.png", ["Lighthouse keeper"])
    first = read(tmp_path, "a.png")
    stored = list((tmp_path / "cache").iterdir())
    assert len(stored) == 1
    assert stored[0].stat().st_mode & 0o777 == 0o600
    changed = json.loads(stored[0].read_text())
    stored[0].write_text(json.dumps({**changed, "text": "from the cache\n"}))
    second = read(tmp_path, "a.png")
    assert isinstance(first, Document)
    assert isinstance(second, Document)
    assert (first.text, second.text) == ("Lighthouse keeper\n", "from the cache\n")
    stored[0].write_text('{"text": 1}')
    assert read(tmp_path, "a.png") == first


def test_secrets_are_masked_before_the_text_is_cached(tmp_path: Path) -> None:
    require_tesseract()
    draw_lines(tmp_path / "a.png", [f"aws_access_key_id = {KEY}", "region = north"])
    found = read(tmp_path, "a.png")
    assert isinstance(found, Document)
    assert KEY in found.text.replace(" ", "")
    (stored,) = (tmp_path / "cache").iterdir()
    assert KEY not in stored.read_text()
    assert "region" in stored.read_text()


@pytest.mark.parametrize(
    ("orientation", "stored", "mode"),
    [
        (3, "ROTATE_180", "RGB"),
        (6, "ROTATE_90", "RGB"),
        (6, "ROTATE_90", "L"),
        (8, "ROTATE_270", "L"),
    ],
)
def test_photos_are_turned_upright(
    tmp_path: Path, orientation: int, stored: str, mode: str
) -> None:
    require_tesseract()
    from PIL import Image

    lines = ["Payment gateway", "authorize card"]
    draw_lines(tmp_path / "drawn.png", lines)
    image = Image.open(tmp_path / "drawn.png").convert(mode)
    exif = Image.Exif()
    exif[274] = orientation
    image.transpose(Image.Transpose[stored]).save(tmp_path / "a.jpg", exif=exif)
    found = read(tmp_path, "a.jpg")
    assert isinstance(found, Document)
    assert found.text.split("\n")[:-1] == lines


def test_small_images_and_images_without_words_have_no_text(tmp_path: Path) -> None:
    require_tesseract()
    draw_lines(tmp_path / "icon.png", ["Save"], (120, 60))
    draw_lines(tmp_path / "blank.png", [])
    assert read(tmp_path, "icon.png") == IMAGE_WITHOUT_TEXT
    assert read(tmp_path, "blank.png") == IMAGE_WITHOUT_TEXT


def test_damaged_and_huge_images_are_named(tmp_path: Path) -> None:
    require_tesseract()
    draw_lines(tmp_path / "good.png", ["Walrus"])
    raw = (tmp_path / "good.png").read_bytes()
    (tmp_path / "cut.png").write_bytes(raw[:20])
    (tmp_path / "text.png").write_bytes(b"no image")
    (tmp_path / "cut.jpg").write_bytes(b"\xff\xd8\xff\xe0\x00")
    (tmp_path / "noise.png").write_bytes(raw[:8] + b"\xa7" * 500)
    (tmp_path / "huge.png").write_bytes(raw[:16] + b"\x00\x01\x00\x00" * 2 + raw[24:])
    assert read(tmp_path, "cut.png") == DAMAGED
    assert read(tmp_path, "text.png") == DAMAGED
    assert read(tmp_path, "cut.jpg") == DAMAGED
    assert read(tmp_path, "noise.png") == DAMAGED
    assert read(tmp_path, "huge.png") == TOO_LARGE
    assert isinstance(read(tmp_path, "good.png"), Document)


def test_scanned_pages_of_a_pdf_are_recognized_if_requested(tmp_path: Path) -> None:
    require_tesseract()
    from reportlab.pdfgen import canvas

    scan = draw_lines(tmp_path / "scan.png", ["The harbour mas-", "ter signs the contract"])
    drawing = canvas.Canvas(str(tmp_path / "a.pdf"))
    drawing.drawString(100, 700, "Typed page")
    drawing.showPage()
    drawing.drawImage(str(scan), 50, 400, 500, 187)
    drawing.showPage()
    drawing.save()
    plain = FileReader(str(tmp_path), WalkRules()).read("a.pdf")
    found = read(tmp_path, "a.pdf")
    assert isinstance(plain, Document)
    assert isinstance(found, Document)
    assert plain.text == "Typed page\n"
    assert found.text == "Typed page\n\nThe harbour master\nsigns the contract\n"
    assert [section.label for section in found.sections] == ["page-1", "page-2"]


@pytest.mark.parametrize(
    ("path", "size", "mode", "reason"),
    [
        ("docs/a.png", 5_000, "off", BINARY),
        ("docs/a.png", 5_000, "docs", None),
        ("project/Design/deep/a.jpg", 5_000, "docs", None),
        ("src/icons/a.png", 5_000, "docs", BINARY),
        ("docs.png", 5_000, "docs", BINARY),
        ("src/icons/a.png", 5_000, "all", None),
        ("src/icons/a.png", 300, "all", BINARY),
        ("docs/a.png", 30_000_000, "all", TOO_LARGE),
    ],
)
def test_the_mode_and_the_folder_decide_which_images_are_read(
    path: str, size: int, mode: str, reason: str | None
) -> None:
    require_tesseract()
    assert reason_not_recognized(path, size, mode) == reason


def test_images_are_named_if_tesseract_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide_tesseract(monkeypatch)
    (tmp_path / "a.png").write_bytes(png_with_text(b"tEXt", b"Comment\0x") + bytes(5_000))
    found = {mode: walk_files(tmp_path, rules(tmp_path, mode)).skips for mode in ("off", "all")}
    assert [skip.reason for skip in found["off"]] == [BINARY]
    assert [skip.reason for skip in found["all"]] == [NEEDS_OCR]


def test_a_screenshot_may_have_any_size_and_be_a_link(tmp_path: Path) -> None:
    require_tesseract()
    draw_lines(tmp_path / "small.png", ["Quota"], (110, 60))
    os.symlink(tmp_path / "small.png", tmp_path / "link.png")
    assert read_screenshot(str(tmp_path / "link.png")) == "Quota\n"


def test_a_screenshot_that_cannot_be_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_tesseract()
    draw_lines(tmp_path / "blank.png", [])
    (tmp_path / "text.png").write_text("no image")
    good = draw_lines(tmp_path / "good.png", ["Walrus"])
    # Tesseract would read the image that this list names.
    (tmp_path / "list.txt").write_text(f"{good}\n")
    for name, message in [
        ("missing.png", "is not a file: name an image"),
        ("blank.png", "no text was recognized in"),
        ("text.png", r"text\.png is not an image, or is damaged; PNG, JPEG, .* files are read"),
        ("list.txt", r"list\.txt is not an image, or is damaged; PNG, JPEG, .* files are read"),
    ]:
        with pytest.raises(QueryError, match=message):
            read_screenshot(str(tmp_path / name))
    monkeypatch.setattr("rootle.sources.documents.screenshot.find_tesseract", lambda: None)
    with pytest.raises(QueryError, match="apt-get install tesseract-ocr"):
        read_screenshot(str(tmp_path / "blank.png"))
