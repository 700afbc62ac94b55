"""`rootle search --image`, and images and diagrams in `rootle status`."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from command import rootle
from diagram_files import draw_lines, require_tesseract
from sample import MakeApp, write_tree

from rootle.errors import QueryError
from rootle.sources.documents import recognition

pytestmark = pytest.mark.slow  # Tesseract reads pictures

FILES = {
    "src/upload.py": (
        "class QuotaExceededError(Exception):\n    pass\n\n\ndef check(size, quota):\n"
        '    if size > quota:\n        raise QuotaExceededError(f"upload quota of {quota} MB")\n'
    ),
    "src/login.py": "def check_password(name):\n    raise PermissionError(name)\n",
}
DIALOG = ["Something went wrong", "QuotaExceededError: upload quota of 50 MB", "Try again"]


def test_a_screenshot_of_an_error_finds_its_code(tmp_path: Path) -> None:
    require_tesseract()
    root = write_tree(tmp_path / "project", FILES)
    picture = draw_lines(tmp_path / "dialog.png", DIALOG)
    index = tmp_path / "index"
    outcome = rootle("search", "--root", root, "--index-dir", index, "--image", picture, "--json")
    assert outcome.code == 0
    assert outcome.paths[0] == "src/upload.py"
    assert "words in the image: QuotaExceededError upload quota" in outcome.err


def test_a_file_that_is_no_image_is_named(tmp_path: Path) -> None:
    require_tesseract()
    root = write_tree(tmp_path / "project", FILES)
    index = tmp_path / "index"
    outcome = rootle("search", "--root", root, "--index-dir", index, "--image", root / "none.png")
    assert outcome.code == 2
    assert "none.png is not a file: name an image" in outcome.err


def test_an_image_without_indexed_words_is_refused(make_app: MakeApp, tmp_path: Path) -> None:
    require_tesseract()
    app = make_app(write_tree(tmp_path / "project", FILES))
    picture = draw_lines(tmp_path / "other.png", ["Zeppelin hangar"])
    with pytest.raises(QueryError, match="none of the words in the image is indexed"):
        app.search_image(picture)


def test_images_are_indexed_if_requested_and_the_cache_is_cleared(
    make_app: MakeApp, tmp_path: Path
) -> None:
    require_tesseract()
    root = write_tree(tmp_path / "project", FILES)
    draw_lines(root / "docs/board.png", ["Upload queue", "nightly cleanup"])
    app = make_app(root, ocr="docs")
    found = app.search("when is the nightly cleanup").results[0]
    assert (found.file_path, found.place, found.kind) == ("docs/board.png", "image", "docs")
    assert app.search_image(root / "docs/board.png").results[0].file_path == "docs/board.png"
    cache = app.index_dir / "images"
    assert stat.S_IMODE(os.stat(cache).st_mode) == 0o700
    assert len(list(cache.iterdir())) == 1
    assert app.clear()
    assert not app.index_dir.exists()


def test_a_missing_program_is_named_only_if_images_are_requested(
    make_app: MakeApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recognition, "find_tesseract", lambda: None)
    root = write_tree(tmp_path / "project", FILES)
    for name in ("a", "b"):
        draw_lines(root / f"docs/{name}.png", ["Nightly cleanup"])
    without = make_app(root, index_dir=tmp_path / "without")
    assert not any("tesseract" in note for note in without.search("zeppelin").suggestions)
    app = make_app(root, index_dir=tmp_path / "with", ocr="docs")
    note = "2 images not read: install tesseract-ocr"
    assert note in app.search("zeppelin").suggestions
    assert app.status().skipped["needs tesseract-ocr"] == 2
