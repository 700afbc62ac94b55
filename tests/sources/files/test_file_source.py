"""The files of a folder as a source of documents."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest
from sample import make_repository, write

from rootle.sources.files.discovery import WalkRules
from rootle.sources.files.file_source import FileSource, read_listed_file
from rootle.sources.source import Document, Source

RULES = WalkRules()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repository", {"src/a.py": "a = 1\n", "b.md": "# B\n"})


def test_files_are_listed_by_their_path(root: Path) -> None:
    source: Source = FileSource(root, RULES)
    scan = source.scan()
    assert [entry.uri for entry in scan.documents] == ["b.md", "src/a.py"]
    assert scan.is_complete
    assert source.scan("any token") == scan
    assert (source.name, source.trust) == ("files", "project")


def test_given_files_are_looked_up(root: Path) -> None:
    scan = FileSource(root, RULES).look_up(["b.md", "gone.md"])
    assert scan is not None
    assert [entry.uri for entry in scan.documents] == ["b.md"]
    assert scan.removed == ("gone.md",)
    assert not scan.is_complete


def test_a_reader_works_in_another_process(root: Path) -> None:
    reader = pickle.loads(pickle.dumps(FileSource(root, RULES).reader()))
    document = reader.read("src/a.py")
    assert isinstance(document, Document)
    assert (document.uri, document.text) == ("src/a.py", "a = 1\n")
    assert (document.language, document.encoding, document.kind) == ("python", "utf-8", "file")
    assert (document.sections, document.date_s, document.title) == ((), None, "")
    assert reader.read("gone.py") == "vanished"


def test_a_file_is_readable_if_its_permissions_allow_it(root: Path) -> None:
    source = FileSource(root, RULES)
    assert source.is_readable("b.md")
    assert not source.is_readable("gone.md")


def test_a_listed_file_is_read_and_others_are_not(root: Path) -> None:
    write(root, ".gitignore", "ignored.py\n")
    write(root, "ignored.py", "x = 1\n")
    write(root, "logo.png", b"\x89PNG")
    (root / "link.md").symlink_to("b.md")
    listed = read_listed_file(root, "b.md", RULES)
    assert isinstance(listed, Document)
    assert listed.text == "# B\n"
    assert read_listed_file(root, "ignored.py", RULES) is None
    assert read_listed_file(root, "gone.py", RULES) is None
    assert read_listed_file(root, os.path.join("..", "secret"), RULES) is None
    assert read_listed_file(root, "logo.png", RULES) == "binary"
    assert read_listed_file(root, "link.md", RULES) == "symlink"


def test_a_folder_that_a_link_replaces_after_the_scan_is_not_read(
    root: Path, tmp_path: Path
) -> None:
    write(tmp_path / "outside", "a.py", "private = 1\n")
    source = FileSource(root, RULES)
    assert "src/a.py" in [entry.uri for entry in source.scan().documents]
    (root / "src").rename(root / "moved")
    (root / "src").symlink_to(tmp_path / "outside")

    assert source.reader().read("src/a.py") == "symlink"
